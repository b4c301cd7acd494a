package erm

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// BenchmarkMinimize times one fit from nothing to a mean gradient of 1e-7 (logistic, λ = 1, rows of norm 1), beside
// plain gonum on the same problem and by the same stopping rule. memory/data is all that the fit allocated over what
// the records take, plus one.
func BenchmarkMinimize(b *testing.B) {
	for _, c := range []struct{ n, d int }{{32_561, 109}, {48_842, 100}, {1_000_000, 100}} {
		p := simulated(c.n, c.d, 1, 1, 0)
		tolerance := 1e-7 * float64(c.n)
		b.Run(fmt.Sprintf("dpnb/n=%d,d=%d", c.n, c.d), func(b *testing.B) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for b.Loop() {
				s := must.Get(Minimize(p, &Settings{Tolerance: tolerance}))
				b.ReportMetric(float64(s.Passes), "passes")
			}
			runtime.ReadMemStats(&after)
			b.ReportMetric(1+float64(after.TotalAlloc-before.TotalAlloc)/float64(b.N*8*c.n*c.d), "memory/data")
		})
		b.Run(fmt.Sprintf("gonum/n=%d,d=%d", c.n, c.d), func(b *testing.B) {
			for b.Loop() {
				plainGonum(b, p, tolerance)
			}
		})
	}
}

// plainGonum is optimize.LBFGS with whole-matrix products; value and gradient at one point are computed once. Its
// stopping rule is weaker than ours, as it looks at the largest entry of the gradient.
func plainGonum(b *testing.B, p *Problem, tolerance float64) {
	rows := p.Rows.(*matrix.Dense)
	a := blas64.General{Rows: rows.N, Cols: rows.D, Stride: rows.D, Data: rows.Data}
	v := func(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }
	t, s := make([]float64, rows.N), make([]float64, rows.N)
	at, grad := make([]float64, rows.D), make([]float64, rows.D)
	var value float64
	first := true
	eval := func(x []float64) {
		if !first && floats.Equal(at, x) {
			return
		}
		first = false
		copy(at, x)
		blas64.Gemv(blas.NoTrans, 1, a, v(x), 0, v(t))
		value = loss.Logistic{}.ValueSlope(s, t, p.Labels) + 0.5*p.Lambda*floats.Dot(x, x)
		floats.ScaleTo(grad, p.Lambda, x)
		blas64.Gemv(blas.Trans, 1, a, v(s), 1, v(grad))
	}
	must.Get(optimize.Minimize(optimize.Problem{
		Func: func(x []float64) float64 { eval(x); return value },
		Grad: func(g, x []float64) { eval(x); copy(g, grad) },
	}, make([]float64, rows.D), &optimize.Settings{GradientThreshold: tolerance}, &optimize.LBFGS{}))
}

// BenchmarkMethods compares the methods on dense and sparse records of one shape.
func BenchmarkMethods(b *testing.B) {
	dense := simulated(20_000, 60, 1, 5, 0)
	wide := sparseProblem(20_000, 5000, 20, 1)
	for _, m := range []Method{Auto{}, LBFGS{}, NewtonCG{}, SAG{}, SVRG{}} {
		for name, p := range map[string]*Problem{"dense": dense, "sparse": wide} {
			if _, sag := m.(SAG); sag && name == "sparse" {
				continue // a step costs O(d)
			}
			if _, svrg := m.(SVRG); svrg && name == "sparse" {
				continue
			}
			b.Run(m.Name()+"/"+name, func(b *testing.B) {
				for b.Loop() {
					s := must.Get(Minimize(p, &Settings{Method: m, Tolerance: 1e-5}))
					n, _ := p.Rows.Dims()
					b.ReportMetric(float64(s.Gradients+s.Products)/float64(n), "evaluations/n")
				}
			})
		}
	}
}

// BenchmarkPass is one evaluation of J and ∇J beside the mere reading of the records by as many workers: the bound is
// the bandwidth of the memory.
func BenchmarkPass(b *testing.B) {
	p := simulated(400_000, 100, 1, 1, 0)
	data := p.Rows.(*matrix.Dense).Data
	b.Run("evaluation", func(b *testing.B) {
		e := newEvaluator(p, 0)
		e.norms = false
		g, x := make([]float64, 100), make([]float64, 100)
		b.SetBytes(int64(8 * len(data)))
		for b.Loop() {
			e.eval(g, x)
		}
	})
	b.Run("reading", func(b *testing.B) {
		workers := runtime.GOMAXPROCS(0)
		b.SetBytes(int64(8 * len(data)))
		for b.Loop() {
			var wg sync.WaitGroup
			for w := range workers {
				wg.Go(func() { floats.Sum(data[w*len(data)/workers : (w+1)*len(data)/workers]) })
			}
			wg.Wait()
		}
	})
}
