// Package univariate has the searches over one variable that the rooms share: for the smallest value that passes a
// test, and for a minimum. What is found was seen: no result rests on the test or the function behaving as it should.
//
// It is a tool of every room and imports none.
package univariate

import "math"

// Mean is how a bracket is cut in two.
type Mean func(lo, hi float64) float64

// Arithmetic halves a bracket; with it a search can end in neighbouring floats.
func Arithmetic(lo, hi float64) float64 { return lo + (hi-lo)/2 }

// Geometric halves the ratio of a bracket's ends, which are positive and whose product is in the range of float64.
func Geometric(lo, hi float64) float64 { return math.Sqrt(lo * hi) }

// GeometricWide is Geometric for all positive ends, with one rounding more.
func GeometricWide(lo, hi float64) float64 { return math.Sqrt(lo) * math.Sqrt(hi) }

// Smallest says where to look for the smallest x > 0 that passes a test, and how closely: noise that suffices for a
// guarantee, for example.
type Smallest struct {
	// Start is the first x that is asked. Where it fails, larger ones are, each Factor > 1 times the last; with a
	// MaxFactor the factor is squared from step to step, up to that.
	Start, Factor, MaxFactor float64
	// Most bounds what is asked: beyond it there is no such x.
	Most float64
	// Least ≤ Start is a lower bound on the result. It is taken to fail, unless it is Start.
	Least float64
	// Cut is how brackets are cut.
	Cut Mean
	// Tolerance is the relative width of the last bracket; zero means neighbouring floats.
	Tolerance float64
}

// Find returns the upper end of the last bracket, at which the test was seen to pass, monotone or not; where it is
// monotone the smallest x that passes is at most Tolerance·x below. +Inf if nothing that was asked up to Most passes.
//
// Errors: the first that passes returns.
func (s Smallest) Find(passes func(x float64) (bool, error)) (float64, error) {
	var failed error
	ok := func(x float64) bool {
		if failed != nil {
			return true // the quickest way out
		}
		good, err := passes(x)
		failed = err
		return good || err != nil
	}
	lo, hi := s.Least, s.Start
	if ok(hi) {
		for x := hi / s.Factor; x > s.Least && failed == nil; x /= s.Factor {
			if !ok(x) {
				lo = x
				break
			}
			hi = x
		}
	} else {
		for factor := s.Factor; ; {
			if lo, hi = hi, hi*factor; hi > s.Most {
				return math.Inf(1), nil
			}
			if ok(hi) {
				break
			}
			if s.MaxFactor > 0 {
				factor = min(factor*factor, s.MaxFactor)
			}
		}
	}
	if hi > lo {
		_, hi = Bisect(ok, lo, hi, s.Cut, s.Tolerance)
	}
	return hi, failed
}

// Bisect narrows a bracket of where a test begins to pass, which it is known to do at hi and not at lo, until it is
// relatively as narrow as the tolerance or there is nothing between its ends. The test was seen to pass at the hi it
// returns, and to fail at lo, wherever these are not the ends given.
func Bisect(passes func(x float64) bool, lo, hi float64, cut Mean, tolerance float64) (float64, float64) {
	for hi-lo > tolerance*hi {
		mid := cut(lo, hi)
		if !(mid > lo && mid < hi) {
			break
		}
		if passes(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return lo, hi
}
