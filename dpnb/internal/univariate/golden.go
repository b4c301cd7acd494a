// Package univariate has the searches over one variable that several rooms share.
package univariate

import "math"

// golden is 2/(1 + √5), by which a step of the search narrows the interval.
const golden = 0.6180339887498949

// Golden narrows [a, b] about a minimum of f in the given number of steps and
// returns the last two points with their values. The smaller of the two is the
// smallest value met: each step keeps the better of its points, of equal ones the
// right one.
func Golden(f func(float64) float64, a, b float64, steps int) (x1, f1, x2, f2 float64) {
	return narrow(f, a, b, steps, func(left, right float64) bool { return !(left < right) })
}

// GoldenLeft returns the place and value of the minimum of a quasiconvex f on
// [a, b], narrowed as Golden does; of values that are equal up to rounding, 1e-12 of
// them, it takes the left one.
func GoldenLeft(f func(float64) float64, a, b float64, steps int) (x, value float64) {
	x1, f1, x2, f2 := narrow(f, a, b, steps, func(left, right float64) bool { return right < left-1e-12*math.Abs(left) })
	if f2 < f1 {
		return x2, f2
	}
	return x1, f1
}

// narrow is the search; toRight decides from the values at the two points on which
// side it goes on.
func narrow(f func(float64) float64, a, b float64, steps int,
	toRight func(left, right float64) bool) (x1, f1, x2, f2 float64) {
	x1, x2 = b-golden*(b-a), a+golden*(b-a)
	f1, f2 = f(x1), f(x2)
	for range steps {
		if toRight(f1, f2) {
			a, x1, f1 = x1, x2, f2
			x2 = a + golden*(b-a)
			f2 = f(x2)
		} else {
			b, x2, f2 = x2, x1, f1
			x1 = b - golden*(b-a)
			f1 = f(x1)
		}
	}
	return x1, f1, x2, f2
}
