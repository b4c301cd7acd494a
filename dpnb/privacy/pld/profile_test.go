package pld

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// TestCompositionProfile: the composition of Gaussians has the profile of one,
// and what cannot be asked gets the answer that says nothing.
func TestCompositionProfile(t *testing.T) {
	one := privacy.GaussianProfile(0.3, privacy.AddRemove)
	c, err := New([]Component{{one, 4}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, want := c.Profile(), privacy.GaussianProfile(0.6, privacy.AddRemove)
	for _, eps := range []float64{-1, 0, 0.5, 3} {
		low, up, exact := p.LogDeltaLower(privacy.Add, eps), p.LogDeltaUpper(privacy.Remove, eps), want.LogDeltaUpper(privacy.Add, eps)
		if !(low <= exact+1e-12 && up >= exact-1e-12 && up-low < 1e-3) {
			t.Errorf("ε = %v: [%v, %v], want %v", eps, low, up, exact)
		}
	}
	if up := p.LogDeltaUpper(privacy.Add, math.NaN()); up != 0 {
		t.Errorf("NaN: %v", up)
	}
	if up := p.LogDeltaUpper(privacy.Add, math.Inf(-1)); up != 0 {
		t.Errorf("−∞: %v", up)
	}
	leaky, _ := privacy.Approx{Epsilon: 0.1, Delta: 0.01, Adj: privacy.AddRemove}.Profile(privacy.AddRemove)
	c, _ = New([]Component{{leaky, 3}}, nil)
	if up := math.Exp(c.Profile().LogDeltaUpper(privacy.Add, math.Inf(1))); math.Abs(up-0.03) > 1e-9 {
		t.Errorf("mass at infinity %v, want 0.03", up)
	}
}
