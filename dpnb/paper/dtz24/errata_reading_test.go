package dtz24

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/errata"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/theory/proportional"
)

// Theorem 1.1 takes the noise of a regression for Gaussian.
func TestDTZ24InformalTheorem(t *testing.T) {
	testscale.Slow(t)
	const ratio, lambda, nu, kappa = 0.5, 0.1, 0.2, 1
	huber := loss.Huber{Threshold: 0.5}
	law := proportional.Mix([]float64{0.9, 0.1}, proportional.Normal(0, 0.3), proportional.Point(3))
	predict := func(l proportional.Law) float64 {
		p := measure.Must(proportional.Regression{Loss: huber, AspectRatio: ratio, Lambda: lambda, Nu: nu, Kappa: kappa,
			Noise: l}.Solve(nil))
		return p.RMSE * p.RMSE
	}
	right, printed := predict(law), predict(proportional.Normal(0, math.Sqrt(law.SecondMoment())))
	const n, d, runs = 400, 200, 40
	var drawn measure.Mean
	for run := range runs {
		src := noise.NewSeeded(61).Stream(run)
		x := make([]float64, n*d)
		for i := range x {
			x[i] = math.Copysign(1/math.Sqrt(d), src.Float64()-0.5)
		}
		star, linear, y := make([]float64, d), make([]float64, d), make([]float64, n)
		src.Gaussian(star, kappa)
		src.Gaussian(linear, nu)
		for i := range y {
			y[i] = floats.Dot(x[i*d:(i+1)*d], star)
			if i < n/10 {
				y[i] += 3
			} else {
				y[i] += 0.3 * src.NormFloat64()
			}
		}
		sol := measure.Must(erm.Minimize(&erm.Problem{Rows: matrix.NewDense(n, d, x), Labels: y, Loss: huber,
			Lambda: lambda, Linear: linear}, &erm.Settings{Tolerance: 1e-4, Workers: 1}))
		r := floats.Distance(sol.Theta, star, 2)
		drawn.Add(r * r / d)
	}
	if !(math.Abs(drawn.M-right) < 4*drawn.Err() && math.Abs(drawn.M-printed) > 20*drawn.Err()) {
		t.Errorf("squared error: drawn %.4f ± %.4f, (3.8) %.4f, as printed %.4f", drawn.M, drawn.Err(), right, printed)
	}
	errata.Quote(t, "dtz24-61", "%.3f", law.SecondMoment())
	errata.Quote(t, "dtz24-61", "%.3f", right)
	errata.Quote(t, "dtz24-61", "%.3f", printed)
	errata.Quote(t, "dtz24-61", "%.3f", drawn.M)
	errata.Quote(t, "dtz24-61", "%.3f", drawn.Err())
	// For Gaussian noise the two are the same.
	gauss := proportional.Normal(0, 0.2)
	errata.Within(t, "Gaussian noise", predict(gauss), predict(proportional.Normal(0, math.Sqrt(gauss.SecondMoment()))),
		1e-12)
}

