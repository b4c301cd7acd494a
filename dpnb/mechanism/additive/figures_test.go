package additive

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

func TestFiguresStay(t *testing.T) {
	golden.Figures(t, "testdata/figures.txt", 1e-9, func(say func(name string, values ...float64)) {
		put := func(name string, values ...any) { say(name, golden.Numbers(values...)...) }
		for _, c := range []Config{{Columns: columns, Clip: 1, Epsilon: 1, Delta: 1e-6}, {Columns: columns, Clip: 2,
			Classes: true, Bins: 4, Leaves: 2, Rounds: 9, LearningRate: 1, CountShare: 0.3, Epsilon: 0.2, Delta: 1e-3},
			{Columns: columns, Clip: 1, Epsilon: 1, Delta: 1e-6, CountShare: 1}, {Columns: columns, Clip: 1, Epsilon: 1,
				Delta: 1e-6, CountShare: -0.1}, {Columns: columns, Clip: 1, Epsilon: 0, Delta: 1e-6}, {Columns: columns,
				Clip: 1, Epsilon: 1, Delta: 1}, {Clip: 1, Epsilon: 1, Delta: 1e-6},
			{Columns: columns, Clip: 1, Epsilon: math.Inf(1), Delta: 1e-6}, {Columns: columns, Clip: 1, Epsilon: 1},
			{Columns: columns, Epsilon: 1,
				Delta: 1e-6}, {Columns: columns, Clip: 1, Epsilon: 1, Delta: 1e-6, LearningRate: 1.1}} {
			m, err := c.Calibrate()
			if put("calibrated "+m.String(), err); err == nil {
				p := must.Get(mechanism.Profile(m))
				put("costs", m, m.mu(), m.steps(), m.countScale(), p.LogDeltaUpper(privacy.Remove, 0.3), m.Feasible(3,
					2),
					golden.Rounded(m.countScale(), m.CountSigma*1.7320508075688772))
			}
		}
		for _, change := range []func(m *Boosting){func(m *Boosting) { m.Bins = 0 },
			func(m *Boosting) { m.Bins = mostCells / 2 },
			func(m *Boosting) { m.Bins = mostCells/2 + 1 }, func(m *Boosting) { m.Leaves = 0 },
			func(m *Boosting) { m.Leaves = 1 },
			func(m *Boosting) { m.Rounds = mostCells }, func(m *Boosting) { m.Rounds = mostCells + 1 },
			func(m *Boosting) { m.LearningRate = 0 }, func(m *Boosting) { m.LearningRate = 1 },
			func(m *Boosting) { m.Clip = 0 }, func(m *Boosting) { m.SumSigma = -1 },
			func(m *Boosting) { m.CountSigma = 0 },
			func(m *Boosting) { m.Columns = nil }, func(m *Boosting) { m.Columns = []Column{{First: -1, Len: 1}} },
			func(m *Boosting) { m.Columns = []Column{{First: 0, Len: 0}} },
			func(m *Boosting) { m.Columns = []Column{{First: 0, Len: 2, Number: true}} },
			func(m *Boosting) { m.Columns = []Column{{First: 0, Len: mostCells}} },
			func(m *Boosting) { m.Columns = []Column{{First: 0, Len: mostCells + 1}} },
			func(m *Boosting) { m.Columns = make([]Column, mostCells+1) }} {
			m := small
			change(&m)
			_, err := m.Event()
			put("valid", m.Validate(), err)
		}
		put("cells", small.size(columns[0]), small.size(columns[1]), small.first(1), small.first(2), small.Len(),
			small.width())
		small.Each(func(of Column, place, cells int) { put("each", of, place, cells) })
		for _, row := range [][]float64{{0.3, 0, 1, 0, 1}, {-7, 1, 1, 1, 1e300}, {1, 0, 0, 0, 0.999}, {0.125, 0, 0, 2,
			0.124}} {
			for _, c := range columns {
				put("place", int(small.place(c, row)))
			}
		}
		rng := noise.NewSeeded(3)
		x, y, z := matrix.NewDense(300, 5, nil), make([]float64, 300), make([]float64, 300)
		for i := range y {
			row := x.Data[5*i : 5*i+5]
			row[0], row[4] = rng.Float64(), rng.Float64()*rng.Float64()
			if k := int(5 * rng.Float64()); k < 3 {
				row[1+k] = 1
			}
			y[i] = 2*row[0] - row[2] + 0.1*rng.NormFloat64()
			z[i] = 1
			if y[i] < 0.6 {
				z[i] = -1
			}
		}
		placed := small.Placed(x)
		n, d := placed.Dims()
		sums := make([]float64, d)
		placed.AddScaled(sums, y[:n], 0, n)
		say("placed", sums...)
		counts := small.counts(small.of(x, 1), noise.Exact(noise.NewSeeded(2)))
		for k, c := range columns {
			put("counts", counts[k], small.bins(c, counts[k]))
			for range 3 {
				put("split", split(noise.Exact(rng), small.bins(c, counts[k]), 3))
			}
		}
		classes := small
		classes.Classes, classes.Clip, classes.LearningRate = true, 0.7, 1
		for i, of := range []struct {
			m Boosting
			y []float64
		}{{small, y}, {classes, z}} {
			r := must.Get(of.m.Run(x, of.y, noise.NewSeeded(1), &mechanism.Settings{Workers: 1}))
			put(fmt.Sprint("fitted ", i), r.Coefficients, r.NoiseScale, r.Also)
			put("checked", of.m.Check(x, y), of.m.Check(x, z), of.m.Check(matrix.NewDense(300, 4, nil), z))
		}
		put("grid", exact.Grid(small.SumSigma))
	})
}
