package erm

import (
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/weight"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// The evaluator's gradient is that of the objective, and its Hessian what the definition says, dense and sparse, for
// any number of workers.
func TestEvaluator(t *testing.T) {
	p := simulated(500, 11, 1, 3, 0)
	sparse := *p
	sparse.Rows = p.Rows.(*matrix.Dense).Sparse()
	theta := make([]float64, 11)
	for j := range theta {
		theta[j] = math.Sin(float64(j))
	}
	want := make([]float64, 11)
	value := Evaluate(p, want, theta)
	var first []float64
	for _, q := range []*Problem{p, &sparse} {
		for _, workers := range []int{1, 2, 5} {
			e := must.Get(NewEvaluator(q, workers))
			g, h := make([]float64, 11), make([]float64, 121)
			v, rounding := e.Gradient(g, theta)
			if !(math.Abs(v-value) <= 1e-10) || floats.Distance(g, want, 2) > 2*rounding || rounding > 1e-10 ||
				!(math.Abs(e.MaxNorm()-matrix.MaxNorm(p.Rows)) <= 1e-14) {
				t.Errorf("value %v, want %v; gradient off by %v, bound %v", v, value, floats.Distance(g, want, 2),
					rounding)
			}
			want := p.Loss.Smoothness() * e.MaxNorm() * e.MaxNorm()
			if got := e.RecordSmoothness(); !(math.Abs(got-want) <= 1e-12*want) {
				t.Errorf("a record's gradient is %v-Lipschitz, want %v", got, want)
			}
			e.Hessian(h, theta)
			if e.Passes() != 2 {
				t.Errorf("%d passes", e.Passes())
			}
			margin, curvature, row := make([]float64, 500), make([]float64, 500), make([]float64, 11)
			p.Rows.Margins(margin, theta, 0, 500)
			p.Loss.Curvature(curvature, margin, p.Labels)
			for a := range 11 {
				for b := a; b < 11; b++ {
					var sum float64
					for i := range 500 {
						p.Rows.Row(row, i)
						sum += curvature[i] * row[a] * row[b]
					}
					if a == b {
						sum += p.Lambda
					}
					if !(math.Abs(sum-h[a*11+b]) <= 1e-11) || h[b*11+a] != h[a*11+b] {
						t.Fatalf("Hessian (%d,%d) is %v, want %v", a, b, h[a*11+b], sum)
					}
				}
			}
			if q == p && first == nil {
				first = append(slices.Clone(g), v)
			} else if q == p && !slices.Equal(first, append(g, v)) {
				t.Errorf("%d workers compute another gradient", workers)
			}
		}
	}
}

// What a loss says of its own slopes is in the bound.
func TestEvaluatorGrantsSlopeError(t *testing.T) {
	p := simulated(100, 3, 1, 3, 0)
	for _, l := range []loss.Loss{loss.Probit{}, loss.Weighted{Of: loss.Clipped(loss.Squared{}, 1e6)}} {
		if p.Loss = l; !l.ValidLabel(1) { // slopes of zero, which err by what their bound says
			p.Labels = slices.Repeat([]float64{weight.With(0, 1)}, 100)
		}
		e := must.Get(NewEvaluator(p, 1))
		_, rounding := e.Gradient(make([]float64, 3), make([]float64, 3))
		if least := 100 * e.MaxNorm() * loss.SlopeError(l); !(rounding >= least) || least == 0 {
			t.Errorf("%s: bound %v, the slopes alone err by %v", l.Name(), rounding, least)
		}
	}
}

func TestEvaluatorRefuses(t *testing.T) {
	p := simulated(10, 3, 1, 3, 0)
	p.Lambda = 0 // is nobody's business here
	if _, err := NewEvaluator(p, 1); err != nil {
		t.Error(err)
	}
	p.Labels = p.Labels[1:]
	var data *matrix.DataError
	if _, err := NewEvaluator(p, 1); !errors.As(err, &data) {
		t.Errorf("9 labels for 10 records: %v", err)
	}
}

// All of J's gradient is the records' and the rest: a ridge, a quadratic and a linear term. A record adds its own part.
func TestPartsOfAGradient(t *testing.T) {
	const d = 3
	p := &Problem{Loss: loss.PseudoHuber{Threshold: 0.5}, Rows: matrix.NewDense(2, d, []float64{1, 2, -1, 0.5, 0, 3}),
		Labels: []float64{1, -2}, Lambda: 0.25, Linear: []float64{1, 0, -2},
		Quadratic: mat.NewSymDense(d, []float64{2, 1, 0, 1, 3, 0, 0, 0, 1})}
	theta := []float64{0.5, -1, 2}
	e := must.Get(NewEvaluator(p, 1))
	all, rest := make([]float64, d), make([]float64, d)
	e.Gradient(all, theta)
	e.Penalty(rest, theta)
	for j, want := range []float64{0.125 + 2*0.5 - 1 + 1, -0.25 + 0.5 - 3, 0.5 + 2 - 2} {
		if !(math.Abs(rest[j]-want) <= 1e-15) {
			t.Errorf("the rest of coordinate %d is %v, want %v", j, rest[j], want)
		}
	}
	for i := range 2 {
		e.AddRecord(rest, theta, 1, i)
	}
	one := slices.Clone(rest)
	e.AddRecord(one, theta, -0.5, 1)
	e.AddRecord(one, theta, 0.5, 1)
	if floats.Distance(all, rest, 2) > 1e-14 || floats.Distance(one, rest, 2) > 1e-14 {
		t.Errorf("records and the rest are %v, in all %v", rest, all)
	}
}
