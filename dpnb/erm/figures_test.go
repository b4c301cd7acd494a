package erm

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// figuresOf returns n records of d features with labels of two classes, of which some entries are zero.
func figuresOf(n, d int) (*matrix.Dense, []float64) {
	rng := noise.NewSeeded(uint64(n + d))
	x, y := matrix.NewDense(n, d, nil), make([]float64, n)
	for i := range y {
		for j := range d {
			if x.Data[d*i+j] = rng.Float64() - 0.4; rng.Float64() < 0.5 {
				x.Data[d*i+j] = 0
			}
		}
		y[i] = math.Copysign(1, x.Data[d*i]+0.3*(rng.Float64()-0.5))
	}
	return x, y
}

// sparseOf returns rows without their zeros.
func sparseOf(x *matrix.Dense) *matrix.CSR {
	m := &matrix.CSR{N: x.N, D: x.D, Starts: []int{0}}
	for i, v := range x.Data {
		if v != 0 {
			m.Columns, m.Values = append(m.Columns, int32(i%x.D)), append(m.Values, v)
		}
		if i%x.D == x.D-1 {
			m.Starts = append(m.Starts, len(m.Values))
		}
	}
	return m
}

func TestFiguresStay(t *testing.T) {
	x, y := figuresOf(700, 5)
	classes := make([]float64, len(y))
	for i := range classes {
		classes[i] = float64(i % 3)
	}
	quadratic := mat.NewSymDense(5, []float64{2, 1, 0, 0, 0, 1, 2, 0.5, 0, 0, 0, 0.5, 3, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0,
		0, 1})
	plain := Problem{Rows: x, Labels: y, Loss: loss.Logistic{}, Lambda: 2}
	full := plain
	full.Shrinkage, full.Linear = []float64{0, 1, 2, 0, 0.5}, []float64{3, -1, 0, 2, 1}
	full.Quadratic, full.Centre = quadratic, []float64{1, 0, -1, 0.5, 0}
	huber, sparse, softmax, wide := plain, full, plain, plain
	huber.Loss, sparse.Rows = loss.PseudoHuber{Threshold: 0.4}, sparseOf(x)
	softmax.Loss, softmax.Joint, softmax.Labels = nil, loss.Softmax{Classes: 3}, classes
	softmax.Linear = make([]float64, 15)
	softmax.Linear[4], softmax.Linear[9] = 5, -2
	few, labels := figuresOf(20, 60)
	wide.Rows, wide.Labels = few, labels
	moved := plain
	shift, scale := []float64{0.1, 0, 0.3, 0, -0.2}, make([]float64, len(y))
	for i := range scale {
		scale[i] = 1 + float64(i%3)/2
	}
	moved.Rows = &matrix.Affine{Base: x, A: scale, U: shift, Bias: 0.3}
	problems := []Problem{plain, full, huber, sparse, softmax, wide, moved}
	golden.Figures(t, "testdata/figures.txt", 1e-9, func(say func(name string, values ...float64)) {
		put := func(name string, values ...any) { say(name, golden.Numbers(values...)...) }
		for i, p := range problems {
			e := newEvaluator(&p, 1)
			theta, grad := make([]float64, e.size), make([]float64, e.size)
			for j := range theta {
				theta[j] = math.Sin(float64(3*j) + 1)
			}
			value, rounding := e.eval(grad, theta)
			put(fmt.Sprint("problem ", i), value, rounding, grad[:5], e.maxNorm, e.slopes, e.block, e.direct, e.period,
				len(e.chunks), e.sumDepth, e.smoothness(), e.depth(30), e.preciseDepth(30), e.roundingBound(5, 2, 3),
				nonzeros(e.forms), e.factorable(), p.Size(), p.Validate())
			product := make([]float64, e.size)
			e.hessian(product, grad)
			put("product", product[:5], e.passes, e.gradients, e.products)
			precise := newPrecise(e)
			at, g := dd.NewVector(e.size), dd.NewVector(e.size)
			copy(at.Hi, theta)
			put("precise", precise.gradient(g, at), g.Hi[:5], precise.sumDepth, precise.roundingBound(3, 2))
			r := newSearch(&p, Settings{Workers: 1})
			must.Get(r.begin())
			put("search", r.s.Tolerance, r.best.Certificate.Distance, r.best.Certificate.Gap, r.wholePays(),
				r.stepSize())
			for _, size := range []int{13, 300} {
				some, times := r.sample(size)
				put("taken", len(some.Labels), times)
			}
			s := p.sampled(13)
			put("sample", s.Lambda, s.Labels, s.Linear, s.Shrinkage)
			for _, m := range []metric{newPrimalMetric(&p, 1.5, e.penalty, 1, true), newPrimalMetric(&p, 1, e.penalty,
				1, false),
				newColumnMetric(&p, 1.5, e.penalty)} {
				m.refresh(theta)
				v := append([]float64(nil), grad...)
				m.solve(v)
				put("metric", v[:5])
				if primal, ok := m.(*primalMetric); ok { // where it cannot be factored
					primal.ok = false
					copy(v, grad)
					m.solve(v)
					put("its diagonal", v[:5])
				}
			}
			if p.Joint == nil && p.Quadratic == nil {
				m := newDualMetric(&p, e.ridge)
				if e.n < 100 {
					m.refresh(theta)
				}
				v := append([]float64(nil), grad...)
				m.solve(v)
				put("dual", m.ok, v[:5])
			}
		}
		empty := full
		empty.Rows = sparseOf(matrix.NewDense(len(y), 5, nil))
		at, of := dd.NewVector(5), dd.NewVector(5)
		put("empty rows", newPrecise(newEvaluator(&empty, 1)).gradient(of, at), of.Hi)
		formed, _ := norms1(30, 3, 1, true)
		formed = formed.sampled(4)
		put("sample of forms", formed.Labels, formed.Forms[0].(*matrix.CSR).Values,
			formed.Forms[1].(*matrix.CSR).Values)
		ev := must.Get(NewEvaluator(&full, 1))
		h, g := make([]float64, 25), make([]float64, 5)
		ev.Hessian(h, []float64{1, 0, 0.5, 0, -1})
		put("evaluator", h, ev.RecordSmoothness(), ev.MaxNorm())
		put("refined", ev.Refine(g, []float64{1, 0, 0.5, 0, -1}), g)
		ev.Penalty(g, []float64{1, 0, 0.5, 0, -1})
		ev.AddRecord(g, []float64{1, 0, 0.5, 0, -1}, 3, 7)
		put("record", g, ev.Smoothness())
		part := must.Get(NewPart(x, classes, loss.Softmax{Classes: 3}))
		var all, more Sums
		for _, kind := range []Kind{Gradient, Precise, Product, Hessian} {
			q := Query{Kind: kind, At: softmax.Linear, Low: make([]float64, 15), Direction: softmax.Linear,
				Norms: kind == Gradient}
			part.Add(&all, &q, 0, 100)
			part.Add(&more, &q, 100, 350)
			all.Merge(&more)
			put(fmt.Sprint("part ", kind), all.Value, all.Slopes, all.MaxNorm, all.Wrong, all.Vector[:6], all.Depth)
			all, more = Sums{}, Sums{}
		}
		for _, n := range []int{10, 5000, 1e6, 1e8} {
			put(fmt.Sprint("sizes of ", n), sampleSize(n, 5, 5*n), sampleSize(n, 300, 20*n),
				WithinError(n, 5, 0.7, 0.3, 2, 3), WithinError(n, 500, 0.7, 0.3, 2, 3))
		}
		w := newWithin(&full, 0.2, 1e-3, 1e-5, 1)
		at = dd.NewVector(5)
		copy(at.Hi, []float64{0.1, 0, 0.1, 0.1, -0.1})
		w.surface(at)
		mu, distance := w.certify(at)
		slip, on := w.step(at, 0.01, 0.1, 3)
		put("within", w.largest, w.off(), w.blurred(), mu, distance, slip, on, at.Hi)
		far := plain
		far.Linear = []float64{3e4, -1e4, 0, 2e4, 1e4}
		put("blurred", newWithin(&far, 0.2, 1e-3, 1e-5, 1).blurred())
		put("certificate", Certificate{GradientNorm: 2, Rounding: 3}.Bound())
		for i, change := range []func(p *Problem){func(p *Problem) { p.Lambda = -1 }, func(p *Problem) { p.Lambda = 0 },
			func(p *Problem) { p.Linear = make([]float64, 4) }, func(p *Problem) { p.Labels = nil },
			func(p *Problem) { p.Shrinkage = []float64{0, 0, 0, 0, -1} }, func(p *Problem) {
				p.Centre = []float64{math.NaN()}
			},
			func(p *Problem) { p.Loss = loss.Poisson{MaxCount: 3} }, func(p *Problem) { p.Rows = nil }} {
			p := full
			change(&p)
			put(fmt.Sprint("refused ", i), p.Validate(), p.ValidateConvex())
		}
	})
	golden.Figures(t, "testdata/solved.txt", 1e-6, func(say func(name string, values ...float64)) {
		for i, p := range problems {
			for _, m := range []Method{Auto{}, LBFGS{}, NewtonCG{}, SAG{}, SVRG{}} {
				s := &Settings{Method: m, Workers: 1, Tolerance: 1e-8}
				if s.MaxPasses = 300; p.Quadratic != nil || i > 2 {
					if _, random := m.(SAG); random {
						break
					}
				}
				sol, err := Minimize(&p, s)
				if err != nil {
					t.Fatal(i, m.Name(), err)
				}
				say(fmt.Sprint(i, " ", sol.Method), append(sol.Theta[:5:5], sol.Value, float64(sol.Passes),
					float64(sol.Gradients),
					float64(sol.Products))...)
			}
		}
		for _, radius := range []float64{0.1, 1, 100} {
			p := plain
			p.Linear = []float64{3, -1, 0, 2, 1}
			say(fmt.Sprint("within ", radius), must.Get(MinimizeWithin(&p, radius, 1e-9, 1e-12, 1))...)
			w := newWithin(&p, radius, 1e-9, 1e-12, 1)
			if radius == 0.1 {
				say("arrived", w.arrive()...)
			}
		}
		searched(say)
	})
}
