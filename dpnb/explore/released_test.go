package explore

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/mechanism/statistic"
)

// Numbers that one mechanism gave are not read as those of another, of which the intervals would be narrower.
func TestAnswersAreOfTheirMechanism(t *testing.T) {
	cells := statistic.Cells{{Levels: 3}}
	m := must.Get(statistic.CalibrateHistogram(cells, 1, 0, false))
	other := must.Get(statistic.CalibrateHistogram(cells, 1.1, 0, false))
	r := &released{Mechanism: m.String()}
	if err := r.by(m); err != nil {
		t.Error(err)
	}
	if err := r.by(other); err == nil {
		t.Errorf("what %v gave is read as given by %v", m, other)
	}
}

// Cells in twice the unit have intervals twice as wide, of every noise, and a share is one, whatever the noise made of
// its cells.
func TestSharesOfNoise(t *testing.T) {
	for _, n := range []noiseOf{{deviation: 3}, {deviation: 3, excess: 4}} {
		one, twice := n.within(0.999, 0.3, 2, 0.7, 5), n.within(0.999, 0.6, 2, 1.4, 5)
		if !(one > 0) || math.Abs(twice/one-2) > 1e-12 {
			t.Errorf("%+v: within %v and, of twice the weights, %v", n, one, twice)
		}
		for _, c := range [][3]float64{{9, -3, 1}, {-3, 9, 0}, {3, 9, 0.25}} {
			if s := n.share(c[0], 1, c[1], 1, 0.9); s.Value != c[2] || s.Lower < 0 || s.Upper > 1 {
				t.Errorf("%v beside %v is a share of %+v, want %v", c[0], c[1], s, c[2])
			}
		}
	}
}
