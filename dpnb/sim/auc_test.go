package sim

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestAUCCountsPairs: against all pairs, with ties.
func TestAUCCountsPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		n := 2 + rng.IntN(40)
		s, y := make([]float64, n), make([]float64, n)
		for i := range s {
			s[i], y[i] = float64(rng.IntN(8)), float64(2*rng.IntN(2)-1)
		}
		y[0], y[1] = 1, -1
		var pairs, right float64
		for i := range s {
			for j := range s {
				if y[i] > 0 && y[j] < 0 {
					pairs++
					switch {
					case s[i] > s[j]:
						right++
					case s[i] == s[j]:
						right += 0.5
					}
				}
			}
		}
		if got := AUC(s, y); !(math.Abs(got-right/pairs) <= 1e-14) { // NaN is no AUC
			t.Errorf("AUC %v, by pairs %v", got, right/pairs)
		}
	}
	for _, y := range [][]float64{{}, {1}, {-1, -1}} {
		if got := AUC(make([]float64, len(y)), y); !math.IsNaN(got) {
			t.Errorf("labels %v: %v", y, got)
		}
	}
	if got := AUC([]float64{1, math.NaN()}, []float64{1, -1}); !math.IsNaN(got) {
		t.Errorf("a score of NaN: %v", got)
	}
}
