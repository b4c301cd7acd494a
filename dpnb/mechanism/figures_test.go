package mechanism_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/statistic"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

func TestFiguresStay(t *testing.T) {
	var all strings.Builder
	said := func(values ...any) { fmt.Fprintln(&all, values...) }
	cells := statistic.Cells{{Levels: 3}}
	choices := map[string]mechanism.Choice{"counts": func(eps, delta float64) (mechanism.Mechanism, error) {
		return of(statistic.CalibrateHistogram(cells, eps, delta, true))
	}, "fits": func(eps, delta float64) (mechanism.Mechanism, error) {
		return of(objpert.Calibrate(objpert.Config{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 2, Tolerance: 1e-6,
			Epsilon: eps,
			Delta:   delta, Adjacency: privacy.AddRemove}))
	}, "none": func(float64, float64) (mechanism.Mechanism, error) { return nil, errors.New("none") }}
	golden.Figures(t, "testdata/figures.txt", 1e-6, func(say func(name string, values ...float64)) {
		put := func(name string, values ...any) { say(name, golden.Numbers(values...)...) }
		for _, name := range []string{"counts", "fits", "none"} {
			for _, at := range [][2]float64{{1, 1e-5}, {2, 0}, {0.3, 1e-3}, {0, 1e-5}, {-1, 1e-6}, {1, 1}} {
				for k, choose := range []mechanism.Choice{mechanism.ForReplacement(choices[name]),
					mechanism.ForPeople(3, choices[name]), mechanism.ForPeople(1, choices[name]),
					mechanism.ForPeople(20_000, choices[name])} {
					if name == "fits" && k == 0 && at[0] != 1 {
						continue // dear
					}
					m, err := choose(at[0], at[1])
					if said(name, at, k, err); err != nil {
						continue
					}
					p := must.Get(mechanism.Profile(m))
					put(fmt.Sprint(name, at, k), p.LogDeltaUpper(privacy.Remove, at[0]), p.LogDeltaUpper(privacy.Add,
						at[0]/2),
						m.Feasible(3, 100), m.Validate())
					said(m, fmt.Sprintf("%+v", m.Describe()))
				}
			}
		}
		for _, l := range []mechanism.Law{mechanism.Gaussian, mechanism.Laplace, 7} {
			said(l, l.Validate())
			put("law", l.Cost(2, 3), l.Cost(), l.Variance(1), l.Variance(4), l.Count(10, 2, noise.NewSeeded(1)),
				golden.Rounded(l.Cost(4), 0.25))
			for _, k := range []int{1, 3} {
				sums := make([]float64, k)
				l.Draw(k, noise.NewSeeded(2)).AddRounded(sums, 2, exact.Grid(2))
				put("drawn", sums)
			}
		}
		put("scale", mechanism.Radius(3)-3, golden.Rounded(mechanism.Radius(3), 3), mechanism.Tightened(1e-3, 1e-4),
			golden.Rounded(mechanism.Tightened(1e-3, 0), 1e-3))
		f := mechanism.Facts{Records: 1000, Mu: 0.5, Directions: 6, Bias: 0.3, Typical: 2, BaseRate: 0.2, Features: 9,
			Curves: []matrix.Span{{First: 1, Len: 4}}}
		for _, f := range []mechanism.Facts{f, {Records: 50, Mu: 2, Directions: 3, Bias: 1, Features: 3},
			{Records: 1e6, Mu: 0.1,
				Directions: 100, Features: 100}} {
			for _, classes := range []bool{false, true} {
				put("rule", f.Margin(), f.Ridge(0.25, classes, 0.1), f.Ridge(1, classes, 0), f.Stretch(2, classes),
					f.Stretch(0,
						classes))
			}
		}
	})
	for _, g := range []mechanism.Guarantee{{}, {Epsilon: 1, Delta: 1e-6, Adjacency: privacy.AddRemove},
		{Epsilon: 0.1234567,
			Adjacency: privacy.ReplaceOne}, {Epsilon: 10, Delta: 1e-3, Adjacency: privacy.AddRemove, Rows: 1},
		{Epsilon: 9.999,
			Delta: 0.9e-3, Adjacency: privacy.AddRemove, Rows: 4}, {Epsilon: 12, Delta: 0.5,
			Adjacency: privacy.ReplaceOne},
		{Epsilon: 800, Adjacency: privacy.AddRemove}} {
		said(g.Unit(), "|", g.Words(), "|", g.Warning())
	}
	for _, rows := range []int{0, 1, 10_000, 10_001} {
		said(mechanism.CheckRows(rows))
	}
	for _, v := range []float64{0x1p-101, 0x1p-100, 0x1p100, 0x1p101, math.NaN()} {
		said(mechanism.Scales{{"x", v}}.Check())
	}
	said(mechanism.CheckNorm(2, 1), mechanism.OnlyAddRemove(privacy.ReplaceOne, "it is"), mechanism.OnlyAddRemove(9,
		"it is"),
		mechanism.RowsWithin(2.5), mechanism.Chosen("a"), mechanism.ChosenFrom("a", "b", "c", "d"),
		mechanism.Uncertified(1e-3),
		mechanism.Unsolved(errors.New("an error"), 1e-3), mechanism.Unsolved(nil, 1e-3))
	said(mechanism.Group{}.Validate(), mechanism.Group{Of: statistic.Histogram{}, Rows: 0}.Validate(),
		mechanism.Replaced{}.
			Validate(), mechanism.Replaced{Of: statistic.Histogram{}}.Validate())
	r := &mechanism.Release{Coefficients: []float64{1}}
	said(r.Warning(), r.Simulated(), r.Clone().Coefficients)
	golden.Compare(t, "testdata/said.txt", all.String())
}
