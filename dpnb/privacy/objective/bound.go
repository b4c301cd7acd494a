package objective

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Bound names a way to account for objective perturbation. The zero value is invalid.
type Bound int

const (
	// KST12 is the (ε, δ) statement of Kifer, Smith, Thakurta 2012 as a δ(ε).
	KST12 Bound = iota + 1
	// RKW23 is Theorem 3.1 of Redberg, Koskela, Wang 2023, corrected; it needs λ > s.
	// Proof: docs/theory/objective_perturbation.md#rkw23-thm3.1.
	RKW23
	// DTZ24 is Theorem 5.1 of Dwork, Tankala, Zhang 2024, without the logarithm in the add direction, where it is not
	// needed.
	DTZ24
	// Pointwise takes the worst γ for each value of the noise.
	Pointwise
	// Integral takes the best u for each γ in the line integral of Tight.
	Integral
	// Tight is the exact worst case, between certified values.
	Tight
	// GaussianLower is no guarantee but a lower bound for every mechanism of this kind: the Gaussian mechanism of
	// sensitivity L.
	GaussianLower
)

var boundNames = map[Bound]string{
	KST12: "kst12", RKW23: "rkw23", DTZ24: "dtz24", Pointwise: "pointwise",
	Integral: "integral", Tight: "tight", GaussianLower: "gaussian-lower",
}

// Bounds lists all, loosest first.
var Bounds = [...]Bound{KST12, RKW23, DTZ24, Pointwise, Integral, Tight, GaussianLower}

// String returns the name that the command line uses.
func (b Bound) String() string {
	if s, ok := boundNames[b]; ok {
		return s
	}
	return fmt.Sprintf("Bound(%d)", int(b))
}

// ParseBound is the inverse of Bound.String.
//
// Errors: *ParamError for any other name.
func ParseBound(s string) (Bound, error) {
	for b, name := range boundNames {
		if s == name {
			return b, nil
		}
	}
	return 0, &privacy.ParamError{Name: "bound", Value: s,
		Want: "kst12, rkw23, dtz24, pointwise, integral, tight or gaussian-lower"}
}
