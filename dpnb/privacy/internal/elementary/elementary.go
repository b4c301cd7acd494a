// Package elementary says how far the elementary functions that bounds are computed with may be off, and mends the one
// that is not what it seems.
//
// Go promises no accuracy for package math. Its test measures, against 512 binary digits and over the whole range of
// each, in units in the last place: exp 1.4, expm1 0.7, log1p 0.6, log 0.7, sinh 1.9, cosh 1.4, tanh 0.8, erf 0.8, erfc
// 2.9. Slacks in privacy and below it allow for Ulps of each.
package elementary

import "math"

// Ulps bounds the error of the functions of package math that are named above, in units in the last place of the
// result.
const Ulps = 4

// expUlps bounds that of math.Exp, which is above one where it is written in assembly.
const expUlps = 2

// Log returns ln x. Where math.Log is written in assembly it takes a number below the smallest normal one for 2⁻¹⁰²²,
// and errs by up to 35.
func Log(x float64) float64 {
	if x > 0 && x < 0x1p-1022 {
		return math.Log(x*0x1p54) - 54*math.Ln2
	}
	return math.Log(x)
}

// ExpUp returns a float no smaller than e^x.
func ExpUp(x float64) float64 {
	v := math.Exp(x)
	for range expUlps {
		v = math.Nextafter(v, math.Inf(1))
	}
	return v
}
