package privacy

import "math"

// Calibrate returns, rounded to the safe side, the smallest scale > 0 of a
// one-parameter family at which satisfies holds: satisfies(scale) must be a
// proof that the wanted guarantee holds, and hold for all large enough scales
// (more noise, more privacy). The relative distance to the smallest is below
// tolerance; 0 means the last place.
//
// Bound: satisfies holds at the returned scale, monotone or not.
// Errors: *ParamError if no scale up to 1e300 satisfies, or what satisfies
// returned.
func Calibrate(satisfies func(scale float64) (bool, error), tolerance float64) (float64, error) {
	var failed error
	ok := func(scale float64) bool {
		if failed != nil {
			return true
		}
		yes, err := satisfies(scale)
		if err != nil {
			failed = err
			return true
		}
		return yes
	}
	scale := smallestPassing(ok, tolerance)
	if failed != nil {
		return 0, failed
	}
	if math.IsInf(scale, 1) {
		return 0, &ParamError{Name: "scale", Value: scale, Want: "a target that some amount of noise reaches"}
	}
	return scale, nil
}

// smallestPassing returns the smallest positive float at which ok holds, within
// a relative tolerance, +Inf if there is none below 1e300. If ok is not
// monotone it still holds at the result.
func smallestPassing(ok func(float64) bool, tolerance float64) float64 {
	lo, hi := 0.0, 1.0
	if ok(hi) {
		for lo = hi / 4; lo > 1e-300 && ok(lo); lo /= 4 {
			hi = lo
		}
	} else {
		for lo, hi = hi, 4*hi; !ok(hi); lo, hi = hi, 4*hi {
			if hi > 1e300 {
				return math.Inf(1)
			}
		}
	}
	_, hi = bisect(ok, lo, hi, tolerance, math.MaxInt)
	return hi
}
