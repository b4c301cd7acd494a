package privacy

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/logspace"
	"github.com/dpnb/notebooks/dpnb/internal/normal"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
)

// GroupProfile returns what p, a profile for one record under add/remove-one, is for k of them that are added together
// or removed together: for all ε₁ + … + ε_k = ε
//
//	δ_k(ε) ≤ Σⱼ δ(εⱼ) exp(Σ_{i>j} εᵢ),
//
// as P_j(S) ≤ e^{εⱼ} P_{j−1}(S) + δ(εⱼ) a record at a time. The infimum is the composition of k trade-off functions,
// 1 − (1 − f)∘…∘(1 − f). Here the ε's fall evenly from record to record, as those of Gaussian mechanisms do, by μ² and
// exactly so; of those of many records, some have the same.
//
// Bound: upper; any ε's are valid, so the search cannot break it.
// Errors: *ParamError unless k ≥ 1; ErrAdjacency if p does not hold under AddRemove.
// Source: after Dong, Roth, Su 2022, arXiv:1905.02383, Theorem 2.14. Proof: docs/theory/statistics.md.
func GroupProfile(p Profile, k int) (Profile, error) {
	if k < 1 {
		return nil, &ParamError{Name: "k", Value: k, Want: "at least 1"}
	}
	if p.Adjacency() != AddRemove {
		return nil, fmt.Errorf("%w: a group's profile follows from an add/remove-one profile only", ErrAdjacency)
	}
	if k == 1 {
		return p, nil
	}
	if low, high, ok := GaussianMu(p); ok {
		return GaussianProfileBetween(float64(k)*low*(1-0x1p-50), float64(k)*high*(1+0x1p-50), AddRemove), nil
	}
	return groupProfile{p, k}, nil
}

type groupProfile struct {
	of Profile
	k  int
}

// mostSteps is how many different ε's there are.
const mostSteps = 8

func (g groupProfile) Adjacency() Adjacency { return AddRemove }

// LogDeltaUpper goes by quick values where there are some, which are of both directions.
func (g groupProfile) LogDeltaUpper(d Direction, eps float64) float64 {
	if q, ok := g.of.(QuickProfile); ok {
		return g.least(q.QuickLogDeltaUpper, eps)
	}
	return g.least(func(eps float64) float64 { return g.of.LogDeltaUpper(d, eps) }, eps)
}

func (g groupProfile) QuickLogDeltaUpper(eps float64) float64 {
	return g.least(func(eps float64) float64 { return QuickLogDeltaUpper(g.of, eps) }, eps)
}

// least returns the smallest bound that was found, of one record's.
func (g groupProfile) least(one func(eps float64) float64, eps float64) float64 {
	switch {
	case math.IsInf(eps, -1):
		return 0
	case math.IsInf(eps, 1): // of what has probability zero without the records, and with the first δ(∞) at most
		first, best, others := one(eps), 0.0, float64(g.k-1)
		if math.IsInf(first, -1) {
			return first
		}
		for e := 1e-3; e < 1e3; e *= 2 {
			best = math.Min(best, roundUp(logspace.Add(first+others*e, one(e)+logGeometric(others, e)),
				1e-13+1e-14*(math.Abs(first)+others*e)))
		}
		return best
	}
	// All the same, and with the fall of a Gaussian mechanism that has as much in the middle.
	middle := eps / float64(g.k)
	l := one(middle - 2e-15*math.Abs(middle))
	mu := gaussianMuAt(middle, l)
	return math.Min(g.bound(one, eps, mu*mu), g.bound(func(float64) float64 { return l }, eps, 0))
}

// gaussianMuAt returns about the μ at which the Gaussian mechanism has ln δ(ε) = l; 1000 if it is more.
func gaussianMuAt(eps, l float64) float64 {
	_, mu := univariate.Bisect(func(mu float64) bool { return logDeltaGaussian(eps, mu) >= l }, 0, 1e3,
		univariate.Arithmetic, 1e-9)
	return mu
}

