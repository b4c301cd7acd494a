package pure

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
)

// What follows from facts, by hand, costs no more and is feasible.
func TestFacts(t *testing.T) {
	f := mechanism.Facts{Records: 1000, Mu: 0.5, Directions: 30, Features: 3} // a = 0.12
	for _, c := range []struct {
		loss    loss.Convex
		ridge   func(longest float64) float64
		margin  float64
		classes bool
	}{
		{loss.LeastAbsolute{}, func(l float64) float64 { return 0.4 * l * l * 0.12 }, 0, false},
		{loss.Huber{Threshold: 1}, func(l float64) float64 { return l * l * 0.12 }, 0, false},
		{loss.Logistic{}, func(l float64) float64 { return 0.25 * l * l * (1 + 17*0.12) }, 0, true},
		{loss.Softplus{Width: 1}, func(l float64) float64 { return 0.25 * l * l * (1 + 17*0.12*1.06) }, 1.12, true},
	} {
		for _, clip := range []float64{1, 8} {
			k := config()
			k.Loss, k.Clip = c.loss, clip
			m := must.Get(k.Calibrate())
			of, stretch := m.For(f)
			got := of.(Objective)
			longest := clip / c.loss.Lipschitz()
			want := math.Max(0.45*longest*clip/0.5, c.ridge(longest))
			u := want * 30 / 1000
			less := 1 + u/((1+u)*(1+u)*(1+u))
			if c.classes {
				less = 1 + math.Min(2, u)
			}
			if !(math.Abs(got.Lambda/want-1) <= 1e-12) || !(math.Abs(stretch-less) <= 1e-12) || got.Stretch != 0 ||
				got.Records != 0 {
				t.Errorf("%s, C = %g: Λ = %v, stretch %v, want %v and %v", c.loss.Name(), clip, got.Lambda, stretch,
					want, less)
			}
			if h, ok := got.Loss.(loss.Softplus); ok && !(math.Abs(h.Margin-c.margin) <= 1e-12) {
				t.Errorf("margin %v", h.Margin)
			}
			if err := got.Feasible(3, MostRecords); err != nil || got.Epsilon() > m.Epsilon() ||
				got.Epsilon() < m.Epsilon()*(1-1e-9) {
				t.Errorf("%v costs %v for %v (%v)", got, got.Epsilon(), m.Epsilon(), err)
			}
		}
	}
}

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
