package interval

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/loss"
)

// curvatureChange returns q with |f‴| ≤ q·f″, so that the curvature changes by a factor of at most e^{qR·‖Δθ‖}; ok is
// false for a loss that has none (kinks in the slope, as Huber's, and clipping).
func curvatureChange(l loss.Loss) (q float64, ok bool) {
	if c, ok := l.(loss.SelfConcordant); ok {
		q := c.SelfConcordance()
		return q, !math.IsInf(q, 1)
	}
	return 0, false
}

// shrink returns (1 − e^{−u})/u, the mean of e^{−su} over s ∈ [0, 1]: what is left, on average over a segment, of the
// curvature at its end. shrink(−u) is by how much it can have grown.
func shrink(u float64) float64 {
	switch {
	case u == 0:
		return 1
	case math.IsInf(u, 1):
		return 0
	case math.IsInf(u, -1):
		return math.Inf(1)
	}
	return -math.Expm1(-u) / u
}

// radius returns the largest r with r·(λ + shrink(k·r)·mu) ≤ a, from above: how far a force of size a can move the
// minimiser where the curvature is at least mu at one end. The left side rises with r. λ = 0 is allowed; +Inf if there
// is no bound.
func radius(lambda, mu, k, a float64) float64 {
	if lambda == 0 {
		switch {
		case mu <= 0 || a*k >= mu:
			return math.Inf(1)
		case k == 0:
			return a / mu
		}
		return -math.Log1p(-a*k/mu) / k
	}
	lo, hi := a/(lambda+math.Max(0, mu)), a/lambda
	_, hi = univariate.Bisect(func(t float64) bool { return t*(lambda+shrink(k*t)*mu) > a }, lo, hi,
		univariate.Arithmetic, 1e-12)
	return hi
}
