package rkw23

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/paper/internal/errata"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

// scatteredRenyi is D_α(M(Z′)‖M(Z)) of the pair of scatteredDelta: the coordinates are independent under Z′, so that
// the moment is that of one to the power d.
func scatteredRenyi(d int, slope, rate, lambda, sigma, alpha float64) float64 {
	moment := measure.Integral(func(theta float64) float64 {
		share := math.Tanh(rate * theta)
		h, curvature := slope*share, slope*rate*(1-share*share)
		loss := math.Log1p(curvature/lambda) - h*(2*lambda*theta+h)/(2*sigma*sigma)
		z := (lambda*theta + h) / sigma
		return 2 * measure.Phi(z) * (lambda + curvature) / sigma * math.Exp((alpha-1)*loss)
	}, 0, 12*sigma/lambda, 20000)
	return float64(d) * math.Log(moment) / (alpha - 1)
}

// conditions are the settings of rkw23-38: λ = 2β/ε and the σ of Theorem 2.8.
func conditions() (L, beta, lambda, sigma float64) {
	const eps, delta = 1.0, 1e-5
	return 1, 1, 2 / eps, math.Sqrt(8*math.Log(2/delta)+4*eps) / eps
}

// Lemma D.3 states no structure of the loss, and no λ > β.
func TestRKW23LemmaD3(t *testing.T) {
	L, beta, lambda, sigma := conditions()
	bound := measure.HalfNormal(-math.Log1p(-beta/lambda), L/sigma, 1)
	at := func(d int) float64 {
		root := math.Sqrt(float64(d))
		return scatteredDelta(d, 0.999*L/root, beta*root/L, lambda, sigma, 1)
	}
	one, many := at(1), at(400)
	if !(one <= bound && many > 10*bound) {
		t.Errorf("δ(1): bound %.3g, exact %.3g for d = 1 and %.3g for d = 400", bound, one, many)
	}
	errata.Quotes(t, "rkw23-63", "%.1e %.4f", bound, many)
	// Without λ > β: at λ = β/2 the logarithm is |log|1 − 2|| = 0 if the sign is dropped. A softplus of width w has
	// curvature β = 1/(4w); one record, λ = β/2.
	const w, ridge, s, eps = 0.25, 0.5, 20.0, 0.3
	slope := func(x float64) float64 { return measure.Sigmoid(x / w) }
	without := measure.Cells(func(theta float64) float64 { return ridge * theta / s }, -400, 400, 400000)
	with := measure.Cells(func(theta float64) float64 { return (ridge*theta + slope(theta)) / s }, -400, 400, 400000)
	exact := math.Max(measure.Stick(with, without, eps), measure.Stick(without, with, eps))
	unsigned := measure.HalfNormal(0, 1/s, eps)
	if !(exact > 10*unsigned) {
		t.Errorf("λ = β/2: δ(%g) = %.3g, without the shift %.3g", eps, exact, unsigned)
	}
	errata.Quotes(t, "rkw23-63", "%.1e", exact, unsigned)
}

// Theorem E.1 states neither; without output noise worth speaking of it is Theorem 3.2.
func TestRKW23TheoremE1(t *testing.T) {
	L, beta, lambda, sigma := conditions()
	const alpha = 8
	a := L / sigma
	// log E e^{s|X|} = s²a²/2 + log 2Φ(sa).
	claimed := -math.Log1p(-beta/lambda) + a*a/2 +
		((alpha-1)*(alpha-1)*a*a/2+math.Log(2*measure.CDF((alpha-1)*a)))/(alpha-1)
	at := func(d int) float64 {
		root := math.Sqrt(float64(d))
		return scatteredRenyi(d, 0.999*L/root, beta*root/L, lambda, sigma, alpha)
	}
	one, many := at(1), at(400)
	if !(one > 0 && one <= claimed && many > 1.1*claimed) {
		t.Errorf("order %d: claimed %.4f, exact %.4f for d = 1 and %.4f for d = 400", alpha, claimed, one, many)
	}
	errata.Quotes(t, "rkw23-64", "%.3f", claimed, one, many)
}

// Appendix F: accelerated descent from θ₀, f − f⋆ against ‖θ₀ − θ⋆‖² without L.
func TestRKW23AcceleratedDescent(t *testing.T) {
	// f = Σ cⱼθⱼ²/2 with curvatures from λ to L, minimum 0 at θ = 0.
	const lambda, smooth, steps = 1.0, 100.0, 40
	curvature := []float64{1, 3, 10, 30, 60, 100}
	worstPrinted, worstRight, first := 0.0, 0.0, 0.0
	theta, before := make([]float64, len(curvature)), make([]float64, len(curvature))
	var start float64
	for j := range theta {
		theta[j], before[j] = 1, 1
		start++
	}
	root := math.Sqrt(lambda / smooth)
	momentum := (1 - root) / (1 + root)
	for step := range steps + 1 {
		var f float64
		for j, c := range curvature {
			f += c * theta[j] * theta[j] / 2
		}
		shrink := math.Pow(1-root, float64(step))
		if step == 0 {
			first = f / start
		}
		worstPrinted = math.Max(worstPrinted, f/(shrink*start))
		worstRight = math.Max(worstRight, f/(shrink*(smooth+lambda)/2*start))
		for j, c := range curvature {
			y := theta[j] + momentum*(theta[j]-before[j])
			before[j], theta[j] = theta[j], y-c*y/smooth
		}
	}
	if !(worstPrinted > 10 && worstRight <= 1) {
		t.Errorf("f − f⋆ is %.3g times the printed bound, %.3g times that with (L + λ)/2", worstPrinted, worstRight)
	}
	errata.Quotes(t, "rkw23-65", "%.1f %.2f", first, worstRight)
}
