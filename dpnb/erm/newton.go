package erm

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// newtonPatience is the number of passes after which NewtonCG preconditions by
// the full Hessian, if that can be factored.
const newtonPatience = 500

// NewtonCG is the truncated Newton method (Dembo and Steihaug 1983): the Newton
// equation ∇²J·v = −∇J is solved by conjugate gradients, preconditioned by the
// metric of a sample, to the relative residual min(½, √(‖∇J‖/‖∇J₀‖)), or to what
// the tolerance still asks for; each step of them is a pass.
type NewtonCG struct{}

// Name returns "Newton-CG".
func (NewtonCG) Name() string { return "Newton-CG" }

func (NewtonCG) run(r *search) error {
	r.e.curvature = make([]float64, r.e.n)
	m, done, err := r.steer()
	if done || err != nil {
		return err
	}
	r.newton(m)
	return nil
}

// newton searches from x, where the curvature has been evaluated, with m to
// precondition by.
func (r *search) newton(m metric) {
	d := r.e.d
	dir, trial, trialGrad := make([]float64, d), make([]float64, d), make([]float64, d)
	c := newConjugate(d)
	norm0 := floats.Norm(r.g, 2)
	for stalled := 0; r.left() > 0 && stalled < 3; {
		if r.e.passes > newtonPatience && !r.exact {
			if exact := r.exactMetric(); exact != nil {
				m, r.exact = exact, true
				m.refresh(r.x)
			}
		}
		norm := floats.Norm(r.g, 2)
		target := math.Max(norm*math.Min(0.5, math.Sqrt(norm/norm0)), 0.3*r.s.Tolerance)
		steps := c.solve(dir, r, m, target)
		slope0 := floats.Dot(dir, r.g)
		if !(slope0 < 0) {
			break
		}
		if _, ok := r.along(dir, slope0, &trial, &trialGrad); !ok.Accepted {
			return // the curvature is that of the last trial: rounding or budget
		}
		before := r.best.Certificate.Bound()
		if r.record() {
			return
		}
		// Far from the minimum the gradient may rise while J falls; at the
		// precision of the gradient it is a sign of the end.
		if r.best.Certificate.Bound() < before {
			stalled = 0
		} else if floats.Norm(r.g, 2) < 4*r.rounding {
			stalled++
		}
		if steps > 4 || r.exact && steps > 1 {
			m.refresh(r.x)
		}
	}
}

// conjugate holds the vectors of the preconditioned conjugate gradient method.
type conjugate struct{ residual, z, q, hq []float64 }

func newConjugate(d int) *conjugate {
	return &conjugate{make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d)}
}

// solve writes v with ‖∇²J·v + ∇J‖ ≤ target to v, or the best that the passes
// left and the precision allow; v is a direction of descent from the first step
// on. It returns the number of products.
func (c *conjugate) solve(v []float64, r *search, m metric, target float64) (steps int) {
	clear(v)
	floats.ScaleTo(c.residual, -1, r.g)
	copy(c.z, c.residual)
	m.solve(c.z)
	copy(c.q, c.z)
	rz := floats.Dot(c.residual, c.z)
	for steps < 10*len(v)+10 && r.left() > 1 {
		steps++
		r.e.hessian(c.hq, c.q)
		qhq := floats.Dot(c.q, c.hq)
		if !(qhq > 0) || !(rz > 0) || math.IsInf(qhq, 1) {
			break
		}
		a := rz / qhq
		floats.AddScaled(v, a, c.q)
		floats.AddScaled(c.residual, -a, c.hq)
		if floats.Norm(c.residual, 2) <= target {
			return steps
		}
		copy(c.z, c.residual)
		m.solve(c.z)
		next := floats.Dot(c.residual, c.z)
		floats.AddScaledTo(c.q, c.z, next/rz, c.q)
		rz = next
	}
	if floats.Norm(v, 2) == 0 { // no product was made: the metric alone
		copy(v, c.z)
	}
	return steps
}
