package softmax

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm/internal/descent"
)

// newton searches from x, where the probabilities have been kept, by truncated
// Newton steps (Dembo and Steihaug 1983): the Newton equation is solved by
// conjugate gradients, preconditioned by m, to the relative residual
// min(½, √(‖∇J‖/‖∇J₀‖)), or to what the tolerance still asks for.
func (r *search) newton(m preconditioner) {
	c := descent.NewConjugate(len(r.x))
	norm0 := floats.Norm(r.g, 2)
	for stalled := 0; r.left() > 0 && stalled < 3; {
		norm := floats.Norm(r.g, 2)
		target := math.Max(norm*math.Min(0.5, math.Sqrt(norm/norm0)), 0.3*r.s.Tolerance)
		steps := r.newtonStep(c, r.dir, m, target)
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

// newtonStep writes v with Σ_c v_c = 0 and ‖∇²J·v + ∇J‖ ≤ target to v, or the
// best that the passes left and the precision allow; v is a direction of
// descent. It returns the number of products.
func (r *search) newtonStep(c *descent.Conjugate, v []float64, m preconditioner, target float64) (steps int) {
	floats.ScaleTo(c.Residual, -1, r.g)
	Center(c.Residual, r.e.k)
	return c.Solve(v, r.e.hessian, m.solve, func() bool { return r.left() > 1 }, target)
}
