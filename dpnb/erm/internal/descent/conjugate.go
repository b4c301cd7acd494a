package descent

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Conjugate is the preconditioned conjugate gradient method for H·v = b, H positive definite.
type Conjugate struct {
	// Residual is b before Solve, and b − H·v after it.
	Residual []float64
	z, q, hq []float64
}

// NewConjugate returns the method with its vectors, of length n.
func NewConjugate(n int) *Conjugate {
	return &Conjugate{make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)}
}

// Solve writes v with ‖H·v − b‖ ≤ target to v, or the best that more allows and the precision. From the first step on
// vᵀb > 0, so that for b = −∇J it is a direction of descent. product writes H times its second argument to its first,
// precondition overwrites a vector by its product with an approximate inverse of H. It returns the number of products.
func (c *Conjugate) Solve(
	v []float64, product func(dst, v []float64), precondition func(v []float64), more func() bool, target float64,
) (steps int) {
	clear(v)
	copy(c.z, c.Residual)
	precondition(c.z)
	copy(c.q, c.z)
	rz := floats.Dot(c.Residual, c.z)
	for steps < 10*len(v)+10 && more() {
		steps++
		product(c.hq, c.q)
		qhq := floats.Dot(c.q, c.hq)
		if !(qhq > 0) || !(rz > 0) || math.IsInf(qhq, 1) {
			break
		}
		a := rz / qhq
		floats.AddScaled(v, a, c.q)
		floats.AddScaled(c.Residual, -a, c.hq)
		if floats.Norm(c.Residual, 2) <= target {
			return steps
		}
		copy(c.z, c.Residual)
		precondition(c.z)
		next := floats.Dot(c.Residual, c.z)
		floats.AddScaledTo(c.q, c.z, next/rz, c.q)
		rz = next
	}
	if floats.Norm(v, 2) == 0 { // no product was made: the preconditioner alone
		copy(v, c.z)
	}
	return steps
}
