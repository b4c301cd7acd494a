package rkw23

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/paper/internal/errata"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

// Theorem H.1: another minimiser with clipping, another optimal λ, and no n.
func TestRKW23TheoremH1(t *testing.T) {
	// Records x = 1, three of five labels +1: L(θ) of the loss that is not clipped; the clipped one has its minimiser
	// where 0.6·s(−θ) = 0.4·C.
	const n, lambda, sigma, clip = 10_000.0, 100.0, 1.0, 0.1
	value := func(theta float64) float64 {
		return n * (0.6*math.Log1p(math.Exp(-theta)) + 0.4*math.Log1p(math.Exp(theta)))
	}
	excess := measure.Integral(func(z float64) float64 {
		lo, _ := univariate.Bisect(func(at float64) bool {
			return n*(-0.6*math.Min(clip, measure.Sigmoid(-at))+0.4*math.Min(clip, measure.Sigmoid(at)))+lambda*at+
				sigma*z >= 0
		}, -10, 10, univariate.Arithmetic, 0)
		return measure.Phi(z) * (value(lo) - value(math.Log(1.5)))
	}, -8, 8, 40)
	printed := func(n, d, beta, lambda, sigma, norm float64) float64 {
		return (n*beta+lambda)*d*sigma*sigma/(2*lambda*lambda) + lambda*norm*norm/2
	}
	bound := printed(n, 1, 0.25, lambda, sigma, math.Log(1.5))
	if !(excess > 100*bound) {
		t.Errorf("excess %.4g, bound %.4g", excess, bound)
	}
	errata.Quotes(t, "rkw23-41", "%.0f %.1f", excess, bound)

	// n = 1000, d = 10, ‖θ⋆‖ = 2, L = 1, ε = 1, σ = 5.
	const norm, noise, d = 2.0, 5.0, 10.0
	at := printed(1000, d, 0.25, d/norm, noise, norm)
	best := math.Cbrt(2 * 1000 * 0.25 * d * noise * noise / (norm * norm))
	least := printed(1000, d, 0.25, best, noise, norm)
	sharper := noise * math.Sqrt(d) * norm / 2
	if !(at > 10*least && sharper < least) {
		t.Errorf("%.4g at the printed λ, %.4g at %.3g, %.4g without n", at, least, best, sharper)
	}
	errata.Quotes(t, "rkw23-41", "%.0f %.1f", at, least, sharper)
}
