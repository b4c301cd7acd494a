package softmax

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// newton searches from x, where the probabilities have been kept, by truncated
// Newton steps (Dembo and Steihaug 1983): the Newton equation is solved by
// conjugate gradients, preconditioned by m, to the relative residual
// min(½, √(‖∇J‖/‖∇J₀‖)), or to what the tolerance still asks for.
func (r *search) newton(m preconditioner) {
	c := newConjugate(len(r.x))
	norm0 := floats.Norm(r.g, 2)
	for stalled := 0; r.left() > 0 && stalled < 3; {
		norm := floats.Norm(r.g, 2)
		target := math.Max(norm*math.Min(0.5, math.Sqrt(norm/norm0)), 0.3*r.s.Tolerance)
		steps := c.solve(r.dir, r, m, target)
		slope0 := floats.Dot(r.dir, r.g)
		if !(slope0 < 0) {
			return
		}
		if _, ok := r.step(slope0); !ok.Accepted {
			return // the probabilities are those of the last trial: rounding or budget
		}
		before := r.best.Certificate.Bound()
		if r.record() {
			return
		}
		switch {
		case r.best.Certificate.Bound() < before:
			stalled = 0
		case floats.Norm(r.g, 2) < 4*r.rounding:
			stalled++
		}
		if _, whole := m.(*exact); steps > 4 || whole && steps > 1 {
			m.refresh(r.x)
		}
	}
}

// conjugate holds the vectors of the preconditioned conjugate gradient method.
type conjugate struct{ residual, z, q, hq []float64 }

func newConjugate(size int) *conjugate {
	return &conjugate{make([]float64, size), make([]float64, size), make([]float64, size), make([]float64, size)}
}

// solve writes v with Σ_c v_c = 0 and ‖∇²J·v + ∇J‖ ≤ target to v, or the best
// that the passes left and the precision allow; v is a direction of descent. It
// returns the number of products.
func (c *conjugate) solve(v []float64, r *search, m preconditioner, target float64) (steps int) {
	clear(v)
	floats.ScaleTo(c.residual, -1, r.g)
	Center(c.residual, r.e.k)
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
