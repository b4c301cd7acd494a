package mechanism

import (
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// CheckScale returns a *privacy.ParamError unless 2⁻¹⁰⁰ ≤ v ≤ 2¹⁰⁰. Parameters on
// which a solver's certificate or the rounding of a release rests are held to that,
// before anything is charged: what underflows is then below 2⁻⁶⁰⁰ of them, and no
// bound on rounding under- or overflows itself (docs/theory/solvers.md).
func CheckScale(name string, v float64) error {
	if !(v >= 0x1p-100 && v <= 0x1p100) {
		return &privacy.ParamError{Name: name, Value: v, Want: "a positive number from 2⁻¹⁰⁰ to 2¹⁰⁰ (7.9e-31 to 1.3e30), where float64 keeps its digits: change the unit"}
	}
	return nil
}
