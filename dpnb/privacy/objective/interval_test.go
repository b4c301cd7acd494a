package objective

import "math"

// Arithmetic with intervals that are rounded outward: the result of every operation contains every
// value that the operation can take on points of its arguments. It is meant for machine-checked inequalities.
//
// A sum, difference, product or quotient of floats is correctly rounded, so one step outward suffices. math.Exp is
// documented to no accuracy; its error is below one unit in the last place in practice, sixteen are allowed for.

// interval is the set of reals x with Lo ≤ x ≤ Hi. The ends may be infinite.
type interval struct{ Lo, Hi float64 }

// point returns the interval that has only x.
func point(x float64) interval { return interval{x, x} }

// roundUp returns the next float above x; infinities and NaN stay.
func roundUp(x float64) float64 {
	switch {
	case math.IsInf(x, 1) || x != x:
		return x
	case x == 0:
		return math.SmallestNonzeroFloat64
	case x > 0:
		return math.Float64frombits(math.Float64bits(x) + 1)
	}
	return math.Float64frombits(math.Float64bits(x) - 1)
}

// roundDown returns the next float below x.
func roundDown(x float64) float64 { return -roundUp(-x) }

// Add returns a + b.
func (a interval) Add(b interval) interval {
	return interval{roundDown(a.Lo + b.Lo), roundUp(a.Hi + b.Hi)}
}

// Sub returns a − b.
func (a interval) Sub(b interval) interval {
	return interval{roundDown(a.Lo - b.Hi), roundUp(a.Hi - b.Lo)}
}

// Neg returns −a.
func (a interval) Neg() interval { return interval{-a.Hi, -a.Lo} }

// Mul returns a·b. Zero times an infinite end is zero: an end is a bound, never a value.
func (a interval) Mul(b interval) interval {
	if a.Lo >= 0 && b.Lo >= 0 {
		return interval{max(0, roundDown(product(a.Lo, b.Lo))), roundUp(product(a.Hi, b.Hi))}
	}
	p, q := product(a.Lo, b.Lo), product(a.Lo, b.Hi)
	r, s := product(a.Hi, b.Lo), product(a.Hi, b.Hi)
	return interval{roundDown(min(p, q, r, s)), roundUp(max(p, q, r, s))}
}

func product(x, y float64) float64 {
	if x == 0 || y == 0 {
		return 0
	}
	return x * y
}

// Div returns a/b. It panics unless b is positive.
func (a interval) Div(b interval) interval {
	if !(b.Lo > 0) {
		panic("interval: division by an interval that is not positive")
	}
	lo, hi := a.Lo/b.Hi, a.Hi/b.Lo
	if a.Lo < 0 {
		lo = a.Lo / b.Lo
	}
	if a.Hi < 0 {
		hi = a.Hi / b.Hi
	}
	return interval{roundDown(lo), roundUp(hi)}
}

// Sqr returns {x² : x ∈ a}.
func (a interval) Sqr() interval {
	p, q := a.Lo*a.Lo, a.Hi*a.Hi
	if a.Lo <= 0 && a.Hi >= 0 {
		return interval{0, roundUp(max(p, q))}
	}
	return interval{max(0, roundDown(min(p, q))), roundUp(max(p, q))}
}

// expError is the relative error allowed to math.Exp.
const expError = 16 * 0x1p-52

// expUp returns a float no smaller than e^x.
func expUp(x float64) float64 {
	return roundUp(math.Exp(x)*(1+expError)) + math.SmallestNonzeroFloat64
}

// expDown returns a float no larger than e^x, at least 0.
func expDown(x float64) float64 { return max(0, roundDown(math.Exp(x)*(1-expError))) }

// Exp returns e^a.
func (a interval) Exp() interval { return interval{expDown(a.Lo), expUp(a.Hi)} }

// Bounds of 1/√(2π) = 0.398942280401432677939946…
const (
	invSqrt2PiLo = 0.39894228040143264
	invSqrt2PiHi = 0.39894228040143271
)

// PDF returns the standard normal density φ on a.
func (a interval) PDF() interval {
	s := a.Sqr().Mul(point(-0.5)).Exp()
	return interval{roundDown(s.Lo * invSqrt2PiLo), roundUp(s.Hi * invSqrt2PiHi)}
}

// Max0 returns {max(x, 0) : x ∈ a}.
func (a interval) Max0() interval { return interval{max(a.Lo, 0), max(a.Hi, 0)} }

// Contains reports whether x ∈ a.
func (a interval) Contains(x float64) bool { return a.Lo <= x && x <= a.Hi }
