package dtz24

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/paper/internal/errata"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

// Corollary 5.2 is about zCDP, which the paper defines for replace-one.
func TestDTZ24Corollary52(t *testing.T) {
	// The loss yLθ with L = 1, whose one record changes from y = 1 to y = −1: the minimiser is −(b + y)/λ, whatever λ;
	// here in units of 1/λ.
	rho := func(a float64) (exact, claimed float64) {
		const alpha = 1.5
		moment := measure.Integral(func(z float64) float64 {
			p, q := measure.Phi(z-a), measure.Phi(z+a)
			return p * math.Pow(p/q, alpha-1)
		}, -14-3*a, 14+3*a, 4000)
		return math.Log(moment) / (alpha - 1) / alpha, a*a/2 + math.Sqrt(2/math.Pi)*a
	}
	exact, claimed := rho(2)
	errata.Within(t, "2a²", exact, 8, 1e-6)
	if !(exact > 2*claimed) {
		t.Errorf("ρ is %.4f, claimed %.4f", exact, claimed)
	}
	errata.Quote(t, "dtz24-66", "%.3f", exact)
	errata.Quote(t, "dtz24-66", "%.3f", claimed)
	// From a = (2/3)√(2/π) on; below, ρ is large enough for this pair.
	edge := 2. / 3 * math.Sqrt(2/math.Pi)
	errata.Quote(t, "dtz24-66", "%.3f", edge)
	if e, c := rho(edge * 0.99); !(e < c) {
		t.Errorf("a = %.3f: ρ is %.4f, claimed %.4f", edge*0.99, e, c)
	}
	if e, c := rho(edge * 1.01); !(e > c) {
		t.Errorf("a = %.3f: ρ is %.4f, claimed %.4f", edge*1.01, e, c)
	}
}
