package erm

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/matrix"
)

// shrunk adds ω to p: 0 on the first coordinate, rising from there.
func shrunk(p *Problem) *Problem {
	_, d := p.Rows.Dims()
	q := *p
	q.Shrinkage = make([]float64, d)
	for j := range q.Shrinkage {
		q.Shrinkage[j] = 7 * p.Lambda * float64(j)
	}
	return &q
}

// TestShrinkageIsAChangeOfCoordinates: with φⱼ = θⱼ·√(1 + ωⱼ/λ), and xⱼ and bⱼ divided by it, the penalty is (λ/2)‖φ‖².
func TestShrinkageIsAChangeOfCoordinates(t *testing.T) {
	for name, p := range map[string]*Problem{
		"few features": shrunk(simulated(4000, 12, 1, 2, 3)), "many": shrunk(simulated(60, 230, 1, 0.5, 1)),
		"sparse": shrunk(sparseProblem(900, 300, 6, 0.4)),
	} {
		n, d := p.Rows.Dims()
		q := Problem{Rows: matrix.NewDense(n, d, nil), Labels: p.Labels, Loss: p.Loss, Lambda: p.Lambda}
		scale := make([]float64, d)
		for j := range scale {
			scale[j] = math.Sqrt(1 + p.Shrinkage[j]/p.Lambda)
		}
		for i := range n {
			row := q.Rows.(*matrix.Dense).Data[i*d : (i+1)*d]
			p.Rows.Row(row, i)
			floats.Div(row, scale)
		}
		if p.Linear != nil {
			q.Linear = append([]float64(nil), p.Linear...)
			floats.Div(q.Linear, scale)
		}
		want, err := Minimize(&q, &Settings{Tolerance: 1e-8})
		if err != nil {
			t.Fatal(err)
		}
		floats.Div(want.Theta, scale)
		for _, m := range methods {
			s, err := Minimize(p, &Settings{Method: m, Tolerance: 1e-7})
			switch m.(type) {
			case SAG, SVRG:
				if name != "few features" {
					continue // slow where the ridge is small
				}
			}
			if err != nil {
				t.Errorf("%s by %s: %v", name, m.Name(), err)
				continue
			}
			off, allowed := floats.Distance(s.Theta, want.Theta, 2), s.Certificate.Distance+want.Certificate.Distance
			if !(off <= allowed) || allowed > 1e-3*floats.Norm(want.Theta, 2) {
				t.Errorf("%s by %s: %v from the minimiser, the certificates allow %v", name, m.Name(), off, allowed)
			}
			if math.Abs(s.Value-want.Value) > 1e-9*math.Abs(want.Value) {
				t.Errorf("%s by %s: J = %v, want %v", name, m.Name(), s.Value, want.Value)
			}
		}
		// The strong convexity that certificates divide by is the least ridge.
		s, _ := Minimize(p, nil)
		if c := s.Certificate; c.Distance != c.Bound()/p.Lambda {
			t.Errorf("%s: ‖θ − θ⋆‖ ≤ %v, want ‖∇J‖/λ = %v", name, c.Distance, c.Bound()/p.Lambda)
		}
	}
}

func TestShrinkageIsValidated(t *testing.T) {
	for _, w := range [][]float64{{1, 2}, {1, 2, -1e-300}, {1, math.NaN(), 0}, {0, 0, math.Inf(1)}} {
		p := simulated(20, 3, 1, 1, 0)
		p.Shrinkage = w
		if _, err := Minimize(p, nil); err == nil {
			t.Errorf("Shrinkage %v was accepted", w)
		}
	}
}
