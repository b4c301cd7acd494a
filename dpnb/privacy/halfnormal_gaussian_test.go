package privacy

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// Values of ln δ: mpmath 1.2.1, quadrature at 40 digits over 120 panels.
func TestHalfNormalGaussianProfile(t *testing.T) {
	for _, c := range []struct{ k, a, mu, eps, ln float64 }{
		{0.0953, 0.125, 0.1, 0.5, -7.23953077329397184},
		{0.0953, 0.125, 0.1, 1.0, -21.1281334474968573},
		{0.0953, 0.125, 0.01, 1.0, -31.8828389922342315},
		{0.2231, 0.1, 0.5, 4.0, -30.6032269434292903},
		{1.6094, 1.0, 0.3, 0.25, -0.085002531536173416},
		{0.05, 0.02, 1.0, 1.0, -1.97086345276727262},
		{0.0953, 0.125, 0.02, 3.0, -270.367896981067517},
		{0.01, 0.5, 0.2, 10.0, -173.804583894024232},
		{0.1, 0.2, 0.1, -0.3, -0.830253602407252014},
	} {
		p := must.Get(HalfNormalGaussian{HalfNormal{c.k, c.a}, c.mu}.Profile(AddRemove))
		up, low := p.LogDeltaUpper(Remove, c.eps), p.LogDeltaLower(Remove, c.eps)
		if !(low < c.ln && c.ln < up) || up-low > 2e-6 {
			t.Errorf("%+v: bracket (%.12g, %.12g), width %.2g", c, low, up, up-low)
		}
	}
}

func TestHalfNormalGaussianLimits(t *testing.T) {
	w := HalfNormal{K: 0.1, A: 0.2}
	p, _ := HalfNormalGaussian{w, 1e-9}.Profile(AddRemove)
	q, _ := w.Profile(AddRemove)
	if a, b := p.LogDeltaUpper(Add, 0.8), q.LogDeltaUpper(Add, 0.8); a-b > 1e-6 || b-a > 1e-6 {
		t.Errorf("μ → 0: %v, want the half-normal's %v", a, b)
	}
}

func BenchmarkHalfNormalGaussian(b *testing.B) {
	p, _ := HalfNormalGaussian{HalfNormal{0.0953, 0.125}, 0.1}.Profile(AddRemove)
	for b.Loop() {
		p.LogDeltaUpper(Remove, 1)
	}
}

// Noise beside it of a μ that is none is refused.
func TestHalfNormalGaussianRefuses(t *testing.T) {
	for _, mu := range []float64{-1, math.NaN(), math.Inf(1)} {
		if err := (HalfNormalGaussian{HalfNormal: HalfNormal{K: 1, A: 1}, Mu: mu}).Validate(); err == nil {
			t.Errorf("μ = %v is accepted", mu)
		}
	}
}
