package mechanism_test

import (
	"errors"
	"testing"

	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/statistic"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// The count of k rows of one person moves by k, so that the best that can be had is known: σ
// is k times that of one row, with as little lost to rounding as 1e-6, at any k and δ.
func TestGroupsOfCountsAreExact(t *testing.T) {
	cells := statistic.Cells{{Levels: 1}}
	for _, c := range []struct{ eps, delta float64 }{{1, 1e-5}, {0.01, 0.001}, {3, 0}} {
		one, err := statistic.CalibrateHistogram(cells, c.eps, c.delta, true)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range []int{2, 7, 1000} {
			m, err := mechanism.ForPeople(k, func(eps, delta float64) (mechanism.Mechanism, error) {
				return of(statistic.CalibrateHistogram(cells, eps, delta, true))
			})(c.eps, c.delta)
			if err != nil {
				t.Fatal(err)
			}
			h := m.(mechanism.Group).Of.(statistic.Histogram)
			want := float64(k) * (one.Sigma + one.Scale)
			if got := h.Sigma + h.Scale; got < want*(1-1e-12) || got > want*(1+1e-6) {
				t.Errorf("%v, %d rows: the noise is %v, want %v", c, k, got, want)
			}
		}
	}
}

// What is neither Gaussian nor pure is refused, and so are bounds that are none.
func TestGroupsThatAreNotKnown(t *testing.T) {
	keys, err := statistic.SelectionConfig{Keys: 1, Epsilon: 1, Delta: 1e-5}.Calibrate()
	if err != nil {
		t.Fatal(err)
	}
	for _, rows := range []int{2, 100_000} {
		_, err := mechanism.ForPeople(rows, func(float64, float64) (mechanism.Mechanism, error) { return keys, nil })(1,
			1e-5)
		if err == nil || rows == 2 && !errors.Is(err, privacy.ErrUnsupported) {
			t.Errorf("%d rows: %v", rows, err)
		}
	}
	for _, rows := range []int{0, -1, 100_000} {
		if mechanism.CheckRows(rows) == nil || (mechanism.Group{Of: keys, Rows: rows}).Validate() == nil {
			t.Errorf("%d rows are accepted", rows)
		}
	}
}
