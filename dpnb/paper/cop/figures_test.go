package cop

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/convolution"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/sim"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// Of risks c·n^s with a relative error of r each, the slope is s, and its interval that of a mean of logarithms.
func TestSlopes(t *testing.T) {
	var p Points
	for _, n := range []int{100, 1000, 10_000} {
		risk := 3 * math.Pow(float64(n), -0.8)
		p = append(p, Point{Design: Design{Loss: Medians{}, Dimension: 5}, Arm: "a", N: n, Epsilon: 1,
			Empirical: sim.Cell{Summary: sim.Summary{Mean: risk, StdErr: 0.1 * risk, N: 50}}})
	}
	s := p.Slopes(Empirical)[0]
	margin := 1.96 * 0.1 / (math.Sqrt2 * math.Log(10))
	if !(math.Abs(s.Mean+0.8) <= 1e-12) ||
		!(math.Abs(s.Upper-s.Lower-2*margin) <= 1e-12) || s.Bound < -1 || s.Bound > -0.5 {
		t.Errorf("%+v, margin %.4f", s, margin)
	}
}

// The least λ/s at ε = 1, δ = 1e-5 and 1.1 times the Gaussian mechanism's noise, as a search over paths by another
// program found them, to a hundredth.
func TestPrices(t *testing.T) {
	testscale.InTurn(t)
	prices := must.Get(Prices(1, 1e-5, 1.1))
	for i, want := range []float64{3.682, 1.454, 1.042, 0.903, 0.585} {
		if got := prices[i].Ratio; !(math.Abs(got/want-1) <= 0.012) {
			t.Errorf("%s: λ/s = %.4f, want %.3f", prices[i].Kernel.Name(), got, want)
		}
	}
}

// The printed constants are those that mechanism/objpert/convolution has by its rule Printed; the corrected ones
// satisfy (ε, δ) by the account of the forms, which is sharper than the rank's by which they were found.
func TestConstants(t *testing.T) {
	defer measure.Fatal(t)
	r := Design{Loss: Medians{}, Dimension: 10}.Draw(300, noise.NewSeeded(2))
	const eps = 1.0
	config := r.config(smoothing.Gaussian{}, eps, Delta)
	config.Rule = convolution.Printed
	m := measure.Must(convolution.Calibrate(config))
	c, other := r.plan().printed(eps, Delta), []float64{m.Sigma, m.Lambda, m.Smoothness()}
	curvature := r.Norm() * r.Norm() * math.Sqrt(2/math.Pi) / c.width
	for i, want := range []float64{c.sigma, c.lambda, curvature} {
		if !(math.Abs(other[i]/want-1) <= 1e-9) {
			t.Errorf("constant %d: %v, want %v", i, other[i], want)
		}
	}
	c = measure.Must(r.corrected(r.Loss.Blurred(forms), eps, Delta))
	m.Sigma, m.Lambda, m.Account, m.Unproved = c.sigma, c.lambda, convolution.ByRows, ""
	m.OutputSigma = 1e6 * m.Tolerance / m.Lambda
	form := config.Loss
	form.Form = loss.Absolute(smoothing.Gaussian{}, c.width)
	m.Loss = form
	p := measure.Must(mechanism.Profile(m))
	if delta := privacy.DeltaUpper(p, eps); delta > Delta {
		t.Errorf("corrected: δ(%g) = %.3g", eps, delta)
	}
	// More δ asks for less noise.
	if half, _ := r.corrected(r.Loss.Blurred(forms), eps, Delta*10); half.sigma >= c.sigma {
		t.Errorf("more δ, and not less noise: %v, %v", half.sigma, c.sigma)
	}
}

// The leak grows with Ā, as printed; cells and draws agree (TestCOPSmoothness).
func TestLeakBeginsWhereTheDeterminantExceedsEpsilon(t *testing.T) {
	for _, c := range []struct {
		bound float64
		leaks bool
	}{{8, false}, {9, true}} {
		l := Leak{Bound: c.bound, Radius: 2, Epsilon: 1, Delta: 1e-5, Records: 1000, Factor: 1}
		// The determinant is 1 + s/λ, of which ε/2 was meant to pay.
		printed, smooth := l.constants()
		determinant := math.Log1p(l.Bound * l.Bound * smooth.Smoothness() / printed.lambda)
		if (determinant > 1) != c.leaks || (l.Exact() > 1e-5) != c.leaks {
			t.Errorf("Ā = %g: ln(1 + s/λ) = %.3f, δ = %.3g", c.bound, determinant, l.Exact())
		}
	}
}
