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

// Of every parameter the ends of its range are admitted, and what is next to them is not.
func TestLimits(t *testing.T) {
	unit := Number{-1, 1}
	cells := Cells{{Levels: 1}}
	limits.Check(t, Histogram{Of: cells, Sigma: 1}, Histogram.Validate, limits.In("Sigma", 0x1p-100, 0x1p100))
	limits.Check(t, Histogram{Of: cells, Scale: 1}, Histogram.Validate, limits.In("Scale", 0x1p-20, 0x1p40),
		limits.In("Sigma", 0, 0))
	limits.Check(t, Quantiles{Of: unit, Levels: []float64{0.5}, Eta: 1}, Quantiles.Validate,
		limits.In("Eta", leastEta, mostEta))
	for _, law := range []Law{Gaussian, Laplace} {
		limits.Check(t, Sums{Means{[]Number{unit}, law}, law, 1}, Sums.Validate, limits.In("Scale", 0x1p-100, 0x1p100),
			limits.In("Law", float64(Gaussian), float64(Laplace)))
	}
	limits.Check(t, Means{[]Number{unit}, Gaussian}, Means.Validate,
		limits.In("For", float64(Gaussian), float64(Laplace)))
	most := 1<<53*exact.Grid(1) - exact.Grid(1)
	limits.Check(t, Selection{Keys: 1, Sigma: 1, Threshold: 2}, Selection.Validate, limits.In("Keys", 1, mostKeys),
		limits.In("Sigma", limits.None, limits.None), limits.In("Threshold", 1, most))
	limits.Check(t, Selection{Keys: 1, Scale: 1, Threshold: 2}, Selection.Validate, limits.In("Threshold", 1, 1<<50-1),
		limits.In("Sigma", 0, 0), limits.In("Scale", 0x1p-20, 0x1p40))

	// What is asked of ε by those who calibrate.
	for name, calibrate := range map[string]func(eps float64) error{
		"histogram": func(eps float64) error { _, err := CalibrateHistogram(cells, eps, 0, false); return err },
		"quantiles": func(eps float64) error {
			_, err := CalibrateQuantiles(Quantiles{Of: unit, Levels: []float64{0.5}}, eps, 0, false)
			return err
		},
		"summary": func(eps float64) error {
			_, err := CalibrateSummary([]Number{unit}, []bool{false}, eps, 0, false)
			return err
		},
		"selection": func(eps float64) error {
			_, err := SelectionConfig{Keys: 1, Epsilon: eps, Delta: 1e-6, Normal: true}.Calibrate()
			return err
		},
	} {
		if err := calibrate(1000); err != nil {
			t.Errorf("%s, ε = 1000: %v", name, err)
		}
		for _, eps := range []float64{math.NaN(), -1, 0, limits.Above(1000), math.Inf(1)} {
			if calibrate(eps) == nil {
				t.Errorf("%s: ε = %v is admitted", name, eps)
			}
		}
	}
	for _, own := range []float64{0, 5e-7, 1e-6} {
		if m := selection(t, SelectionConfig{Keys: 1, Epsilon: 1, Delta: 1e-6, Own: own}); m.Keys != 1 {
			t.Errorf("%+v", m)
		}
	}
	for _, own := range []float64{math.NaN(), -1e-9, limits.Above(1e-6)} {
		if _, err := (SelectionConfig{Keys: 1, Epsilon: 1, Delta: 1e-6, Own: own}).Calibrate(); err == nil {
			t.Errorf("Own = %v is admitted", own)
		}
	}

	// Lists: how long they may be, and what is in them.
	levels := func(q ...float64) error { return Quantiles{Of: unit, Levels: q, Eta: 1}.Validate() }
	many := make([]float64, mostLevels)
	for i := range many {
		many[i] = float64(i+1) / (mostLevels + 1)
	}
	columns := slices.Repeat([]Number{unit}, mostColumns+1)
	for name, c := range map[string]struct{ fine, bad error }{
		"levels":       {levels(many...), levels(append(many, limits.Below(1))...)},
		"first level":  {levels(1e-6), levels(limits.Below(1e-6))},
		"last level":   {levels(1 - 1e-6), levels(limits.Above(1 - 1e-6))},
		"levels apart": {levels(0.25, 0.25+1.1e-6), levels(0.25, 0.25+0.9e-6)},
		"columns":      {Means{columns[1:], Laplace}.Validate(), Means{columns, Laplace}.Validate()},
		"products": {Moments{columns[:200], Laplace, true}.Validate(),
			Moments{columns[:201], Laplace, true}.Validate()},
		"no products":    {Moments{columns[:201], Laplace, false}.Validate(), Means{nil, Laplace}.Validate()},
		"edges":          {Cells{{Edges: []float64{0, 1}}}.Validate(), Cells{{Edges: []float64{0}}}.Validate()},
		"edges that tie": {Cells{{Edges: []float64{-1, 0, 5}}}.Validate(), Cells{{Edges: []float64{0, 1, 1}}}.Validate()},
		"edges, levels":  {Cells{{Levels: 1}}.Validate(), Cells{{Levels: 1, Edges: []float64{0, 1}}}.Validate()},
		"cells":          {Cells{{Levels: MostCells}}.Validate(), Cells{{Levels: MostCells}, {Levels: 2}}.Validate()},
		"no cells":       {Cells{{Levels: 1}, {Levels: 1}}.Validate(), Cells{}.Validate()},
		"bounds":         {Number{0, 0x1p-99}.validate(), Number{1, 1}.validate()},
		"far bounds":     {Number{-0x1p100, 0x1p100}.validate(), Number{-0x1p101, 0x1p100}.validate()},
		"log": {Summary{columns[:1], []bool{true}, Laplace, 1, 1}.Validate(),
			Summary{columns[:2], []bool{true}, Laplace, 1, 1}.Validate()},
	} {
		if c.fine != nil || c.bad == nil {
			t.Errorf("%s: %v is refused, %v is not", name, c.fine, c.bad)
		}
	}
}

// What is calibrated costs what was asked for and no less, by either law, and by μ where that is what counts.
func TestCalibratedCosts(t *testing.T) {
	columns := []Number{{-1, 1}, {0, 5}}
	for _, c := range []struct {
		eps, delta float64
		mu         bool
	}{{0.5, 0, false}, {0.5, 1e-6, false}, {0.5, 1e-6, true}, {4, 0, false}, {4, 1e-6, true}} {
		all := map[string]mechanism.Mechanism{
			"histogram": must.Get(CalibrateHistogram(Cells{{Levels: 3}}, c.eps, c.delta, c.mu)),
			"means":     must.Get(LeastNoise(func(law Law) Summand { return Means{columns, law} }, c.eps, c.delta, c.mu)),
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
			if m.Check(rows, []float64{0, 0}) != nil || m.Check(rows, []float64{0}) == nil || m.Check(nil, nil) == nil ||
				m.Feasible(4, 2) != nil {
				t.Errorf("%s: what records are admitted", name)
			}
			if r, err := m.Run(rows, []float64{0, 0}, noise.NewSeeded(1), nil); err != nil || len(r.Coefficients) == 0 {
				t.Errorf("%s: %v", name, err)
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
