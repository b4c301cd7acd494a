package exact

import "math"

// Least and Largest are the ends of the range of scales: within it nothing here overflows or underflows. Mechanisms ask
// for 2^±100, which leaves them room for factors.
const (
	Least   = 0x1p-120
	Largest = 0x1p120
)

// validScale reports whether noise of this scale can be drawn: Least ≤ scale ≤ Largest. A mechanism asks before it
// charges.
func validScale(scale float64) bool { return scale >= Least && scale <= Largest }

// Grid returns the grid of results with noise of this scale, 2^(⌊log₂ scale⌋ − 20): rounding to it moves a result by
// 4.8e-7 of the noise at most. It panics unless the scale is valid.
func Grid(scale float64) float64 {
	checkScale(scale)
	return Step(scale, 20)
}

// validGrid reports whether results with noise of this valid scale may be rounded to multiples of grid: a power of two,
// not coarser than the noise and not finer than 2⁻⁵³ of it.
func validGrid(scale, grid float64) bool {
	f, _ := math.Frexp(grid)
	return f == 0.5 && grid <= scale && grid >= scale*0x1p-53
}

func checkScale(scale float64) {
	if !validScale(scale) {
		panic("exact: the scale must be between 2^-120 and 2^120")
	}
}

func checkGrid(scale, grid float64) {
	checkScale(scale)
	if !validGrid(scale, grid) {
		panic("exact: the grid must be a power of two between 2^-53 and 1 times the scale")
	}
}

// Step returns 2^(⌊log₂ bound⌋ − digits), bound positive and finite.
func Step(bound float64, digits int) float64 {
	_, e := math.Frexp(bound)
	return math.Ldexp(1, e-1-digits)
}

// preRound replaces each of v by the nearest multiple of h, a power of two; of two that are as near by the even one.
// Sums of such numbers are exact in any order as long as every sum of absolute values stays below 2⁵³h, and a vector of
// k entries becomes longer by at most ½h√k.
//
// Adding M = 1.5·2⁵²h leaves a float64 between 2⁵²h and 2⁵³h, whose last digit is worth h; taking M off again is exact.
// That holds for |v| < 2⁵¹h, and for 2⁻⁹⁰⁰ ≤ h ≤ 2⁹⁰⁰; preRound panics if a number is larger, or is none, as its caller
// has bounded it, and if h is no such power of two.
//
// Proof: docs/theory/release.md.
func preRound(v []float64, h float64) {
	if f, _ := math.Frexp(h); f != 0.5 || h < 0x1p-900 || h > 0x1p900 {
		panic("exact: preRound wants a power of two")
	}
	m, top := 0x1.8p52*h, 0x1p51*h
	for i, x := range v {
		if !(x < top && x > -top) {
			panic("exact: a number is too large for its step")
		}
		v[i] = float64(x+m) - m
	}
}
