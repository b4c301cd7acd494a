package statistic

import (
	"math"
	"slices"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/limits"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

func TestLimits(t *testing.T) {
	unit, cells := Number{-1, 1}, Cells{{Levels: 1}}
	limits.Check(t, Histogram{Of: cells, Sigma: 1}, Histogram.Validate, limits.Scale("Sigma"))
	limits.Check(t, Histogram{Of: cells, Scale: 1}, Histogram.Validate, limits.In("Scale", 0x1p-20, 0x1p40),
		limits.In("Sigma", 0, 0))
	limits.Check(t, Quantiles{Of: unit, Levels: []float64{0.5}, Eta: 1}, Quantiles.Validate,
		limits.In("Eta", leastEta, mostEta))
	limits.Check(t, Sums{Means{[]Number{unit}, Laplace}, Laplace, 1}, Sums.Validate, limits.Scale("Scale"),
		limits.In("Law", float64(Gaussian), float64(Laplace)))
	limits.Check(t, Means{[]Number{unit}, Gaussian}, Means.Validate,
		limits.In("For", float64(Gaussian), float64(Laplace)))
	limits.Check(t, Selection{Keys: 1, Sigma: 1, Threshold: 2}, Selection.Validate, limits.In("Keys", 1, mostKeys),
		limits.In("Threshold", 1, 1<<53*exact.Grid(1)-exact.Grid(1)))
	limits.Check(t, Selection{Keys: 1, Scale: 1, Threshold: 2}, Selection.Validate, limits.In("Threshold", 1, 1<<50-1),
		limits.In("Sigma", 0, 0), limits.In("Scale", 0x1p-20, 0x1p40))
	limits.Check(t, SelectionConfig{Keys: 1, Epsilon: 1, Delta: 1e-6, Normal: true},
		func(c SelectionConfig) error { _, err := c.Calibrate(); return err },
		limits.In("Epsilon", limits.None, 1e3), limits.In("Own", limits.None, 1e-6))
	levels := func(q ...float64) error { return Quantiles{Of: unit, Levels: q, Eta: 1}.Validate() }
	edges := func(e ...float64) error { return Cells{{Edges: e}}.Validate() }
	many := slices.Repeat([]Number{unit}, mostColumns+1)
	threshold := func(m Selection, at float64) error { m.Keys, m.Threshold = 1, at; return m.Validate() }
	geometric, normal := Selection{Scale: 1}, Selection{Sigma: 1}
	sums := func(groups int) error { return Grouped{Total{unit}, Cells{{Levels: groups}}}.Validate() }
	costs := map[string]func(eps float64) error{
		"histogram": func(eps float64) error { _, err := CalibrateHistogram(cells, eps, 0, false); return err },
		"quantiles": func(eps float64) error {
			_, err := CalibrateQuantiles(Quantiles{Of: unit, Levels: []float64{0.5}}, eps, 0, false)
			return err
		},
		"summary": func(eps float64) error {
			_, err := CalibrateSummary([]Number{unit}, []bool{false}, eps, 0, false)
			return err
		},
	}
	for name, cost := range costs {
		limits.Pairs(t, map[string][2]error{"most of " + name: {cost(1000), cost(limits.Above(1000))},
			"least of " + name: {cost(1e-3), cost(0)}})
	}
	limits.Pairs(t, map[string][2]error{
		"first level":  {levels(1e-6), levels(limits.Below(1e-6))},
		"last level":   {levels(1 - 1e-6), levels(limits.Above(1 - 1e-6))},
		"levels apart": {levels(0.25, 0.25+1.1e-6), levels(0.25, 0.25+0.9e-6)},
		"columns":      {Means{many[1:], Laplace}.Validate(), Means{many, Laplace}.Validate()},
		"products":     {Moments{many[:200], Laplace, true}.Validate(), Moments{many[:201], Laplace, true}.Validate()},
		"no products":  {Moments{many[:201], Laplace, false}.Validate(), Means{nil, Laplace}.Validate()},
		"edges":        {edges(0, 1), edges(0)}, "edges that tie": {edges(-1, 0, 5), edges(0, 1, 1)},
		"edges, levels": {cells.Validate(), Cells{{Levels: 1, Edges: []float64{0, 1}}}.Validate()},
		"cells":         {Cells{{Levels: MostCells}}.Validate(), Cells{{Levels: MostCells}, {Levels: 2}}.Validate()},
		"geometric":     {threshold(geometric, 1<<50-1), threshold(geometric, 1<<50)},
		"normal":        {threshold(normal, 1<<53*exact.Grid(1)-exact.Grid(1)), threshold(normal, 1<<53*exact.Grid(1))},
		"off the grid":  {threshold(normal, 2+exact.Grid(1)), threshold(normal, 2+exact.Grid(1)/2)},
		"whole":         {threshold(geometric, 1), threshold(geometric, 1.5)},
		"groups":        {sums(MostCells / Total{unit}.Len()), sums(MostCells/Total{unit}.Len() + 1)},
		"bounds":        {Number{0, 0x1p-99}.validate(), Number{1, 1}.validate()},
	})
}

// What is calibrated costs what was asked for and no less, by either law, and by μ where that is what counts.
func TestCalibratedCosts(t *testing.T) {
	columns := []Number{{-1, 1}, {0, 5}}
	means := func(law Law) Summand { return Means{columns, law} }
	for _, c := range []struct {
		eps, delta float64
		mu         bool
	}{{0.5, 0, false}, {0.5, 1e-6, false}, {0.5, 1e-6, true}, {4, 0, false}, {4, 1e-6, true}} {
		all := map[string]mechanism.Mechanism{
			"histogram": must.Get(CalibrateHistogram(Cells{{Levels: 3}}, c.eps, c.delta, c.mu)),
			"means":     must.Get(LeastNoise(means, c.eps, c.delta, c.mu)),
			"groups": must.Get(LeastNoise(func(law Law) Summand {
				return Grouped{Moments{columns, law, true}, Cells{{Levels: 3}}}
			}, c.eps, c.delta, c.mu)),
			"quantiles": must.Get(CalibrateQuantiles(Quantiles{Of: columns[0], Levels: []float64{0.25, 0.5, 0.75}},
				c.eps, c.delta, c.mu)),
			"summary": must.Get(CalibrateSummary(columns, []bool{false, true}, c.eps, c.delta, c.mu)),
		}
		rows := matrix.NewDense(2, 4, []float64{0, 0.5, 1, 0, 1, -0.5, 2, 0})
		for name, m := range all {
			p := must.Get(mechanism.Profile(m))
			if d := privacy.DeltaUpper(p, c.eps); d > c.delta {
				t.Errorf("%+v, %s: %v costs δ = %g", c, name, m, d)
			}
			if d := privacy.DeltaUpper(p, 0.98*c.eps); d <= c.delta && !(c.mu && name == "quantiles") {
				t.Errorf("%+v, %s: %v costs less", c, name, m)
			}
			if m.Feasible(4, 2) != nil || m.Check(rows, []float64{0, 0}) != nil ||
				m.Check(rows, []float64{0}) == nil || m.Check(nil, nil) == nil {
				t.Errorf("%s: what records are admitted", name)
			}
			tally := m.(Mechanism).Tally()
			tally.Add([][]float64{{0, 1}, {0.5, -0.5}, {1, 2}, {0, 0}}[:m.(Mechanism).Columns()])
			want := tally.Release(noise.NewSeeded(1))
			if r, err := m.Run(rows, []float64{0, 0}, noise.NewSeeded(1), nil); err != nil ||
				!slices.Equal(r.Coefficients, want) {
				t.Errorf("%s: %v is released, %v by its tally, %v", name, r, want, err)
			}
		}
		s := all["means"].(Sums)
		if r := must.Get(s.Run(rows, []float64{0, 0}, noise.NewSeeded(1), nil)); r.NoiseScale != s.deviation() ||
			s.Law == Laplace && r.NoiseScale != math.Sqrt2*s.Scale || s.Law == Gaussian && r.NoiseScale != s.Scale {
			t.Errorf("%v: noise of %g", s, r.NoiseScale)
		}
		if c.mu && (s.Law != Gaussian || all["histogram"].(Histogram).Sigma == 0 ||
			all["summary"].(Summary).Law != Gaussian) {
			t.Errorf("%+v: where μ counts noise is to be Gaussian: %v", c, all)
		}
	}
}
