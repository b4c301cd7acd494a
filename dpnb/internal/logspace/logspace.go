// Package logspace adds numbers that are known by their logarithms, as δ is: 1e-300 is as accurate as 1e-5. Every room
// may enter.
package logspace

import "math"

// Add returns ln(e^a + e^b), within an ulp or two of the larger of the terms; −Inf is zero.
func Add(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}
