// Package logscale is the logarithmic scale on which numbers between public bounds are placed: ln(v/lower) where the
// lower bound is positive, so that equal factors are equal steps, and ln(1 + v − lower) where there is no such scale.
package logscale

import "math"

// Scale is that between two bounds.
type Scale struct {
	lower, upper, unit float64
	// Width is ln(upper/lower), or ln(1 + upper − lower).
	Width float64
}

// Between returns the scale between finite bounds lower < upper. Its Width is +Inf if float64 cannot have upper/lower.
func Between(lower, upper float64) Scale {
	s := Scale{lower: lower, upper: upper, unit: 1}
	if lower > 0 {
		s.unit = lower
	}
	s.Width = math.Log1p((upper - lower) / s.unit)
	return s
}

// Place returns the number at a share of the scale between two bounds, of the logarithmic one if log.
func Place(lower, upper, share float64, log bool) float64 {
	if log {
		return Between(lower, upper).Value(share)
	}
	return lower + share*(upper-lower)
}

// Share returns where v ≥ lower stands: 0 at the lower bound, 1 at the upper one but for rounding. It rises with v.
func (s Scale) Share(v float64) float64 { return math.Log1p((v-s.lower)/s.unit) / s.Width }

// Value is the inverse of Share, for shares from 0 to 1: exactly the bounds at these.
func (s Scale) Value(share float64) float64 {
	if share >= 1 {
		return s.upper
	}
	return min(s.upper, s.lower+s.unit*math.Expm1(share*s.Width))
}
