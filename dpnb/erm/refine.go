package erm

import (
	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm/internal/descent"
	"github.com/dpnb/notebooks/dpnb/internal/dd"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// maxProducts bounds the products with the Hessian for one Newton step of refine.
const maxProducts = 100

// refine goes on from the best point by gradients in double-double, where the search did not reach the tolerance:
// because it lost its way, or because no gradient in float64 is exact enough.
func (r *search) refine() {
	left := r.left()
	if r.s.Persist {
		left = 0 // no bound
	} else if left <= 0 {
		return
	}
	if !matrix.Finite(r.best.Certificate.Bound()) {
		return
	}
	p := newPrecise(r.e)
	r.e.keepCurvature()
	m := r.m
	if m == nil {
		if m = r.exactMetric(); m == nil {
			sample, scale := r.sample(r.e.n)
			m = newColumnMetric(sample, scale, r.e.penalty)
		}
		m.refresh(r.best.Theta)
	}
	conjugate, unused := descent.NewConjugate(r.e.size), make([]float64, r.e.size)
	refinement := descent.Refinement{
		Gradient: p.gradient,
		Newton: func(step, g, x []float64) {
			r.e.eval(unused, x) // for the curvature
			copy(conjugate.Residual, g)
			products := 0
			more := func() bool { products++; return products <= maxProducts }
			steps := conjugate.Solve(step, r.e.hessian, m.solve, more, 0.05*floats.Norm(g, 2))
			if steps > 4 {
				m.refresh(x)
			}
		},
		Modulus: r.p.Lambda, Smoothness: r.e.smoothness(), Tolerance: r.s.Tolerance, MaxPasses: left,
	}
	x := dd.NewVector(r.e.size)
	copy(x.Hi, r.best.Theta)
	c := refinement.Run(x)
	value, _ := r.e.eval(unused, x.Hi)
	if !(c.Bound() < r.best.Certificate.Bound()) || !matrix.Finite(value) {
		return
	}
	copy(r.best.Theta, x.Hi)
	r.best.Value = value
	g := c.Bound()
	r.best.Certificate = Certificate{GradientNorm: c.Norm, Rounding: c.Rounding, Distance: g / r.p.Lambda,
		Gap: g*g/(2*r.p.Lambda) + g*c.Lost + 0.51*refinement.Smoothness*c.Lost*c.Lost}
}
