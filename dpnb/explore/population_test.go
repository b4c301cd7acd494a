package explore_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/explore"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// What is not known for a population is refused before anything is spent, by its reason, and so are people with several
// rows, who are no independent draws.
func TestForPopulationIsRefused(t *testing.T) {
	df := people(50)
	two := towns(2, false).WithSchema(learn.Numeric("id", 0, 9)).PerPerson("id", 2)
	for name, c := range map[string]struct {
		q    explore.Query
		df   learn.DataFrame
		want string
	}{
		"sum": {explore.Sum("age"), df, "these records"}, "count": {explore.Count(), df, "these records"},
		"histogram":    {explore.Histogram("age"), df, "these records"},
		"crosstab":     {explore.Crosstab("city"), df, "these records"},
		"keys":         {explore.Keys("city"), df, "these records"},
		"variance":     {explore.Variance("age"), df, "variances"},
		"description":  {explore.Describe(), df, "variances"},
		"several rows": {explore.Mean("id"), two, `PerPerson("id", 1)`},
	} {
		b := fresh(1, 1e-5)
		if s, err := c.q.ForPopulation().Of(c.df, b.Spend(0.5)); err == nil || s != nil ||
			!strings.Contains(err.Error(), c.want) || spent(t, b) != 0 {
			t.Errorf("%s: %v, %v spent", name, err, spent(t, b))
		}
	}
}

// The share of a category in a population is a mean that is asked ForPopulation: of 400 samples of 500 people, 95 % of
// the intervals have it, to five standard errors, which are 5.4 %. Without ForPopulation far fewer do.
func TestSharesOfAPopulationAreCovered(t *testing.T) {
	const trials, share = 400, 0.3
	covered := map[bool]int{}
	r := rand.New(rand.NewPCG(1, 2))
	for trial := range trials {
		c := frame.Column{Name: "city", Kind: frame.Categorical}
		for range 500 {
			c.Texts = append(c.Texts, []string{"Bern", "Rome"}[min(1, int(r.Float64()/share))])
		}
		table := must.Get(frame.NewTable(c))
		df := learn.FromTable(table).WithSchema(learn.Categorical("city", "Bern", "Rome")).DeriveNumber(
			learn.Numeric("here", 0, 1), func(r learn.Row) float64 {
				if r.Text("city") == "Bern" {
					return 1
				}
				return 0
			}, "city")
		for _, population := range []bool{false, true} {
			q := explore.Mean("here").Noise(learn.Seed(uint64(trial)))
			if population {
				q = q.ForPopulation()
			}
			s := must.Get(q.Of(df, learn.Simulate(0.5, 1e-5)))
			if lower, upper := s.Interval(); lower <= share && share <= upper {
				covered[population]++
			}
		}
	}
	with, without := float64(covered[true])/trials, float64(covered[false])/trials
	t.Logf("%.3f cover, without ForPopulation %.3f", with, without)
	if with < 0.95-0.054 || without > 0.8 {
		t.Errorf("%.3f cover, without ForPopulation %.3f", with, without)
	}
}
