package privacy

import "math"

// Profile is a privacy profile: for every ε ∈ ℝ and each direction an upper
// bound on the hockey-stick divergence
//
//	δ_d(ε) = sup over neighbours of H_{e^ε}(P‖Q) = sup ∫ (p − e^ε q)₊,
//
// P and Q as Direction says. Implementations are immutable and safe for
// concurrent use.
//
// A Profile is the worst case over datasets for each ε by itself; by Zhu, Dong
// and Wang (2022) the function α ↦ δ(ln α) then is that of a dominating pair,
// so profiles compose.
type Profile interface {
	// Adjacency under which the profile holds.
	Adjacency() Adjacency
	// LogDeltaUpper returns an upper bound on ln δ_d(ε). It is at most 0 and
	// −Inf where δ is zero. It is never below the exact value: whatever is
	// lost to rounding is lost to the safe side.
	LogDeltaUpper(d Direction, eps float64) float64
}

// LowerProfile is implemented by profiles that also know a lower bound on the
// exact δ_d(ε), so that the gap can be reported.
type LowerProfile interface {
	Profile
	// LogDeltaLower returns a lower bound on ln δ_d(ε), −Inf if nothing is known.
	LogDeltaLower(d Direction, eps float64) float64
}

// LogDeltaUpper returns an upper bound on ln δ(ε), the larger of the two directions.
func LogDeltaUpper(p Profile, eps float64) float64 {
	return math.Max(p.LogDeltaUpper(Remove, eps), p.LogDeltaUpper(Add, eps))
}

// LogDeltaLower returns a lower bound on ln δ(ε): the larger of the two
// directions' lower bounds; −Inf if p knows none.
func LogDeltaLower(p Profile, eps float64) float64 {
	l, ok := p.(LowerProfile)
	if !ok {
		return math.Inf(-1)
	}
	return math.Max(l.LogDeltaLower(Remove, eps), l.LogDeltaLower(Add, eps))
}

// DeltaUpper returns an upper bound on δ(ε) of p, in [0, 1], the larger of the
// two directions. A positive δ below the smallest float64 is rounded up to it.
func DeltaUpper(p Profile, eps float64) float64 {
	return ExpUp(LogDeltaUpper(p, eps))
}

// ExpUp returns e^x rounded up, at most 1: a logarithm of a probability as one.
// A positive probability below the smallest float64 is rounded up to it.
func ExpUp(x float64) float64 {
	if math.IsInf(x, -1) {
		return 0
	}
	v := math.Exp(x)
	if v < 1 {
		// math.Exp errs by less than one unit in the last place.
		v = math.Nextafter(v, 2)
	}
	return math.Min(v, 1)
}

// EpsilonUpper returns the smallest ε ≥ 0 that p is proved to satisfy at δ,
// rounded up; +Inf if there is none below 1e9.
//
// Errors: *ParamError unless 0 ≤ δ ≤ 1.
func EpsilonUpper(p Profile, delta float64) (float64, error) {
	if !(delta >= 0 && delta <= 1) {
		return 0, &ParamError{Name: "Delta", Value: delta, Want: "a number in [0, 1]"}
	}
	want := math.Log(delta)
	if delta > 0 {
		want -= 3e-16 * math.Abs(want) // the logarithm rounded down
	}
	return searchEpsilon(func(eps float64) bool { return LogDeltaUpper(p, eps) <= want }), nil
}

// searchEpsilon returns the right end of the last bracket of the smallest
// ε ≥ 0 at which ok holds. ok is assumed monotone; if it is not, the result
// still satisfies it.
func searchEpsilon(ok func(float64) bool) float64 {
	if ok(0) {
		return 0
	}
	hi := 1.0
	for !ok(hi) {
		hi *= 2
		if hi > 1e9 {
			return math.Inf(1)
		}
	}
	return bisect(ok, 0, hi, 0, 200)
}

// bisect returns the right end, at which ok holds, of a bracket that is narrowed
// to a relative tolerance, to neighbouring floats, or for so many steps.
func bisect(ok func(float64) bool, lo, hi, tolerance float64, steps int) float64 {
	for i := 0; i < steps && hi-lo > tolerance*hi; i++ {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			break
		}
		if ok(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// EpsilonLower returns a lower bound on the smallest ε ≥ 0 with δ(ε) ≤ delta;
// 0 if p knows no lower bounds.
func EpsilonLower(p Profile, delta float64) float64 {
	if _, ok := p.(LowerProfile); !ok {
		return 0
	}
	want := math.Log(delta)
	want += 2e-16 * math.Abs(want)
	above := func(eps float64) bool { return LogDeltaLower(p, eps) > want }
	if !above(0) {
		return 0
	}
	eps := searchEpsilon(func(eps float64) bool { return !above(eps) })
	if math.IsInf(eps, 1) {
		return 1e9
	}
	return math.Nextafter(eps, 0)
}

// IsSymmetric reports whether p says, by a method Symmetric() bool, that its
// two directions agree.
func IsSymmetric(p Profile) bool {
	s, ok := p.(interface{ Symmetric() bool })
	return ok && s.Symmetric()
}
