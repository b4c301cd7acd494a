package softmax

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/erm/internal/descent"
	"github.com/dpnb/notebooks/dpnb/internal/dd"
)

// maxProducts bounds the products with the Hessian for one Newton step of refine.
const maxProducts = 100

// refine goes on from the best point by gradients in double-double, where the search
// did not reach the tolerance: because it lost its way, or because no gradient in
// float64 is exact enough.
func (r *search) refine() {
	left := r.left()
	if r.s.Persist {
		left = 0 // no bound
	} else if left <= 0 {
		return
	}
	if !finite(r.best.Certificate.Bound()) {
		return
	}
	n, norm := float64(r.e.n), r.e.maxNorm+math.Sqrt(float64(r.e.d))*0x1p-511
	h := r.h
	if h == nil {
		h = newMetric(r.p, 1, r.p.Lambda, r.e.workers)
		h.refresh(r.best.Theta)
	}
	conjugate, unused := descent.NewConjugate(len(r.x)), make([]float64, len(r.x))
	refinement := descent.Refinement{
		Gradient: newPrecise(r.e).gradient,
		Newton: func(step, g, x []float64) {
			r.e.keep()
			r.e.eval(unused, x) // for the probabilities
			copy(conjugate.Residual, g)
			Center(conjugate.Residual, r.e.k)
			products := 0
			steps := conjugate.Solve(step, r.e.hessian, h.solve, func() bool { products++; return products <= maxProducts }, 0.05*floats.Norm(conjugate.Residual, 2))
			if steps > 4 {
				h.refresh(x)
			}
			// The mean over the classes, which Center took away: there ∇²J is λI.
			for j, v := range g {
				unused[j] = v / r.p.Lambda
			}
			floats.Add(step, unused)
			Center(unused, r.e.k)
			floats.Sub(step, unused)
		},
		Modulus: r.p.Lambda, Smoothness: (r.p.Lambda + 0.5*n*norm*norm) * (1 + 0x1p-40), Tolerance: r.s.Tolerance, MaxPasses: left,
	}
	x := dd.NewVector(len(r.x))
	copy(x.Hi, r.best.Theta)
	c := refinement.Run(x)
	value, _ := r.e.eval(unused, x.Hi)
	if !(c.Bound() < r.best.Certificate.Bound()) || !finite(value) {
		return
	}
	copy(r.best.Theta, x.Hi)
	r.best.Value = value
	g := c.Bound()
	r.best.Certificate = erm.Certificate{GradientNorm: c.Norm, Rounding: c.Rounding, Distance: g / r.p.Lambda,
		Gap: g*g/(2*r.p.Lambda) + g*c.Lost + 0.51*refinement.Smoothness*c.Lost*c.Lost}
}
