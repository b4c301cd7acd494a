package figure

import "math"

// Span returns n + 1 evenly spaced numbers from a to b; n ≥ 1.
func Span(a, b float64, n int) []float64 {
	x := make([]float64, n+1)
	for i := range x {
		x[i] = a + (b-a)*float64(i)/float64(n)
	}
	return x
}

// Geometric returns n + 1 numbers from a to b, both positive, whose logarithms are evenly spaced.
func Geometric(a, b float64, n int) []float64 {
	return Values(Span(math.Log(a), math.Log(b), n), math.Exp)
}

// Values returns f at every x.
func Values(x []float64, f func(float64) float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = f(v)
	}
	return y
}
