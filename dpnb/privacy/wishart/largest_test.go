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
