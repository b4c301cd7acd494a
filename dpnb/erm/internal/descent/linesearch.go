// Package descent has what all searches for a minimiser share: a line search for convex functions, the memory of
// limited-memory quasi-Newton methods, conjugate gradients and refinement in double-double. For erm alone; it enters no
// room.
package descent

import "math"

// Result of a line search: the value at the step, whether the step is good, and whether it was the budget that ended
// the search.
type Result struct {
	Value       float64
	Accepted    bool
	BudgetSpent bool
}

// LineSearch finds a step a > 0 along a descent direction of a convex function φ(a) with
//
//	|φ′(a)| ≤ 0.9·|φ′(0)|  and  φ(a) ≤ φ(0) + 1e-4·a·φ′(0),
//
// where close to the minimum, with the differences of φ lost in rounding, the second is replaced by φ′(a) ≤ −0.8·φ′(0)
// and φ(a) ≤ φ(0)(1 + 1e-12) (the approximate Wolfe condition of Hager and Zhang 2005). φ′ is monotone, so a bracket on
// its sign is a bracket on the minimum.
func LineSearch(phi func(a float64) (value, slope float64), f0, slope0 float64, budget int) (float64, Result) {
	lo, slopeLo := 0.0, slope0
	hi, slopeHi := math.Inf(1), math.NaN()
	a := 1.0
	for range min(budget, 40) {
		fa, slope := phi(a)
		finite := !math.IsNaN(fa) && !math.IsInf(fa, 0) && !math.IsNaN(slope)
		if finite && math.Abs(slope) <= 0.9*math.Abs(slope0) {
			armijo := fa <= f0+1e-4*a*slope0
			approximate := slope <= -0.8*slope0 && fa <= f0+1e-12*math.Abs(f0)
			if armijo || approximate {
				return a, Result{Value: fa, Accepted: true}
			}
		}
		if !finite || slope > 0 || fa > f0+1e-12*math.Abs(f0) {
			hi, slopeHi = a, slope
		} else {
			lo, slopeLo = a, slope
		}
		switch {
		case math.IsInf(hi, 1):
			a = lo * 4
		case !math.IsNaN(slopeHi) && !math.IsInf(slopeHi, 0) && slopeHi > 0:
			// Secant on φ′, kept away from the ends.
			a = lo + (hi-lo)*slopeLo/(slopeLo-slopeHi)
			a = math.Min(math.Max(a, lo+0.1*(hi-lo)), hi-0.1*(hi-lo))
		default:
			a = lo + 0.25*(hi-lo)
		}
		if a == lo || a == hi {
			break
		}
	}
	return 0, Result{BudgetSpent: budget < 40}
}
