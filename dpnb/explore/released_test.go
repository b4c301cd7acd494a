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
		if !(one > 0) || !(math.Abs(twice/one-2) <= 1e-12) {
			t.Errorf("%+v: within %v and, of twice the weights, %v", n, one, twice)
		}
		for _, c := range [][3]float64{{9, -3, 1}, {-3, 9, 0}, {3, 9, 0.25}} {
			if s := n.share(c[0], 1, c[1], 1, 0.9); s.Value != c[2] || s.Lower < 0 || s.Upper > 1 {
				t.Errorf("%v beside %v is a share of %+v, want %v", c[0], c[1], s, c[2])
			}
		}
	}
}

// Widths to twelve digits, computed to fifty by mpmath 1.3: of the normal law, and with a term of the kurtosis where it
// is more.
func TestWidthsOfNoise(t *testing.T) {
	for _, c := range []struct{ excess, confidence, a, k, b, m, want float64 }{
		{0, 0.95, 2, 1, 1, 5, 17.63967586086},
		{0, 0.95, 1, 4, 0, 9, 11.75978390724},
		{4, 0.999, 1, 1, 1, 1, 23.06693212428},
		{4, 0.999, 0.5, 3, 2, 1, 41.65192424814},
		{4, 0.5, 1, 1, 1, 1, 2.861617657227},
		{4, 0.9, 0, 7, 1, 0, 0},
	} {
		n := noiseOf{3, c.excess}
		if got := n.within(c.confidence, c.a, c.k, c.b, c.m); !(math.Abs(got-c.want) <= 1e-10) {
			t.Errorf("%+v: %v", c, got)
		}
	}
	cells := statistic.Cells{{Levels: 3}}
	for _, c := range []struct{ epsilon, least, most float64 }{{0.1, 3, 3.01}, {1, 3.2, 4}, {12, 10, 10}} {
		m := must.Get(statistic.CalibrateHistogram(cells, c.epsilon, 0, false))
		n := noiseIn(m)
		if v := n.deviation * n.deviation; !(n.excess >= c.least && n.excess <= c.most) ||
			n.excess < 10 && !(math.Abs(n.excess-3-1/v) <= 1e-12) {
			t.Errorf("ε = %v: %+v", c.epsilon, n)
		}
	}
	if n := noiseIn(must.Get(statistic.CalibrateHistogram(cells, 1, 1e-6, true))); n.excess != 0 {
		t.Errorf("Gaussian noise: %+v", n)
	}
}
