package rkw23

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/univariate"
)

// Linearised is the Rényi bound of appendix C.1, which has the slope at the minimiser without noise and what the noise
// changes of it apart: a = L/σ, κ = β/λ < 1.
//
// Proof: docs/theory/objective_perturbation.md, rkw23-secC.1.
type Linearised struct{ A, Kappa float64 }

// Printed returns the appendix's bound with z ~ N(0, 1) (erratum rkw23-45) and the best p of Hölder's inequality,
//
//	−ln(1 − κ) + a²/2 + min_p p(α − 1)a²/2 − ln(1 − 2q(α − 1)κ)/(2q(α − 1)),  1/p + 1/q = 1,
//
// +∞ where no p makes it finite, which is from 2(α − 1)κ = 1 on.
func (l Linearised) Printed(alpha float64) float64 {
	t := alpha - 1
	most := 1 / (2 * t * l.Kappa) // q is below it
	if !(most > 1) {
		return math.Inf(1)
	}
	at := func(share float64) float64 { // of the way of q from 1 to its end
		q := 1 + share*(most-1)
		return q/(q-1)*t*l.A*l.A/2 - math.Log1p(-q/most)/(2*q*t)
	}
	least := univariate.Minimum(at, 1e-9, 1-1e-9, 40, 60)
	return -math.Log1p(-l.Kappa) + l.A*l.A/2 + least
}

// Remove and Add return what is proved of each direction without Hölder's inequality: D_α of the release with the
// record from that without it, and the other way,
//
//	ln(1 + κ) + αa²/2,   a²/2 + (α − 1)a²/(2(1 − 2k)) − ln(1 − 2k)/(2(α − 1)),  k = (α − 1)κ < ½.
func (l Linearised) Remove(alpha float64) float64 { return math.Log1p(l.Kappa) + alpha*l.A*l.A/2 }

// Add is beside Remove.
func (l Linearised) Add(alpha float64) float64 {
	t := alpha - 1
	rest := 1 - 2*t*l.Kappa
	if !(rest > 0) {
		return math.Inf(1)
	}
	return l.A*l.A/2 + t*l.A*l.A/(2*rest) - math.Log(rest)/(2*t)
}
