package univariate

import "math"

// golden is 2/(1 + √5), by which a step of the search narrows the interval.
const golden = 0.6180339887498949

// Golden narrows [a, b] about a minimum of f in the given number of steps, to 0.618 of its width in each, and returns
// where the smallest value was that it met, and the value. Of equal values it goes to the right.
func Golden(f func(float64) float64, a, b float64, steps int) (x, value float64) {
	return narrow(f, a, b, steps, func(left, right float64) bool { return !(left < right) })
}

// GoldenLeft is Golden for a quasiconvex f of which the leftmost minimum is meant: of values that are equal up to
// rounding, 1e-12 of them, it takes the left one.
func GoldenLeft(f func(float64) float64, a, b float64, steps int) (x, value float64) {
	return narrow(f, a, b, steps, func(left, right float64) bool { return right < left-1e-12*math.Abs(left) })
}

// Minimum returns the smallest value of f met at the ends of n equal cells of [lo, hi] and by Golden in the given
// number of steps over the two cells about the best of these.
func Minimum(f func(float64) float64, lo, hi float64, n, steps int) float64 {
	width := (hi - lo) / float64(n)
	best, at := math.Inf(1), lo
	for i := 0; i <= n; i++ {
		x := lo + width*float64(i)
		if v := f(x); v < best {
			best, at = v, x
		}
	}
	_, v := Golden(f, at-width, at+width, steps)
	return math.Min(best, v)
}

// narrow is the search; toRight decides from the values at the two points on which side it goes on. Each step keeps the
// better of its points.
func narrow(f func(float64) float64, a, b float64, steps int,
	toRight func(left, right float64) bool) (x, value float64) {
	x1, x2 := b-golden*(b-a), a+golden*(b-a)
	f1, f2 := f(x1), f(x2)
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
	if f2 < f1 {
		return x2, f2
	}
	return x1, math.Min(f1, f2)
}
