package pure

import (
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
)

// Whatever the facts are, the mechanism for them costs no more: with ln cosh, whose curvature is paid for by Λ, too.
func TestFactsCostNothing(t *testing.T) {
	k := config()
	k.Loss, k.Clip, k.Lambda = loss.Huber{Threshold: 1}, 1, 50
	m := must.Get(k.Calibrate())
	for _, m.Cosh = range []float64{0, 0.4 * m.Lambda, 4 * m.Lambda} {
		for _, records := range []float64{20, 1e3, 1e6} {
			of, _ := m.For(mechanism.Facts{Records: records, Mu: 0.5, Directions: 3, Features: 3})
			if got := of.(Objective).Epsilon(); !(got <= m.Epsilon()*(1+1e-12)) {
				t.Errorf("s = %v, %v records: ε = %v, and %v was paid", m.Cosh, records, got, m.Epsilon())
			}
		}
	}
}
