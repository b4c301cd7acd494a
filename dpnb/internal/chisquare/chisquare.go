// Package chisquare draws χ² variates from normal ones alone, so that whatever source of normals there is, secure or
// seeded, is all that is used.
package chisquare

import "math"

// Draw returns a χ² variate of nu ≥ 1 degrees of freedom. It panics if nu < 1.
//
// One degree is a square; from two on it is twice a Gamma(nu/2) variate by the squeeze of Marsaglia and Tsang, which
// accepts more than 95 % of its proposals: with a = nu/2 − 1/3 and v = (1 + z/√(9a))³, av is accepted if ln u < z²/2 +
// a − av + a·ln v. The logarithm of a uniform variate is minus half the sum of two squared normals.
//
// Source: Marsaglia and Tsang 2000, ACM TOMS 26, 363.
func Draw(nu int, normal func() float64) float64 {
	if nu < 1 {
		panic("chisquare: the degrees of freedom must be at least 1")
	}
	if nu == 1 {
		z := normal()
		return z * z
	}
	a := 0.5*float64(nu) - 1.0/3
	scale := 1 / math.Sqrt(9*a)
	for {
		z := normal()
		v := 1 + scale*z
		if v <= 0 {
			continue
		}
		v *= v * v
		g, h := normal(), normal()
		if -0.5*(g*g+h*h) < 0.5*z*z+a-a*v+a*math.Log(v) {
			return 2 * a * v
		}
	}
}
