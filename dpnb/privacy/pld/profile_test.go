package pld

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// TestCompositionProfile: the composition of Gaussians has the profile of one, and what cannot be asked gets the answer
// that says nothing.
func TestCompositionProfile(t *testing.T) {
	one := privacy.GaussianProfile(0.3, privacy.AddRemove)
	c := must.Get(New([]Component{{one, 4}}, nil))
	p, want := c.Profile(), privacy.GaussianProfile(0.6, privacy.AddRemove)
	for _, eps := range []float64{-1, 0, 0.5, 3} {
		low, up, exact := p.LogDeltaLower(privacy.Add, eps), p.LogDeltaUpper(privacy.Remove, eps),
			want.LogDeltaUpper(privacy.Add, eps)
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
	if up := math.Exp(c.Profile().LogDeltaUpper(privacy.Add, math.Inf(1))); !(math.Abs(up-0.03) <= 1e-9) {
		t.Errorf("mass at infinity %v, want 0.03", up)
	}
}

// TestCompositionProfileDirections: at infinity a composition without mass there has none, and a lower bound is one for
// the direction that was asked for.
func TestCompositionProfileDirections(t *testing.T) {
	step := must.Get(privacy.SubsampledGaussian{Sigma: 0.7, Sensitivity: 1, Rate: 0.2}.Profile(privacy.AddRemove))
	for _, count := range []int{1, 20} {
		c := must.Get(New([]Component{{step, count}}, nil))
		p := c.Profile()
		if up := p.LogDeltaUpper(privacy.Add, math.Inf(1)); !math.IsInf(up, -1) {
			t.Errorf("%d steps: ln δ(∞) = %v", count, up)
		}
		const eps = 1.5
		for _, d := range privacy.Directions {
			own := step.LogDeltaUpper(d, eps)
			if count > 1 {
				own = c.deltaIn(d, eps).Upper
			}
			if low := p.LogDeltaLower(d, eps); low > own {
				t.Errorf("%d steps, %v: lower bound %v above ln δ ≤ %v", count, d, low, own)
			}
		}
		if p.LogDeltaUpper(privacy.Add, eps) != p.LogDeltaUpper(privacy.Remove, eps) {
			t.Errorf("%d steps: the upper bounds differ", count)
		}
	}
}
