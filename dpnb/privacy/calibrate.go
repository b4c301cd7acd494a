package privacy

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/univariate"
)

// Typed returns the neighbours below of an ε and a δ that a person typed: to calibrate for these pays for the
// difference between those decimals and their float64.
func Typed(epsilon, delta float64) (float64, float64) {
	return math.Nextafter(epsilon, 0), math.Nextafter(delta, 0)
}

// Calibrate returns, rounded to the safe side, the smallest scale > 0 of a one-parameter family at which satisfies
// holds: satisfies(scale) must be a proof that the wanted guarantee holds, and hold for all large enough scales (more
// noise, more privacy). The relative distance to the smallest is below tolerance; 0 means the last place.
//
// Bound: satisfies holds at the returned scale, monotone or not.
// Errors: *ParamError if no scale up to 1e300 satisfies, or what satisfies returned.
func Calibrate(satisfies func(scale float64) (bool, error), tolerance float64) (float64, error) {
	scale, err := scales(tolerance).Find(satisfies)
	if err != nil {
		return 0, err
	}
	if math.IsInf(scale, 1) {
		return 0, &ParamError{Name: "scale", Value: scale, Want: "a target that some amount of noise reaches"}
	}
	return scale, nil
}

// scales looks for the smallest scale over all that a float64 can be, from 1.
func scales(tolerance float64) univariate.Smallest {
	return univariate.Smallest{Start: 1, Factor: 4, Least: 1e-300, Most: 4e300, Cut: univariate.Arithmetic,
		Tolerance: tolerance}
}
