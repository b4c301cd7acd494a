package privacy

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// Values of ln δ: mpmath 1.2.1, 400 digits, from the definition of the hockey-stick divergence of (1−q)N(0,σ²) +
// qN(1,σ²) and N(0,σ²).
func TestSubsampledGaussianProfile(t *testing.T) {
	for _, c := range []struct{ q, sigma, eps, remove, add float64 }{
		{0.01, 1, 0.5, -15.3230604208596872, math.Inf(-1)},
		{0.01, 1, -0.005, -5.12505985770327956, -4.87835402971657095},
		{0.01, 1, -0.02, -3.92200633881703457, -3.8695691861733619},
		{0.01, 1, 0.009, -6.20344721999593548, -11.3310967653872938},
		{0.01, 1, 5, -51.4673379303957732, math.Inf(-1)},
		{0.3, 0.7, 1, -3.23362446479525375, math.Inf(-1)},
		{0.3, 0.7, 0.2, -2.13799046634240801, -3.1094386023116718},
		{0.3, 0.7, -1, -0.458675145387081891, -0.435996018854383641},
		{0.0001, 2, 0.0001, -12.854776050596288, -217.944286619433045},
		{0.5, 3, 0.6, -8.89756521040587326, -31.5907664763871951},
		{0.5, 3, 40, -7443.68258023749708, math.Inf(-1)},
	} {
		p := must.Get(SubsampledGaussian{Sigma: c.sigma, Sensitivity: 1, Rate: c.q}.Profile(AddRemove))
		for d, want := range map[Direction]float64{Remove: c.remove, Add: c.add} {
			up, low := p.LogDeltaUpper(d, c.eps), p.(LowerProfile).LogDeltaLower(d, c.eps)
			if math.IsInf(want, -1) {
				if !math.IsInf(up, -1) {
					t.Errorf("%+v %v: ln δ ≤ %v, want −Inf", c, d, up)
				}
				continue
			}
			if !(low < want && want < up) {
				t.Errorf("%+v %v: ln δ = %.17g outside (%.17g, %.17g)", c, d, want, low, up)
			}
			tol := 1e-11 * math.Max(1, math.Abs(want))
			if d == Add && c.eps > 0.99*-math.Log1p(-c.q) {
				tol = 1e-6 // next to the largest loss the rounding of ε itself decides
			}
			if up-low > tol {
				t.Errorf("%+v %v: bounds %.2g apart", c, d, up-low)
			}
		}
	}
}

func TestSubsampledGaussianLimits(t *testing.T) {
	all, _ := SubsampledGaussian{Sigma: 2, Sensitivity: 1, Rate: 1}.Profile(AddRemove)
	g, _ := Gaussian{Sigma: 2, Sensitivity: 1}.Profile(AddRemove)
	if a, b := all.LogDeltaUpper(Remove, 1), g.LogDeltaUpper(Remove, 1); a != b {
		t.Errorf("q = 1: %v, want the Gaussian's %v", a, b)
	}
	none, _ := SubsampledGaussian{Sigma: 2, Sensitivity: 1, Rate: 0}.Profile(AddRemove)
	if l := none.LogDeltaUpper(Add, 0); !math.IsInf(l, -1) {
		t.Errorf("q = 0: ln δ(0) = %v", l)
	}
}

// At a whole order the Rényi curve is the exact moment; against quadrature.
func TestSubsampledGaussianRDP(t *testing.T) {
	for _, huge := range []float64{1e150, 1e162, 1e200, 1e300} { // of which μ² is below all numbers
		c := must.Get(SubsampledGaussian{Sigma: huge, Sensitivity: 1, Rate: 0.3}.RDP(AddRemove))
		for _, alpha := range []float64{1, 2, 3.5, 64, 2000} {
			if e := c.Epsilon(alpha); !(e > 0 && e < 1e-290) {
				t.Errorf("σ = %g: ε(%g) = %g", huge, alpha, e)
			}
		}
	}
	const q, sigma = 0.02, 1.3
	c := must.Get(SubsampledGaussian{Sigma: sigma, Sensitivity: 1, Rate: q}.RDP(AddRemove))
	for _, alpha := range []float64{2, 3.5, 16} {
		var sum float64
		const h = 1e-3
		for x := -12.0; x < 40; x += h {
			ratio := 1 - q + q*math.Exp((2*x-1)/(2*sigma*sigma))
			sum += h * math.Exp(-0.5*x*x/(sigma*sigma)) / (sigma * math.Sqrt(2*math.Pi)) * math.Pow(ratio, alpha)
		}
		want := math.Log(sum) / (alpha - 1)
		got := c.Epsilon(alpha)
		if got < want*(1-1e-9) || alpha == math.Floor(alpha) && got > want*(1+1e-9) {
			t.Errorf("α = %g: %v, want %v", alpha, got, want)
		}
	}
}
