package rkw23

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

// A bound that is no probability must not pass for one that holds.
func TestImpossibleBoundsAreErrors(t *testing.T) {
	for name, b := range map[string]deltaBound{
		"NaN":           func(_, _, _ float64) float64 { return math.NaN() },
		"NaN mostly":    func(l, s, e float64) float64 { return map[bool]float64{true: 1, false: math.NaN()}[l == 5] },
		"negative":      func(_, _, _ float64) float64 { return -1 },
		"more than one": func(_, _, _ float64) float64 { return 1.5 },
	} {
		if o, err := measure.Of(measure.With(boundHolds, lossLaw(nil)), b)(t.Context(), claim.Quick); err == nil {
			t.Errorf("%s: verdict %q", name, o.Verdict)
		}
	}
}
