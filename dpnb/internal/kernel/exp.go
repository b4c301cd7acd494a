package kernel

import "math"

// ExpNegAbs writes e^{−|x|} to dst, which is as long as x; NaN stays NaN. The relative error is at most 2⁻⁵¹ for |x| ≤
// 708; beyond, the result is at most e^{−708}.
//
// Method: x = k·ln 2 + r with |r| ≤ ln(2)/2, the Taylor polynomial of degree 13 (its remainder is below 2⁻⁵⁷) and a
// shift of the exponent.
func ExpNegAbs(dst, x []float64) {
	dst = dst[:len(x)]
	k := 0
	if fast {
		k = len(x) &^ 3
		if k > 0 {
			expNegAbs4(&dst[0], &x[0], k/4)
		}
	}
	for i := k; i < len(x); i++ {
		dst[i] = math.Exp(-math.Abs(x[i]))
	}
}

// Logistic writes −yᵢ·s(−yᵢtᵢ), s(t) = 1/(1+e^{−t}), to slope and returns Σ log(1 + e^{−yᵢtᵢ}), for labels of −1 and
// +1. slope must not overlap t or y.
//
// There is one logarithm for each call: with eᵢ = e^{−|tᵢ|} ≤ 1 the product Π(1+eᵢ) is carried as q = Π(1+eᵢ) − 1, all
// terms of which are positive, so that log1p(q) keeps its digits even where every eᵢ is tiny; it is taken before the
// product can overflow.
func Logistic(slope, t, y []float64) float64 {
	const batch = 512 // Π(1+eᵢ) ≤ 2^512
	var sum float64
	for lo := 0; lo < len(t); lo += batch {
		hi := min(lo+batch, len(t))
		sum += logisticBatch(slope[lo:hi], t[lo:hi], y[lo:hi])
	}
	return sum
}

func logisticBatch(slope, t, y []float64) float64 {
	slope, y = slope[:len(t)], y[:len(t)]
	ExpNegAbs(slope, t)
	var linear float64
	var q [2]float64
	for i, ti := range t {
		e, yi := slope[i], y[i]
		// s(−|m|) = e/(1+e), s(|m|) = 1/(1+e).
		top := e
		if m := yi * ti; m < 0 {
			linear -= m
			top = 1
		}
		slope[i] = -yi * (top / (1 + e))
		q[i&1] += e + e*q[i&1]
	}
	return linear + math.Log1p(q[0]) + math.Log1p(q[1])
}
