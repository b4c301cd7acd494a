package constrained

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/erm/composite"
	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

func TestFiguresStay(t *testing.T) {
	x, y := matrix.NewDense(60, 3, nil), make([]float64, 60)
	for i := range y {
		for j := range 3 {
			x.Data[3*i+j] = 0.5 * math.Sin(float64(7*i+3*j*j))
		}
		y[i] = math.Copysign(1, math.Cos(float64(i)))
	}
	golden.Figures(t, "testdata/figures.txt", 1e-6, func(say func(name string, values ...float64)) {
		put := func(name string, values ...any) { say(name, golden.Numbers(values...)...) }
		for _, eps := range []float64{0.1, 1, 8} {
			sigma, ridge := Theorem51Noise(eps, 1e-5, 1.5, 0.7)
			put(fmt.Sprint("theorem 5.1 ", eps), sigma, ridge, Theorem51Risk(7, sigma, ridge, 2))
		}
		box := composite.Box{Lower: []float64{-1, -2, 0}, Upper: []float64{0.5, 3, 1}}
		for i, c := range []composite.Constraint{box, composite.NewBox(2), composite.Ball{Radius: 3}, composite.Ball{},
			composite.Box{Lower: []float64{0}}, composite.Simplex{}, nil} {
			norm, ok := maxNorm(c, 3)
			put(fmt.Sprint("norm ", i), norm, ok)
			for _, bound := range []float64{2, -1} {
				l, err := BoundedOn(loss.Squared{}, 1.5, bound, c, 3)
				if put("bounded", err); err == nil {
					put("slope", l.Lipschitz())
				}
			}
			_, err := BoundedOn(loss.Logistic{}, 1, 1, c, 3)
			put("logistic", err)
		}
		put("pick", pick(nil, 1), pick([]float64{3}, 2), pick([]float64{3, 4, 5}, 2))
		for _, adjacency := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
			for _, rule := range []Rule{LeastNoise, Theorem51, 7} {
				for _, eps := range []float64{0.3, 2} {
					for _, d := range []int{0, 3} {
						m, err := Calibrate(Config{Loss: loss.Logistic{}, RowNorm: 1, Dimension: d, Epsilon: eps,
							Delta:     1e-5,
							Adjacency: adjacency, Rule: rule, Regulariser: composite.L1{Weight: 0.5}, Tolerance: 1e-11,
							Constraint: composite.NewBox(1.2)})
						put(fmt.Sprint(adjacency, rule, eps, d), m.Lambda, m.Sigma, m.Tolerance, m.OutputSigma,
							m.Bound, err)
						if err != nil {
							continue
						}
						p := must.Get(m.Profile())
						put("its cost", p.LogDeltaUpper(privacy.Remove, eps), p.LogDeltaUpper(privacy.Add, 2*eps),
							m.Feasible(3, 0), m.Feasible(4, 0))
						put("it finds", must.Get(m.Run(x, y, noise.NewSeeded(2), nil)).Coefficients,
							must.Get(m.Simulate(x, y, noise.NewSeeded(3), nil)))
						m.Sigma *= 0.99
						put("less noise", m.Validate())
					}
				}
			}
		}
	})
}
