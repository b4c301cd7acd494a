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