// Proof of Theorem 7.1: what the printed recursion makes are increments.
func TestDTZ24Increments(t *testing.T) {
	const n, d, steps, gamma, nu, slope = 6, 3, 3, 0.3, 0.2, 1.0
	src := noise.NewSeeded(58)
	x, star := make([]float64, n*d), make([]float64, d)
	src.Gaussian(x, 1/math.Sqrt(d))
	src.Gaussian(star, 1)
	// Huber residuals without ε⋆, cut at L = 1.
	gradient := func(b, truth []float64) []float64 {
		g := make([]float64, d)
		for i := range n {
			row := x[i*d : (i+1)*d]
			floats.AddScaled(g, math.Max(-slope, math.Min(slope, floats.Dot(row, b)-floats.Dot(row, truth))), row)
		}
		return g
	}
	beta := make([]float64, d)                         // Algorithm 3
	v1, sum1 := make([]float64, d), make([]float64, d) // the recursion: v = [v₁ | v₂], and Σ v
	v2, sum2 := append([]float64(nil), star...), append([]float64(nil), star...)
	for range steps {
		xi := make([]float64, d)
		src.Gaussian(xi, 1)
		g := gradient(sum1, sum2)
		for j := range v1 {
			v1[j], v2[j] = -gamma*nu*xi[j]-gamma*g[j], 0
		}
		floats.Add(sum1, v1)
		g = gradient(beta, star)
		for j := range beta {
			beta[j] -= gamma * (g[j] + nu*xi[j])
		}
	}
	if off := floats.Distance(sum1, beta, 2); off > 1e-12 || floats.Distance(sum2, star, 2) > 0 {
		t.Errorf("Σv is off by %.3g", off)
	}
	share := floats.Norm(v1, 2) / floats.Norm(beta, 2)
	if !(share < 0.9) || floats.Norm(v2, 2) != 0 {
		t.Errorf("‖v₁‖/‖β‖ = %.3f, v₂ = %v", share, v2)
	}
	errata.Quote(t, "dtz24-58", "%.2f", share)
}

// Lemma 3.14: the sign of the gradient of the losses.
func TestDTZ24Lemma314(t *testing.T) {
	const lambda, nu, xi, beta, h = 0.5, 0.2, 0.3, 0.7, 1e-5
	x, y := []float64{1, -0.5, 2}, []float64{3, 0.1, -0.4}
	huber := loss.Huber{Threshold: 1}
	objective := func(b float64) float64 {
		var sum float64
		v, s := make([]float64, 1), make([]float64, 1)
		for i := range x {
			v[0], s[0] = x[i]*b, 0
			sum += huber.ValueSlope(s, v, y[i:i+1])
		}
		return sum + lambda/2*b*b + nu*xi*b
	}
	var pull float64 // ⟨[y − Xβ]_L, X_j⟩
	for i := range x {
		pull += math.Max(-1, math.Min(1, y[i]-x[i]*beta)) * x[i]
	}
	slope := (objective(beta+h) - objective(beta-h)) / (2 * h)
	printed, right := pull+lambda*beta+nu*xi, -pull+lambda*beta+nu*xi
	errata.Within(t, "∂H/∂β", slope, right, 1e-8)
	if math.Abs(slope-printed) < 0.1 {
		t.Errorf("the printed derivative %.3f fits %.3f", printed, slope)
	}
	errata.Quote(t, "dtz24-60", "%.3f", slope)
	errata.Quote(t, "dtz24-60", "%.3f", printed)
}

// (4.6) is the proximal operator of f₀/λ, not of f₀.
func TestDTZ24Proximal(t *testing.T) {
	const lambda, nu, step, x, xi = 0.5, 0.2, 1.0, 1.0, 1.0
	argmin := func(f func(b float64) float64) float64 {
		lo, hi := -10.0, 10.0
		for range 200 {
			a, b := lo+(hi-lo)/3, hi-(hi-lo)/3
			if f(a) < f(b) {
				hi = b
			} else {
				lo = a
			}
		}
		return lo
	}
	f0 := func(b float64) float64 { return lambda/2*b*b + nu*xi*b }
	prox := argmin(func(b float64) float64 { return step*f0(b) + (b-x)*(b-x)/2 })
	scaled := argmin(func(b float64) float64 { return step*f0(b)/lambda + (b-x)*(b-x)/2 })
	printed := (x - step*nu/lambda*xi) / (1 + step)
	errata.Within(t, "prox of f₀/λ", scaled, printed, 1e-6)
	errata.Within(t, "prox of f₀", prox, (x-step*nu*xi)/(1+step*lambda), 1e-6)
	if math.Abs(prox-printed) < 0.1 {
		t.Errorf("(4.6) gives %.4f, the operator is %.4f", printed, prox)
	}
	errata.Quote(t, "dtz24-62", "%.3f", prox)
	errata.Quote(t, "dtz24-62", "%.3f", printed)
}
