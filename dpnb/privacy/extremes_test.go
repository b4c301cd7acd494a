package privacy

import (
	"math"
	"testing"
)

// At no parameters and no ε may a bound be NaN, above one, or below its lower bound.
func TestExtremesOfClosedForms(t *testing.T) {
	inf := math.Inf(1)
	check := func(p LowerProfile, eps float64, what ...float64) {
		t.Helper()
		u, l := p.LogDeltaUpper(Remove, eps), p.LogDeltaLower(Remove, eps)
		if math.IsNaN(u) || math.IsNaN(l) || u < l || u > 0 {
			t.Errorf("%v at ε = %v: ln δ between %v and %v", what, eps, l, u)
		}
	}
	epsilons := []float64{-inf, -1e9, -1e3, -40, -1, 0, 1e-300, 1e-9, 1, 40, 1e3, 1e6, 1e9, inf}
	for _, a := range []float64{0, 1e-300, 1e-8, 1e-3, 1, 29, 31, 40, 100, 1e4, 1e150} {
		for _, eps := range epsilons {
			check(GaussianProfile(a, AddRemove), eps, a)
		}
		for _, k := range []float64{0, 1e-300, 2.5e-7, 1, 50, 700} {
			p, err := HalfNormal{K: k, A: a}.Profile(AddRemove)
			if err != nil {
				t.Fatal(err)
			}
			for _, eps := range epsilons {
				check(p, eps, k, a)
			}
		}
	}
	if testing.Short() {
		return
	}
	for _, a := range []float64{1e-300, 1e-3, 1, 100} {
		for _, mu := range []float64{1e-6, 1, 30} {
			p, err := HalfNormalGaussian{HalfNormal{K: 0.1, A: a}, mu}.Profile(AddRemove)
			if err != nil {
				t.Fatal(err)
			}
			for _, eps := range []float64{-40, 0, 1e-9, 1, 40, 1e3} {
				check(p, eps, a, mu)
			}
		}
	}
}
