package rkw23

import (
	"math"
	"math/cmplx"
	"testing"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/paper/internal/errata"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

// scatteredDelta bounds δ(ε) from below for Z = ∅ and Z′ = {z} with the loss ℓ(θ) = Σᵢ h(θᵢ), h′(t) =
// slope·tanh(β√d·t/L) and slope = 0.999·L/√d. Under Z′ the coordinates are independent, λθᵢ + h′(θᵢ) = −bᵢ, and the
// privacy loss is
//
//	Σᵢ log(1 + h″(θᵢ)/λ) − h′(θᵢ)(2λθᵢ + h′(θᵢ))/(2σ²).
//
// Each summand falls with |θᵢ|, so that its value at the far end of a cell, cut down to the grid, bounds it from below;
// d of them are added by a transform.
func scatteredDelta(d int, slope, rate, lambda, sigma, eps float64) float64 {
	const n, low, high = 1 << 19, -8.0, 24.0
	const width = (high - low) / n
	h := func(t float64) float64 { return slope * math.Tanh(rate*t) }
	law := make([]float64, n)
	at := func(i int) float64 { return math.Sinh(float64(i)*1e-3) / (50 * rate) }
	prev := 0.5
	for i := 1; ; i++ {
		t := at(i)
		p := measure.CDF((lambda*t + h(t)) / sigma)
		share := math.Tanh(rate * t)
		loss := math.Log1p(slope*rate*(1-share*share)/lambda) - h(t)*(2*lambda*t+h(t))/(2*sigma*sigma)
		law[(int(math.Floor(loss/width))+n)%n] += 2 * (p - prev)
		if prev = p; lambda*t > 9*sigma {
			break
		}
	}
	fft := fourier.NewFFT(n)
	coeff := fft.Coefficients(nil, law)
	for i, c := range coeff {
		coeff[i] = cmplx.Pow(c, complex(float64(d), 0))
	}
	fft.Sequence(law, coeff)
	var delta float64
	for i, p := range law {
		s := float64(i) * width
		if s >= high {
			s -= high - low
		}
		if s > eps {
			delta += p / n * -math.Expm1(eps-s)
		}
	}
	return delta
}

// Theorem 2.8 without GLM structure: its λ and σ do not give its δ.
func TestRKW23Theorem28(t *testing.T) {
	testscale.Slow(t)
	const L, beta, eps, delta = 1.0, 1.0, 1.0, 1e-5
	lambda, sigma := 2*beta/eps, L*math.Sqrt(8*math.Log(2/delta)+4*eps)/eps
	at := func(d int) float64 {
		root := math.Sqrt(float64(d))
		return scatteredDelta(d, 0.999*L/root, beta*root/L, lambda, sigma, eps)
	}
	// In one dimension the loss is a GLM, and the theorem holds.
	one, some, many := at(1), at(50), at(400)
	if !(one <= delta && some > 10*delta && many > 1000*delta) {
		t.Errorf("δ(1) of %g is claimed: %.3g for d = 1, %.3g for d = 50, %.3g for d = 400", delta, one, some, many)
	}
	errata.Quotes(t, "rkw23-38", "%.4f %.1e", many, some)
}

// Theorem E.3: three pieces that are smooth each need not be smooth together.
func TestRKW23ClippedSmoothness(t *testing.T) {
	const level, beta = 0.25, 0.25 // logistic loss, C/‖x‖ = 1/4
	// The slope of f to the right of edge, −level to its left.
	slope := func(edge, u float64) float64 {
		if u < edge {
			return -level
		}
		return -measure.Sigmoid(-u)
	}
	quotient := func(edge float64) float64 {
		var worst float64
		for u := edge - 3; u < edge+3; u += 0.01 {
			for _, h := range []float64{1, 0.1, 1e-2, 1e-3} {
				worst = math.Max(worst, math.Abs(slope(edge, u+h/2)-slope(edge, u-h/2))/h/beta)
			}
		}
		return math.Max(worst, math.Abs(slope(edge, edge+5e-4)-slope(edge, edge-5e-4))/1e-3/beta)
	}
	right, elsewhere := quotient(math.Log(3)), quotient(0) // f′(log 3) = −1/4, f′(0) = −1/2
	if !(right <= 1 && elsewhere > 100) {
		t.Errorf("largest quotient %.4g·β where the slopes agree, %.4g·β where they do not", right, elsewhere)
	}
	errata.Quote(t, "rkw23-39", "%.0f", elsewhere)
}

// The proof of E.1 adds N(0, σ²I) to the output: σ_out is meant.
func TestRKW23OutputNoise(t *testing.T) {
	// Linear loss of slope L and a solver that goes astray by τ in the worst direction: Gaussians with means (L + 2τ)/λ
	// apart. τ makes the bound tight.
	const L, sigma, lambda, out = 1.0, 5.0, 20.0, 0.15
	const tau = L * (lambda * out) * (lambda * out) / (2 * sigma * sigma)
	exact := measure.GaussianDelta((L+2*tau)/math.Hypot(sigma, lambda*out), 0.5)
	bound := func(s float64) float64 { return measure.GaussianDelta(math.Hypot(L/sigma, 2*tau/(lambda*s)), 0.5) }
	right, printed := bound(out), bound(sigma)
	errata.Within(t, "δ with σ_out", right, exact, 1e-9)
	if !(printed < exact/2) {
		t.Errorf("δ(0.5): exact %.4g, with σ %.4g", exact, printed)
	}
	errata.Quotes(t, "rkw23-40", "%.2f %.1e", tau, exact, printed)
}

// Appendix C.1 loses 1/σ² after (C.9).
func TestRKW23Linearised(t *testing.T) {
	// One dimension, f″ = β, no other record: θ^P = −b/λ and θ⋆_λ = 0.
	const beta, lambda, s = 0.1, 1.0, 2.0 // s = q(α − 1)
	moment := func(sigma float64) float64 {
		return measure.Integral(func(z float64) float64 {
			b := sigma * z
			theta := -b / lambda
			return measure.Phi(z) * math.Exp(s*math.Abs(b*beta*theta)/(sigma*sigma))
		}, -14, 14, 200)
	}
	// E e^{s(β/λ)z²} of z ~ N(0, v).
	bound := func(v float64) float64 {
		if 2*s*beta/lambda*v >= 1 {
			return math.Inf(1)
		}
		return 1 / math.Sqrt(1-2*s*beta/lambda*v)
	}
	for _, sigma := range []float64{0.1, 1, 5} {
		errata.Within(t, "z ~ N(0, 1)", bound(1), moment(sigma), 1e-6)
	}
	printed := bound(0.01)
	if !(printed < moment(0.1)-0.2 && math.IsInf(bound(25), 1)) {
		t.Errorf("printed %.4f and %g, exact %.4f", printed, bound(25), moment(0.1))
	}
	errata.Quotes(t, "rkw23-45", "%.4f", moment(0.1), printed)
}

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
