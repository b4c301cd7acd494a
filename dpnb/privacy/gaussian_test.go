package privacy

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

func TestGaussianProfileReference(t *testing.T) {
	for _, c := range referenceCases(t, "a_gaussian_profile") {
		p := must.Get(Gaussian{Sigma: c.Inputs["sigma"], Sensitivity: 1}.Profile(AddRemove))
		checkBrackets(t, c, p.(LowerProfile))
	}
}

func TestGaussianSigmaReference(t *testing.T) {
	for _, c := range referenceCases(t, "b_gaussian_calibration") {
		got := must.Get(GaussianSigma(c.Inputs["epsilon"], c.Inputs["delta"]))
		if r := got/c.Value - 1; r < -1e-16 || r > 1e-12 {
			t.Errorf("%s: σ = %.17g, want %.17g (relative %.2g)", c.ID, got, c.Value, r)
		}
	}
}

// The two directions of a Gaussian agree, so H_{e^ε} at −ε follows from that at ε; and δ never rises.
func TestGaussianProfileIsConvexAndFalls(t *testing.T) {
	for _, mu := range []float64{1e-3, 0.05, 0.3, 1, 3, 9, 40} {
		p := GaussianProfile(mu, AddRemove)
		last := 0.0
		for _, z := range []float64{-30, -5, -1, -0.1, 0, 0.1, 1, 2, 5, 30, 300} {
			eps := z * mu
			l := p.LogDeltaUpper(Remove, eps)
			if math.IsNaN(l) || l > last {
				t.Errorf("μ=%g: ln δ(%g) = %g rises from %g", mu, eps, l, last)
			}
			if eps < 0 && l < math.Log(-math.Expm1(eps)) {
				t.Errorf("μ=%g: δ(%g) below 1 − e^ε", mu, eps)
			}
			last = l
		}
	}
}

func TestGaussianReplaceDoublesMu(t *testing.T) {
	p, _ := Gaussian{Sigma: 10, Sensitivity: 1}.Profile(ReplaceOne)
	q := GaussianProfile(0.2, ReplaceOne)
	a, b := p.LogDeltaUpper(Add, 0.7), q.LogDeltaUpper(Add, 0.7)
	if !(math.Abs(a-b) <= 1e-12) {
		t.Errorf("replace-one: ln δ = %v, want that of μ = 0.2: %v", a, b)
	}
}

func BenchmarkGaussianProfile(b *testing.B) {
	p := GaussianProfile(0.2, AddRemove)
	for i := 0; b.Loop(); i++ {
		p.LogDeltaUpper(Remove, 0.001*float64(i%1000))
	}
}
