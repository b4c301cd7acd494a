package explore_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/explore"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/learn"
)

type adds = func(explore.Adding, func([]byte) error) error

// elsewhere adds up the rows of a table in parts, told what by JSON, and leaves out so many rows.
func elsewhere(df learn.DataFrame, lost int) func() (adds, error) {
	return func() (adds, error) {
		return func(a explore.Adding, each func([]byte) error) error {
			text, err := json.Marshal(a)
			if err != nil {
				return err
			}
			table, err := df.Table()
			if err != nil {
				return err
			}
			for _, part := range []*frame.Table{table.Slice(1700, table.Rows()-lost), table.Slice(0, 1700)} {
				var told explore.Adding
				if err := json.Unmarshal(text, &told); err != nil {
					return err
				}
				b, err := told.Tally(part)
				if err == nil {
					err = each(b)
				}
				if err != nil {
					return err
				}
			}
			return nil
		}, nil
	}
}

// Every question that is counts and sums has, added up in parts elsewhere, the answer that it has here, of
// one seed; and another if rows are missing.
func TestTalliedElsewhere(t *testing.T) {
	df := people(5000).Drop("flag")
	for name, q := range map[string]explore.Query{
		"mean": explore.Mean("age"), "sum": explore.Sum("age"), "count": explore.Count(),
		"quantiles": explore.QuantilesOf("age", 0.1, 0.5), "variance": explore.Variance("age"),
		"histogram": explore.Histogram("age"), "categories": explore.Histogram("city"),
		"by": explore.Mean("age").By("city"), "crosstab": explore.Crosstab("city"),
	} {
		for _, delta := range []float64{0, 1e-6} {
			answer := func(q explore.Query) string {
				s, err := q.Noise(learn.Seed(4)).Of(df, learn.Simulate(2, delta))
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				text, _ := json.Marshal(s.Rows())
				return string(text)
			}
			here := answer(q)
			if there := answer(q.TalliedBy(elsewhere(df, 0))); there != here {
				t.Errorf("%s: %s there, %s here", name, there, here)
			}
			if less := answer(q.TalliedBy(elsewhere(df, 500))); less == here {
				t.Errorf("%s: rows that are missing go unnoticed", name)
			}
		}
	}
}

// What cannot be added up elsewhere is refused, and so is a place that cannot be reached: before the charge.
func TestElsewhereIsRefusedBeforeTheCharge(t *testing.T) {
	b, df := fresh(1, 1e-6), people(500)
	unreached := func() (adds, error) { return nil, errors.New("nobody answers") }
	for want, ask := range map[string]func() (*explore.Statistic, error){
		"nobody answers": func() (*explore.Statistic, error) {
			return explore.Mean("age").TalliedBy(unreached).Of(df, b.Spend(0.5))
		},
		"which rows of a person": func() (*explore.Statistic, error) {
			return explore.Mean("age").TalliedBy(elsewhere(df, 0)).Of(df.PerPerson("flag", 2), b.Spend(0.5))
		},
		"on this machine": func() (*explore.Statistic, error) {
			return explore.Keys("city").TalliedBy(elsewhere(df, 0)).Of(df, b.Spend(0.5))
		},
	} {
		if _, err := ask(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if e := spent(t, b); e != 0 {
		t.Errorf("spent %v", e)
	}
}
