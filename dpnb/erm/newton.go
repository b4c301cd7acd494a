package erm

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm/internal/descent"
)

// newtonPatience is the number of passes after which NewtonCG preconditions by the full Hessian, if that can be
// factored.
const newtonPatience = 500

// NewtonCG is the truncated Newton method (Dembo and Steihaug 1983): the Newton equation ∇²J·v = −∇J is solved by
// conjugate gradients, preconditioned by the metric of a sample, to the relative residual min(½, √(‖∇J‖/‖∇J₀‖)), or to
// what the tolerance still asks for; each step of them is a pass.
type NewtonCG struct{}

// Name returns "Newton-CG".
func (NewtonCG) Name() string { return "Newton-CG" }

func (NewtonCG) run(r *search) error {
	r.e.keepCurvature()
	m, done, err := r.steer()
	if done || err != nil {
		return err
	}
	r.newton(m)
	return nil
}

// newton searches from x, where the curvature has been evaluated, with m to precondition by.
func (r *search) newton(m metric) {
	d := r.e.size
	dir, trial, trialGrad := make([]float64, d), make([]float64, d), make([]float64, d)
	c := descent.NewConjugate(d)
	norm0 := floats.Norm(r.g, 2)
	for stalled := 0; r.left() > 0 && stalled < 3; {
		if r.e.passes > newtonPatience && !r.exact {
			if exact := r.exactMetric(); exact != nil {
				m, r.m, r.exact = exact, exact, true
				m.refresh(r.x)
			}
		}
		norm := floats.Norm(r.g, 2)
		target := math.Max(norm*math.Min(0.5, math.Sqrt(norm/norm0)), 0.3*r.s.Tolerance)
		steps := r.newtonStep(c, dir, m, target)
		slope0 := floats.Dot(dir, r.g)
		if !(slope0 < 0) {
			break
		}
		if _, ok := r.along(dir, slope0, &trial, &trialGrad); !ok.Accepted {
			return // the curvature is that of the last trial: rounding or budget
		}
		if r.advance(&stalled) {
			return
		}
		if steps > 4 || r.exact && steps > 1 {
			m.refresh(r.x)
		}
	}
}

// newtonStep writes v with ‖∇²J·v + ∇J‖ ≤ target to v, or the best that the passes left and the precision allow; v is a
// direction of descent from the first step on. It returns the number of products.
func (r *search) newtonStep(c *descent.Conjugate, v []float64, m metric, target float64) (steps int) {
	floats.ScaleTo(c.Residual, -1, r.g)
	return c.Solve(v, r.e.hessian, m.solve, func() bool { return r.left() > 1 }, target)
}
