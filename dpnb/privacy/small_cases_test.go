package privacy

import (
	"math"
	"strings"
	"testing"
)

// What costs nothing costs exactly nothing, and is not the rest of a rounding.
func TestSamplingOfNothing(t *testing.T) {
	for name, s := range map[string]SubsampledGaussian{
		"nobody is drawn":    {Rate: 0, Sigma: 1, Sensitivity: 1},
		"nobody makes a sum": {Rate: 0.1, Sigma: 1, Sensitivity: 0},
	} {
		c, err := s.RDP(AddRemove)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, alpha := range []float64{1, 1.5, 2, 64} {
			if got := c.Epsilon(alpha); got != 0 {
				t.Errorf("%s: ε(%v) = %v", name, alpha, got)
			}
		}
	}
}

// At ε = −∞ every δ is 1, of whatever law.
func TestDeltaAtMinusInfinity(t *testing.T) {
	w := HalfNormalGaussian{HalfNormal{K: 0.1, A: 0.5}, 0.3}
	if low, up := w.logDeltaBounds(math.Inf(-1)); low != 0 || up != 0 {
		t.Errorf("ln δ is between %v and %v", low, up)
	}
}

func TestApproxSaysItsDelta(t *testing.T) {
	if text := (Approx{Epsilon: 1, Adj: AddRemove}).String(); strings.Contains(text, "δ") {
		t.Errorf("pure ε is %q", text)
	}
	if text := (Approx{Epsilon: 1, Delta: 1e-5, Adj: AddRemove}).String(); !strings.Contains(text, "δ=1e-05") {
		t.Errorf("(ε, δ) is %q", text)
	}
}

// A Gaussian curve covers a chord only where it is above it: not for a μ of 0 or 1 that is too small, whether or not a
// search comes by.
func TestCoversIsNotGivenAway(t *testing.T) {
	at := func(eps float64) knot { return knot{eps: eps, log: gaussianBelow(eps, 3)} }
	a, b := at(0.5), at(0.6)
	for mu, want := range map[float64]bool{0: false, 0.5: false, 1: false, 2.9: false, 3.1: true, math.Inf(1): true} {
		if got := covers(mu, a, b); got != want {
			t.Errorf("μ = %v covers the chord of μ = 3: %v", mu, got)
		}
	}
}
