package erm

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm/internal/descent"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// TestExactMetricsInvertTheHessian: ∇²J·(metric⁻¹v) = v, for both forms.
func TestExactMetricsInvertTheHessian(t *testing.T) {
	for _, p := range []*Problem{simulated(150, 37, 1, 0.3, 0), sparseProblem(150, 37, 4, 0.3),
		shrunk(simulated(150, 37, 1, 0.3, 0))} {
		_, d := p.Rows.Dims()
		e := newEvaluator(p, 1)
		e.curvature = make([]float64, e.n)
		x, g, v := make([]float64, d), make([]float64, d), make([]float64, d)
		for j := range x {
			x[j], v[j] = math.Sin(float64(j)), math.Cos(float64(3*j))
		}
		e.eval(g, x)
		for name, m := range map[string]metric{"primal": newPrimalMetric(p, 1, e.penalty, 2, true),
			"dual": newDualMetric(p, e.ridge)} {
			m.refresh(x)
			z, back := append([]float64(nil), v...), make([]float64, d)
			m.solve(z)
			e.hessian(back, z)
			if !floats.EqualApprox(back, v, 1e-10) {
				t.Errorf("%s: ∇²J·∇²J⁻¹v is %v from v", name, floats.Distance(back, v, 2))
			}
		}
		diagonal := newColumnMetric(p, 1, e.penalty)
		diagonal.refresh(x)
		unit, column := make([]float64, d), make([]float64, d)
		for j := range d {
			clear(unit)
			unit[j] = 1
			e.hessian(column, unit)
			if !(math.Abs(column[j]-diagonal.diag[j]) <= 1e-12*column[j]) {
				t.Errorf("the diagonal has %v in place of %v", diagonal.diag[j], column[j])
			}
		}
	}
}

// TestSampled: over a sample that has every record k times, the objective is that of the sample k times.
func TestSampled(t *testing.T) {
	const k = 5
	small := simulated(40, 3, 1, 2, 1)
	index := make([]int, 40*k)
	labels := make([]float64, 40*k)
	for i := range index {
		index[i] = i / k
		labels[i] = small.Labels[i/k]
	}
	p := *small
	p.Rows, p.Labels = small.Rows.(*matrix.Dense).Select(index), labels
	q := p
	q.Rows = p.Rows.(*matrix.Dense).Sparse()
	theta := []float64{1, -2, 0.5}
	g, h := make([]float64, 3), make([]float64, 3)
	want := Evaluate(&p, g, theta)
	for _, whole := range []*Problem{&p, &q} {
		value := Evaluate(whole.sampled(40), h, theta)
		floats.Scale(k, h)
		if !(math.Abs(k*value-want) <= 1e-12*math.Abs(want)) || !floats.EqualApprox(g, h, 1e-12) {
			t.Errorf("J = %v, by the sample %v; gradients %v and %v", want, k*value, g, h)
		}
	}
}

// noMetric leaves the directions as they are.
type noMetric struct{}

func (noMetric) refresh([]float64) {}
func (noMetric) solve([]float64)   {}

// TestConjugate: as many steps as features solve the Newton equation.
func TestConjugate(t *testing.T) {
	p := uneven(2000, 12, 0.5)
	r := newSearch(p, Settings{MaxPasses: 1000, Tolerance: 1e-9, Start: make([]float64, 12)})
	r.e.curvature = make([]float64, r.e.n)
	must.Get(r.begin())
	v, hv := make([]float64, 12), make([]float64, 12)
	target := 1e-8 * floats.Norm(r.g, 2)
	steps := r.newtonStep(descent.NewConjugate(12), v, noMetric{}, target)
	r.e.hessian(hv, v)
	floats.Add(hv, r.g)
	if res := floats.Norm(hv, 2); steps > 18 || res > 1.1*target {
		t.Errorf("residual %v after %d steps, want %v", res, steps, target)
	}
}
