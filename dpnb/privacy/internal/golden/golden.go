// Package golden has the golden-section search that several bounds share.
package golden

// Section narrows [a, b] about a minimum of f in the given number of steps and
// returns the last two points with their values. The smaller of the two is the
// smallest value met: each step keeps the better of its points.
func Section(f func(float64) float64, a, b float64, steps int) (x1, f1, x2, f2 float64) {
	const ratio = 0.6180339887498949
	x1, x2 = b-ratio*(b-a), a+ratio*(b-a)
	f1, f2 = f(x1), f(x2)
	for range steps {
		if f1 < f2 {
			b, x2, f2 = x2, x1, f1
			x1 = b - ratio*(b-a)
			f1 = f(x1)
		} else {
			a, x1, f1 = x1, x2, f2
			x2 = a + ratio*(b-a)
			f2 = f(x2)
		}
	}
	return x1, f1, x2, f2
}
