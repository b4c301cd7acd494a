package statistic

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

func TestFiguresStay(t *testing.T) {
	one, other := Number{-1, 5}, Number{0.5, 200}
	both := []Number{one, other}
	cells2 := Cells{{Levels: 3}, {Edges: []float64{-1, 0, 2.5, 5}}}
	columns := [][]float64{make([]float64, 300), make([]float64, 300)}
	for i := range 300 {
		columns[0][i], columns[1][i] = math.Mod(0.37*float64(i), 6)-0.9, 3+math.Mod(11.3*float64(i), 190)
	}
	columns[0][5], columns[0][6], columns[1][7] = math.NaN(), 9, -4
	golden.Figures(t, "testdata/figures.txt", 1e-9, func(say func(name string, values ...float64)) {
		put := func(name string, values ...any) { say(name, golden.Numbers(values...)...) }
		event := func(name string, m Mechanism) {
			e, err := m.Event()
			if put(name, e, err); err == nil {
				p := must.Get(e.Profile(privacy.AddRemove))
				put("its profile", p.LogDeltaUpper(privacy.Remove, 0.4), p.LogDeltaUpper(privacy.Add, 0.9))
			}
			put("its release", release(m, columns[:m.Columns()]))
		}
		for _, sampling := range []bool{false, true} {
			for _, q := range []ratio{{sum: 30, count: 90, sumDeviation: 5, countDeviation: 8}, {sum: 3, count: -9,
				laplace: 4},
				{sum: 30, count: 90, laplace: 5}, {sum: -80, count: 79, laplace: 0.5}, {sum: 5, count: 900,
					sumDeviation: 1}} {
				for _, confidence := range []float64{0.5, 0.95, 0.9999} {
					q.confidence, q.sampling = confidence, sampling
					put("ratio", q.solve(), q.within(0), q.within(0.7), q.within(-1), q.deviation())
				}
			}
		}
		put("tails", laplaceTail(1, 2, 3), laplaceTail(1, 1.000001, 3), laplaceTail(0, 2, 3), normalTail(1e-30),
			normalTail(0.4), normalQuantile(0.05), Histogram{Scale: 0.5}.Deviation(), Histogram{Scale: 7}.Deviation(),
			geometricMargin(7, 0.05), geometricMargin(0.1, 0.9))
		for _, x := range []float64{-3, -1, 0.2, 7, 1e6, math.NaN()} {
			q := Quantiles{Of: other, Log: true}
			put(fmt.Sprint("number ", x), one.unit(x), one.Value(x), Axis{Levels: 3}.place(x), cells2[1].place(x),
				q.cell(x),
				Quantiles{Of: one}.cell(x), q.value(x), round(x/1e4))
		}
		for _, b := range []Number{{1, 1}, {2, 1}, {0, math.Inf(1)}, {-1e300, 1e300}, {0, 1e-300}} {
			put("bounds", b.validate())
		}
		for _, budget := range []struct {
			eps, delta float64
			byMu       bool
		}{{0.1, 0, false}, {1, 1e-6, false}, {1, 1e-6, true}, {8, 1e-6, false}, {0, 0, false}, {1001, 0, false}, {1,
			1, false}} {
			eps, delta, byMu := budget.eps, budget.delta, budget.byMu
			name := fmt.Sprint(eps, " ", delta, byMu)
			if h, err := CalibrateHistogram(cells2, eps, delta, byMu); err == nil {
				event("histogram "+name, h)
				put("its noise", h.Sigma, h.Scale, h.Deviation(), h.Margin(0.95), h.Margin(0.5))
			} else {
				put("histogram "+name, err)
			}
			if q, err := CalibrateQuantiles(Quantiles{Of: one, Levels: []float64{0.1, 0.5, 0.6}}, eps, delta,
				byMu); err == nil {
				event("quantiles "+name, q)
				put("their ranks", q.rankDeviations(), q.kappas(), q.ranksOff(0.9, 1e3, false), q.ranksOff(0.9,
					1e3, true),
					q.HalfWidths(0.9, 1e3, false), q.HalfWidths(0.9, 50, true), q.rounds())
				for _, sampling := range []bool{false, true} {
					put("estimates", q.Estimates(release(q, columns[:1]), 0.9, sampling))
				}
			} else {
				put("quantiles "+name, err)
			}
			if s, err := CalibrateSummary(both, []bool{false, true}, eps, delta, byMu); err == nil {
				event("summary "+name, s)
			} else {
				put("summary "+name, err)
			}
			for k, of := range []Summand{Means{Of: both}, Moments{Of: both}, Moments{Of: both, Products: true},
				Total{one},
				Grouped{Total{other}, Cells{{Levels: 3}}}} {
				m, err := LeastNoise(func(law Law) Summand {
					switch of := of.(type) {
					case Means:
						of.For = law
						return of
					case Moments:
						of.For = law
						return of
					}
					return of
				}, eps, delta, byMu)
				if put(fmt.Sprint("sums ", k, " ", name), m.Law, m.Scale, err); err != nil {
					continue
				}
				event(m.String(), m)
				put("norms", m.Of.Norm(Gaussian), m.Of.Norm(Laplace), m.Of.Error(m), m.deviation(), m.Of.Len(),
					m.Of.Columns())
				r := release(m, columns[:m.Columns()])
				switch of := m.Of.(type) {
				case Means:
					put("means", of.Estimates(m.Scale, r, 0.9, false), of.Estimates(m.Scale, r, 0.9, true),
						precision(of, m.Scale, false), precision(of, m.Scale, true))
				case Moments:
					put("moments", of.weights(), of.Count(m, r, 0.9), of.Mean(m, r, 0.9, 1), of.Variance(m, r,
						0.9, 0),
						of.Even(50), of.Farthest(50))
					if of.Products {
						put("correlation", of.Correlation(m, r, 0.9, 0, 1), of.Correlation(m, of.Even(1e4), 0.9,
							1, 0))
					}
				case Total:
					put("total", of.Estimate(m, r, 0.9), of.most())
				}
			}
			for _, keys := range []int{0, 1, 4, 1001} {
				m, err := SelectionConfig{Keys: keys, Epsilon: eps, Delta: delta, Normal: byMu,
					Own: delta / 2}.Calibrate()
				if put(fmt.Sprint("selection ", keys, " ", name), m, err); err != nil {
					continue
				}
				e := must.Get(m.Event())
				p := must.Get(e.Profile(privacy.AddRemove))
				put("its cost", p.LogDeltaUpper(privacy.Remove, eps/2), p.LogDeltaUpper(privacy.Add, eps),
					m.Deviation(),
					m.Margin(0.9))
				r := must.Get(m.Release([]int64{3, 0, 1000, 40, 20}, noise.NewSeeded(4)))
				put("it shows", r.Also.(*Selected).Places, r.Also.(*Selected).Counts)
			}
		}
		g := geometricSelection(3, 1, 1e-6)
		put("edge", g, g.logEdge())
		for _, q := range []Quantiles{{Of: one}, {Of: other}, {Of: Number{-1e9, 3e9}}, {Of: Number{0, 1e-7}},
			{Of: Number{1e20, 1e20 + 1e10}}, {Of: other, Log: true}} {
			r := q.roundNumbers()
			put("round numbers", len(r.cell), r.before[len(r.before)-1], r.more(1000, 400000), r.from(5000))
		}
		for _, u := range []uint128{{0, 5}, {3, 1 << 63}} {
			put("wide", u.shift(-2), u.shift(3), u.shift(70), u.times(9), u.plus(u), u.below(noise.NewSeeded(1)),
				u.less(uint128{3, 0}))
		}
		for _, of := range []Summand{Means{both, Gaussian}, Moments{Of: both, For: Gaussian, Products: true},
			Total{one}} {
			g, l := must.Get(CalibrateSums(of, Gaussian, 1, 1e-6)), must.Get(CalibrateSums(of, Laplace, 1, 0))
			put("rounded", golden.Rounded(l.Scale, of.Norm(Laplace)), golden.Rounded(g.Scale,
				must.Get(privacy.GaussianSigma(1, 1e-6))*of.Norm(Gaussian)))
		}
		put("axes", Cells{}.Validate(), cells2.Validate(), Cells{{Levels: 1 << 21}}.Validate(), cells2.Len(),
			Cells{{Levels: math.MaxInt}, {Levels: 2}}.Len(), Axis{}.validate(), Axis{Edges: []float64{1, 1}}.validate())
		rows := matrix.NewDense(4, 1, []float64{1, 2, 3, 4})
		put("check", check(Sums{Total{one}, Laplace, 1}, rows, make([]float64, 4)),
			check(Sums{Means{both, Laplace}, Laplace, 1}, rows, make([]float64, 4)))
	})
}

// release is what a mechanism releases of the columns, by a seed.
func release(m Mechanism, columns [][]float64) []float64 {
	tally := m.Tally()
	tally.Add(columns)
	return append([]float64(nil), tally.Release(noise.NewSeeded(3))...)
}

// precision is what m foretells of 500 records.
func precision(m Means, scale float64, sampling bool) []float64 {
	widest, middle := m.Precision(scale, 500, 0.9, sampling)
	return []float64{widest, middle}
}
