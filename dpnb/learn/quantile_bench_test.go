package learn

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// Median regression without privacy, a million records of 50 features with skewed errors, beside gonum's L-BFGS on the
// same smoothed problem.
func BenchmarkMedian(b *testing.B) {
	const n, d = 1_000_000, 50
	x, y, e, src := matrix.NewDense(n, d, nil), make([]float64, n), make([]float64, n), noise.NewSeeded(1)
	src.Gaussian(x.Data, 1/math.Sqrt(d))
	src.Gaussian(e, 1)
	for i := range y {
		x.Data[i*d] = 1
		y[i] = math.Max(-1, math.Min(1, 0.3*x.Data[i*d+1]-0.2*x.Data[i*d+2]+0.1*math.Expm1(e[i])))
	}
	l := loss.SmoothPinball{Tau: 0.5, Width: nearKink}
	t, s := make([]float64, n), make([]float64, n)
	mean := func(theta []float64) float64 {
		x.Margins(t, theta, 0, n)
		return (l.ValueSlope(s, t, y) + 0.5*nearKink*floats.Dot(theta, theta)) / n
	}
	b.Run("dpnb", func(b *testing.B) {
		design := &frame.Design{Rows: x, Labels: y, RowNorm: matrix.MaxNorm(x), Features: make([]string, d)}
		for range b.N {
			theta := must.Get(plainQuantiles(Quantile{}.spec(), design, 0))
			b.ReportMetric(mean(theta), "loss")
		}
	})
	b.Run("gonum L-BFGS", func(b *testing.B) {
		p := optimize.Problem{Func: mean, Grad: func(g, theta []float64) {
			mean(theta)
			clear(g)
			x.AddScaled(g, s, 0, n)
			floats.AddScaled(g, nearKink, theta)
			floats.Scale(1.0/n, g)
		}}
		for range b.N {
			r := must.Get(optimize.Minimize(p, make([]float64, d), &optimize.Settings{GradientThreshold: 1e-6},
				&optimize.LBFGS{}))
			b.ReportMetric(r.F, "loss")
		}
	})
}
