package learn_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// What a fit is said to cost it costs, and to say so costs nothing; the curve is that of the Gaussian mechanism of all
// fits, to the last digits.
func TestCostAndCurve(t *testing.T) {
	b, data, l := fresh(1, 1.2345678e-5), peopleData(t), learn.Logistic{Noise: learn.Seed(1)}
	up, down := privacy.FormatUp, privacy.FormatDown
	for _, a := range []learn.Allowance{b.Spend(0.3), b.Spend(0.5), b.Share(0.05)} {
		before, _ := b.State()
		c := must.Get(a.Cost(l, data))
		if s, _ := b.State(); len(s.Entries) != len(before.Entries) {
			t.Fatal("a cost was charged")
		}
		said := c.Display().Rows
		must.Get(l.Fit(data, a))
		s, _ := b.State()
		e := s.Entries[len(s.Entries)-1]
		if e.Epsilon != c.Epsilon || e.Delta != c.Delta {
			t.Errorf("said %+v, charged %+v", c, e)
		}
		for i, want := range [][]string{{up(e.Epsilon, 4), up(e.Delta, 4)},
			{up(s.SpentEpsilon, 4), up(s.SpentDelta, 4)},
			{down(s.RemainingEpsilon, 4), down(s.RemainingDelta, 4)}} {
			if !slices.Equal(said[i][1:], want) {
				t.Errorf("said %v, want %v", said[i], want)
			}
		}
	}
	none, err := b.Spend(2).Cost(l, data)
	if err == nil || none != nil {
		t.Errorf("what the budget does not cover has the cost %+v (%v)", none, err)
	}
	if text := shown(t, none, err); strings.Count(text, "!!") != 1 ||
		strings.Contains(text, "would cost") || !strings.Contains(text, err.Error()) {
		t.Errorf("the refusal is shown as %q", text)
	}
	if _, err := learn.Simulate(1, 1e-5).Cost(l, data); err == nil {
		t.Error("a simulation has a cost")
	}
	s, _ := b.State()
	square, sum := 0.0, 0.0
	for _, e := range s.Entries {
		square, sum = square+e.Mu*e.Mu, sum+e.Epsilon
	}
	p := privacy.GaussianProfile(math.Sqrt(square), privacy.AddRemove)
	c := must.Get(b.Curve())
	for i, eps := range c.Epsilons {
		want := privacy.DeltaUpper(p, eps)
		if eps < sum && !(math.Abs(c.Deltas[i]-want) <= 1e-9*want) {
			t.Errorf("δ(%v) = %v, want %v", eps, c.Deltas[i], want)
		}
		if i > 0 && c.Deltas[i] > c.Deltas[i-1] {
			t.Errorf("δ rises at ε = %v", eps)
		}
	}
	if it := c.Display(); len(it.Rows) != 7 || !strings.Contains(it.Title, "add/remove-one") {
		t.Errorf("%+v", it)
	}
	for i, row := range c.Display().Rows {
		if want := []string{up(c.Epsilons[10*i], 4), up(c.Deltas[10*i], 4)}; !slices.Equal(row, want) {
			t.Errorf("row %d is %v, want %v", i, row, want)
		}
	}
	if png, err := c.Illustration().PNG(); err != nil || len(png) == 0 {
		t.Error(err)
	}
	if c, err := fresh(1, 0).Curve(); err != nil || c.Deltas[0] != 0 {
		t.Errorf("nothing was released: %+v, %v", c, err)
	}
}