// EpsilonBounds implements epsilonBounds: from an ε it goes to where a Gaussian mechanism that has as much there is at
// delta, which is near at once. The upper bound was seen to hold.
func (g groupProfile) EpsilonBounds(delta float64) (lower, upper float64, ok bool) {
	want, eps := logDown(delta), 1.0
	if !(want < 0) || math.IsInf(want, -1) {
		return 0, 0, false
	}
	for range 30 {
		next, err := EpsilonUpper(GaussianProfile(gaussianMuAt(eps, g.QuickLogDeltaUpper(eps)), AddRemove), delta)
		if err != nil || !(next > 0) {
			break
		}
		moved := math.Abs(next - eps)
		if eps = next; moved <= 1e-6*eps {
			for more := 1e-7; more < 1e-2; more *= 4 {
				if e := eps * (1 + more); g.QuickLogDeltaUpper(e) <= want {
					return 0, e, true
				}
			}
			break
		}
	}
	return 0, 0, false
}

// bound is the sum, rounded up, with ε's that fall by so much from record to record.
func (g groupProfile) bound(logDelta func(eps float64) float64, eps, fall float64) float64 {
	k := float64(g.k)
	steps := min(g.k, mostSteps)
	sum, later, size := math.Inf(-1), 0.0, 0.0
	for s, left := steps, g.k; s > 0; s-- { // the last first
		n := float64(left / s)
		before := float64(left) - n
		left -= left / s
		// Of records before+1 … before+n the mean of (k + 1)/2 − j.
		off := 0.5*(k-n) - before
		e := eps/k + off*fall
		e -= 2e-15 * (math.Abs(eps/k) + math.Abs(off*fall)) // together at most ε
		l := logDelta(e)
		sum = logspace.Add(sum, l+logGeometric(n, e)+later)
		later += n * e
		if !math.IsInf(l, 0) {
			size = math.Max(size, math.Abs(l))
		}
		size = math.Max(size, math.Abs(later)+n*math.Abs(e))
	}
	return roundUp(sum, 1e-13+1e-14*size)
}

// logGeometric returns ln(1 + e^ε + … + e^{(n−1)ε}).
func logGeometric(n, eps float64) float64 {
	a := math.Abs(eps)
	if a == 0 {
		return math.Log(n)
	}
	l := math.Log(-math.Expm1(-n*a)) - math.Log(-math.Expm1(-a))
	if eps > 0 {
		l += (n - 1) * a
	}
	return l
}

// AsGaussian implements GaussianCost: what is μ-GDP but for a probability of s is kμ-GDP but for t_k,
//
//	t₁ = s,  t_{j+1} = Φ(Φ⁻¹(t_j) + μ) + s,
//
// for a test of level α has power at most h(α) + s against one record more, h(α) = Φ(Φ⁻¹(α) + μ), and h is concave with
// h(0) = 0, so that h(α + t) ≤ h(α) + h(t).
//
// Errors: as AsGaussian.
func (g groupProfile) AsGaussian(tail float64) (mu, delta float64, err error) {
	for s := tail / float64(g.k); s > 0; s /= 2 {
		if mu, delta, err = AsGaussian(g.of, s); err != nil {
			return 0, 0, err
		}
		t := delta
		for i := 1; i < g.k && t <= tail; i++ {
			l := normal.LogSurvival(-(quantileUp(t) + mu))
			t = (ExpUp(roundUp(l, gaussianSlack(l))) + delta) * (1 + 0x1p-50)
		}
		if t <= tail {
			return float64(g.k) * mu * (1 + 0x1p-50), t, nil
		}
	}
	return 0, 0, fmt.Errorf("%w: δ(ε) of one record does not fall fast enough for so many", ErrUnsupported)
}

// quantileUp returns Φ⁻¹(t), rounded up, for t < 1; −Inf for zero.
func quantileUp(t float64) float64 {
	if t == 0 {
		return math.Inf(-1)
	}
	want := logUp(t)
	_, x := univariate.Bisect(func(x float64) bool {
		l := normal.LogSurvival(-x)
		return roundDown(l, gaussianSlack(l)) >= want
	}, -40, 40, univariate.Arithmetic, 0)
	return x
}
