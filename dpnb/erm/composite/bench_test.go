package composite

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// paperProblem is that of qop's appendix G.3: yᵢ = xᵢᵀθ⋆, rows scaled to [−5, 5], ω = 1, W ~ Wishart(d, 2d), the anchor
// at N(0, 0.1·I) from θ⋆.
func paperProblem(seed uint64, n, d int, sigma2, kappa float64) *Problem {
	rng := rand.New(rand.NewPCG(seed, 77))
	rows := matrix.NewDense(n, d, nil)
	var top float64
	for i := range rows.Data {
		rows.Data[i] = rng.NormFloat64()
		top = math.Max(top, math.Abs(rows.Data[i]))
	}
	for i := range rows.Data {
		rows.Data[i] *= 5 / top
	}
	star, anchor := make([]float64, d), make([]float64, d)
	for j := range d {
		star[j] = rng.NormFloat64()
		anchor[j] = star[j] + math.Sqrt(0.1)*rng.NormFloat64()
	}
	p := &Problem{
		Problem: erm.Problem{Rows: rows, Labels: make([]float64, n), Loss: loss.Squared{},
			Quadratic: wishart(rng, d, 2*d, sigma2), Centre: anchor},
		Regulariser: L1{1},
		Constraint:  NewBox(kappa),
	}
	rows.Margins(p.Labels, star, 0, n)
	return p
}

func BenchmarkPaperProblem(b *testing.B) {
	for _, kappa := range []float64{0.1, 1, 10, 1e4} {
		p := paperProblem(1, 300, 100, 1.1747e5, kappa)
		b.Run(fmt.Sprintf("stochastic/kappa=%g", kappa), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s := must.Get(Stochastic(p, &StochasticSettings{Indices: rand.New(rand.NewPCG(1, 2))}))
				b.ReportMetric(s.Certificate.Bound(), "bound")
			}
		})
		b.Run(fmt.Sprintf("solve/kappa=%g", kappa), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s := must.Get(Solve(p, &Settings{Tolerance: 1}))
				b.ReportMetric(s.Certificate.Bound(), "bound")
				b.ReportMetric(float64(s.Steps), "steps")
				b.ReportMetric(float64(s.Factorisations), "factors")
			}
		})
	}
}

// BenchmarkScaling times the certified solve of qop's problem as d and n grow, to a gradient of 1e-6 of that at the
// origin; and the logistic loss on the same records. The last size takes a minute, and is left out with -short.
func BenchmarkScaling(b *testing.B) {
	for _, c := range []struct{ n, d int }{{300, 100}, {100_000, 100}, {1500, 500}, {100_000, 500}, {6000, 2000},
		{100_000, 2000}} {
		if testing.Short() && c.n*c.d > 1e8 {
			continue // 1.6 GB
		}
		p := paperProblem(1, c.n, c.d, 1.1747e5, 1)
		signs := *p
		signs.Loss, signs.Labels = loss.Logistic{}, make([]float64, c.n)
		for i, y := range p.Labels {
			signs.Labels[i] = math.Copysign(1, y)
		}
		for name, p := range map[string]*Problem{"squared": p, "logistic": &signs} {
			b.Run(fmt.Sprintf("%s/n=%d,d=%d", name, c.n, c.d), func(b *testing.B) {
				g := make([]float64, c.d)
				o := must.Get(newObjective(p, 0))
				o.eval(g, make([]float64, c.d))
				tolerance := 1e-6 * floats.Norm(g, 2)
				for b.Loop() {
					s := must.Get(Solve(p, &Settings{Tolerance: tolerance}))
					b.ReportMetric(float64(s.Passes), "passes")
					b.ReportMetric(float64(s.Steps), "products")
					b.ReportMetric(float64(s.Factorisations), "factors")
				}
			})
		}
	}
}
