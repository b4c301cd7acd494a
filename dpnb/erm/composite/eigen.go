package composite

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// LeastEigenvalue returns a lower bound on λ_min of q, a matrix of floats, that holds with rounding: what
// Settings.Modulus may rest on. It is below λ_min by a relative 1e-9 of it and about d²u of the trace.
//
// Shapes: q is d×d.
// Bound: lower. If the Cholesky factorisation of q − sI runs to its end, then λ_min(q) ≥ s − e with e = γ·tr(q − sI)/(1
// − γ), γ = (d+2)u/(1 − (d+2)u), plus what the subtraction and underflow err by; s is tried a little below the computed
// eigenvalue, and further below until the factorisation succeeds.
// Errors: ok is false if q has no Cholesky factor at all that proves a bound above zero.
// Source: Rump 2006, Verification of positive definiteness (BIT 46).
func LeastEigenvalue(q *mat.SymDense) (bound float64, ok bool) {
	d := q.SymmetricDim()
	var e mat.EigenSym
	if d == 0 || !e.Factorize(q, false) {
		return 0, false
	}
	values := e.Values(nil)
	low, top := values[0], values[d-1]
	gap := 1e-9*low + float64(d)*unit*top
	a := make([]float64, d*d)
	for s := low - gap; s > 0; s, gap = s-gap, 4*gap {
		trace, most := 0.0, 0.0
		for i := range d {
			for j := i; j < d; j++ {
				a[i*d+j] = q.At(i, j)
			}
			a[i*d+i] -= s
			trace += a[i*d+i]
			most = math.Max(most, math.Abs(q.At(i, i)))
		}
		if _, fine := factor(a, d); !fine {
			continue
		}
		gamma := float64(d+2) * unit / (1 - float64(d+2)*unit)
		err := 1.01*gamma*trace + unit*(most+s) + float64(d*d)*0x1p-1020*(1+most)
		if s-err > 0 {
			return (s - err) * (1 - 4*unit), true
		}
		return 0, false
	}
	return 0, false
}
