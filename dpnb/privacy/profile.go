package privacy

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/privacy/internal/elementary"
)

// Profile is a privacy profile: for every ε ∈ ℝ and each direction an upper bound on the hockey-stick divergence
//
//	δ_d(ε) = sup over neighbours of H_{e^ε}(P‖Q) = sup ∫ (p − e^ε q)₊,
//
// P and Q as Direction says. Implementations are immutable and safe for concurrent use.
//
// A Profile is the worst case over datasets for each ε by itself; by Zhu, Dong and Wang (2022) the function α ↦ δ(ln α)
// then is that of a dominating pair, so profiles compose.
type Profile interface {
	// Adjacency under which the profile holds.
	Adjacency() Adjacency
	// LogDeltaUpper returns an upper bound on ln δ_d(ε). It is at most 0 and −Inf where δ is zero. It is never below
	// the exact value: whatever is lost to rounding is lost to the safe side.
	LogDeltaUpper(d Direction, eps float64) float64
}

// LowerProfile is implemented by profiles that also know a lower bound on the exact δ_d(ε), so that the gap can be
// reported.
type LowerProfile interface {
	Profile
	// LogDeltaLower returns a lower bound on ln δ_d(ε), −Inf if nothing is known.
	LogDeltaLower(d Direction, eps float64) float64
}

// LogDeltaUpper returns an upper bound on ln δ(ε), the larger of the two directions.
func LogDeltaUpper(p Profile, eps float64) float64 {
	return math.Max(p.LogDeltaUpper(Remove, eps), p.LogDeltaUpper(Add, eps))
}

// LogDeltaLower returns a lower bound on ln δ(ε): the larger of the two directions' lower bounds; −Inf if p knows none.
func LogDeltaLower(p Profile, eps float64) float64 {
	l, ok := p.(LowerProfile)
	if !ok {
		return math.Inf(-1)
	}
	return math.Max(l.LogDeltaLower(Remove, eps), l.LogDeltaLower(Add, eps))
}

// DeltaUpper returns an upper bound on δ(ε) of p, in [0, 1], the larger of the two directions. A positive δ below the
// smallest float64 is rounded up to it.
func DeltaUpper(p Profile, eps float64) float64 {
	return ExpUp(LogDeltaUpper(p, eps))
}

// ExpUp returns e^x rounded up, at most 1: a logarithm of a probability as one. A positive probability below the
// smallest float64 is rounded up to it.
func ExpUp(x float64) float64 {
	if math.IsInf(x, -1) {
		return 0
	}
	if !(x < 0) { // NaN too, which bounds nothing
		return 1
	}
	return math.Min(elementary.ExpUp(x), 1)
}

// epsilonBounds is implemented by profiles that are too dear for a search to the last place: lower and upper bounds of
// the smallest ε ≥ 0 with δ(ε) ≤ delta; ok is false where that search is the better way.
type epsilonBounds interface {
	EpsilonBounds(delta float64) (lower, upper float64, ok bool)
}

// EpsilonUpper returns the smallest ε ≥ 0 that p is proved to satisfy at δ, rounded up; +Inf if there is none below
// 1e9.
//
// Errors: *ParamError unless 0 ≤ δ ≤ 1.
func EpsilonUpper(p Profile, delta float64) (float64, error) {
	if !(delta >= 0 && delta <= 1) {
		return 0, &ParamError{Name: "Delta", Value: delta, Want: "a number in [0, 1]"}
	}
	if b, ok := p.(epsilonBounds); ok {
		if _, up, ok := b.EpsilonBounds(delta); ok {
			return up, nil
		}
	}
	want := logDown(delta)
	_, hi := searchEpsilon(func(eps float64) bool { return LogDeltaUpper(p, eps) <= want })
	return hi, nil
}

// logDown and logUp return ln δ rounded to either side.
func logDown(delta float64) float64 {
	l := elementary.Log(delta)
	return roundDown(l, 4e-16*math.Abs(l))
}

func logUp(delta float64) float64 {
	l := elementary.Log(delta)
	return roundUp(l, 4e-16*math.Abs(l))
}

// searchEpsilon returns the last bracket of the smallest ε ≥ 0 at which ok holds: it does at hi, and does not at lo
// unless both are 0. Where it holds nowhere below 1e9, hi is +Inf. ok is assumed monotone; if it is not, that much is
// still true.
func searchEpsilon(ok func(float64) bool) (lo, hi float64) {
	if ok(0) {
		return 0, 0
	}
	hi = 1
	for !ok(hi) {
		lo, hi = hi, 2*hi
		if hi > 1e9 {
			return lo, math.Inf(1)
		}
	}
	if lo == 0 {
		// Down by squares to the right power of ten first: ε may be 1e-300.
		for x := hi; x > 1e-300; {
			next := math.Max(x*x, 1e-300)
			if x == 1 {
				next = 0.1
			}
			if !ok(next) {
				lo = next
				break
			}
			hi, x = next, next
		}
	}
	for i := 0; lo > 0 && hi > 4*lo && i < 64; i++ {
		if mid := univariate.GeometricWide(lo, hi); ok(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return univariate.Bisect(ok, lo, hi, univariate.Arithmetic, 0)
}

// EpsilonLower returns a lower bound on the smallest ε ≥ 0 with δ(ε) ≤ delta; 0 if p knows no lower bounds.
func EpsilonLower(p Profile, delta float64) float64 {
	if _, ok := p.(LowerProfile); !ok {
		return 0
	}
	if b, ok := p.(epsilonBounds); ok {
		if low, _, ok := b.EpsilonBounds(delta); ok {
			return low
		}
	}
	want := logUp(delta)
	// At lo the lower bound was seen to be above δ; beyond hi nothing is said.
	lo, _ := searchEpsilon(func(eps float64) bool { return !(LogDeltaLower(p, eps) > want) })
	return lo
}

// symmetric is what a profile has whose two directions agree, of that adjacency.
type symmetric Adjacency

func (s symmetric) Adjacency() Adjacency { return Adjacency(s) }
func (symmetric) Symmetric() bool        { return true }

// IsSymmetric reports whether p says, by a method Symmetric() bool, that its two directions agree.
func IsSymmetric(p Profile) bool {
	s, ok := p.(interface{ Symmetric() bool })
	return ok && s.Symmetric()
}
