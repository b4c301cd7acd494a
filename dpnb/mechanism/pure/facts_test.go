package pure

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
)

// What follows from facts, by hand (a = 0.12), costs what it did and is feasible.
func TestFacts(t *testing.T) {
	f := mechanism.Facts{Records: 1000, Mu: 0.5, Directions: 30, Features: 3}
	for name, c := range map[string]struct {
		loss  loss.Convex
		ridge float64 // of records of norm 1
	}{
		"kink": {loss.LeastAbsolute{}, 0.4 * 0.12}, "numbers": {loss.Huber{Threshold: 1}, 0.12},
		"classes": {loss.Logistic{}, 0.25 * (1 + 17*0.12)}, "hinge": {loss.Softplus{Width: 1}, 0.25 * (1 + 17*0.12*1.06)},
	} {
		k := config()
		k.Loss, k.Clip = c.loss, 8
		m := must.Get(k.Calibrate())
		of, _ := m.For(f)
		got := of.(Objective)
		if want := math.Max(0.45*64/0.5, 64*c.ridge); math.Abs(got.Lambda/want-1) > 1e-12 ||
			got.Feasible(3, MostRecords) != nil || got.Epsilon() > m.Epsilon() || got.Epsilon() < m.Epsilon()*(1-1e-9) || got.Records != 0 || got.Stretch != 0 {
			t.Errorf("%s: %v with Λ = %v costs %v for %v, want Λ = %v", name, got, got.Lambda, got.Epsilon(), m.Epsilon(), want)
		}
	}
}
