package privacy

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/univariate"
)

// TradeOff returns a lower bound on the trade-off function of p in direction d: the smallest error of the second kind
// of any test of H₀ "drawn from Q" against H₁ "drawn from P" whose error of the first kind is at most alpha,
//
//	f(α) = sup over ε ∈ ℝ of (1 − δ_d(ε) − e^ε α)₊,
//
// P and Q as Direction says.
//
// Bound: lower, the safe side; any ε is valid, so the search cannot break it.
// Errors: *ParamError unless 0 ≤ α ≤ 1.
// Source: Dong, Roth, Su 2022, arXiv:1905.02383, Proposition 6.
func TradeOff(p Profile, d Direction, alpha float64) (float64, error) {
	if !(alpha >= 0 && alpha <= 1) {
		return 0, &ParamError{Name: "Alpha", Value: alpha, Want: "a number in [0, 1]"}
	}
	at := func(eps float64) float64 {
		v := -math.Expm1(p.LogDeltaUpper(d, eps))
		if alpha > 0 {
			v -= math.Exp(eps) * alpha
		}
		return v
	}
	if alpha == 0 {
		return math.Max(0, at(math.Inf(1))-tradeOffSlack), nil
	}
	best := -univariate.Minimum(func(x float64) float64 { return -at(math.Sinh(x)) }, -7, 7, 140, 45)
	return math.Max(0, best-tradeOffSlack), nil
}

// tradeOffSlack bounds the error of 1 − δ − e^ε α where that is positive: each term is at most 1 and errs by a few
// units in its last place.
const tradeOffSlack = 1.5e-15
