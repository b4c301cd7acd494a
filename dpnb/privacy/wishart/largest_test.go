package wishart

import (
	"math"
	"testing"
)

// Lemma D.1 at numbers worked out by hand: m = 9, d = 4, √m + √d = 5; below 25 it says nothing, and never more than 0.
func TestLogLargestAbove(t *testing.T) {
	w := Wishart{M: 9, D: 4}
	for at, want := range map[float64]float64{0: 0, 24: 0, 25: 0, 30.25: 0, 49: math.Ln2 - 2, 100: math.Ln2 - 12.5} {
		if got := w.LogLargestAbove(at); !(got >= want && got <= want+1e-12) {
			t.Errorf("ln P(λ ≥ %v) ≤ %v, want %v", at, got, want)
		}
	}
}

// σ̃ as Theorem 3.1 prints it, for solvers that err by τ alone: (2/ε₂)√(2 ln(1.25/δ₂))·√(2τ/(ασ²)).
func TestPrintedOutputNoise(t *testing.T) {
	s := Setting{Wishart: Wishart{D: 2, M: 40}, Smoothness: 1, Rank: 1, Accuracy: 1e-6}
	split := Split{Epsilon2: 0.5, Delta2: 1e-6}
	n := Noise{Alpha: 4, Sigma2: 50}
	sensitivity, sigma := s.printedOutput(split, n)
	e := math.Sqrt(2 * 1e-6 / 200)
	if want := e * 4 * math.Sqrt(2*math.Log(1.25e6)); !(math.Abs(sensitivity-2*e) <= 1e-15) ||
		!(math.Abs(sigma-want) <= 1e-14*want) {
		t.Errorf("sensitivity %v and σ̃ = %v, want %v and %v", sensitivity, sigma, 2*e, want)
	}
}
