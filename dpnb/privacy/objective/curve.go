package objective

import (
	"math"
)

// Curve is all that the accounting needs to know of a loss f and of the radius R ≥ ‖x‖: with γ = ‖x‖f′(t) and S =
// ‖x‖²f″(t),
//
//	S̄(γ) = sup of S over ‖x‖ ≤ R, labels and t that give γ.
//
// One record's γ runs through Range; a loss whose slope has one sign for each label (logistic, hinges, probit) is
// reflected so that γ ≥ 0. Where S̄ jumps (a clip value), SBar is the limit from the side of γ = 0.
//
// Implementations are immutable and safe for concurrent use; loss.CurveOf returns one for every loss that has it. One
// may also have Kappa, the κ with S̄(γ) = κγ(L − γ) on [0, L] or 0, for which Theorems A and B hold, and Even, which
// reports that S̄(−γ) = S̄(γ).
type Curve interface {
	// Range returns lo ≤ 0 ≤ hi, both finite, between which γ lies.
	Range() (lo, hi float64)
	// SBar returns S̄(γ) for γ in Range.
	SBar(gamma float64) float64
	// Bounds returns lower ≤ S̄(γ) ≤ upper for all γ in [g0, g1] ⊂ Range.
	Bounds(g0, g1 float64) (lower, upper float64)
	// Clock returns an antiderivative of 1/S̄ at γ, strictly increasing, ±Inf where the integral diverges, correct to
	// 1e-13 relative or absolute. For a GLM whose supremum is at ‖x‖ = R it is t/R.
	Clock(gamma float64) float64
	// Max returns s = max S̄.
	Max() float64
	// String describes the loss and its parameters.
	String() string
}

// Slope returns L = max |γ|, the add/remove-one sensitivity of the gradient.
func Slope(c Curve) float64 {
	lo, hi := c.Range()
	return math.Max(-lo, hi)
}

// OneSigned reports that γ never changes sign.
func OneSigned(c Curve) bool {
	lo, hi := c.Range()
	return lo == 0 || hi == 0
}

// roundoff is the relative error allowed to a curve's own arithmetic.
const roundoff = 1e-13
