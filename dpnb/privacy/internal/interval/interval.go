// Package interval is arithmetic with intervals that are rounded outward: the result of every operation contains every
// value that the operation can take on points of its arguments. It is meant for machine-checked inequalities.
//
// A sum, difference, product or quotient of floats is correctly rounded, so one step outward suffices. math.Exp is
// documented to no accuracy; its error is below one unit in the last place in practice, sixteen are allowed for.
package interval

import "math"

// Interval is the set of reals x with Lo ≤ x ≤ Hi. The ends may be infinite.
type Interval struct{ Lo, Hi float64 }

// Point returns the interval that has only x.
func Point(x float64) Interval { return Interval{x, x} }

// Up returns the next float above x; infinities and NaN stay.
func Up(x float64) float64 {
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

// Down returns the next float below x.
func Down(x float64) float64 { return -Up(-x) }

// Add returns a + b.
func (a Interval) Add(b Interval) Interval { return Interval{Down(a.Lo + b.Lo), Up(a.Hi + b.Hi)} }

// Sub returns a − b.
func (a Interval) Sub(b Interval) Interval { return Interval{Down(a.Lo - b.Hi), Up(a.Hi - b.Lo)} }

// Neg returns −a.
func (a Interval) Neg() Interval { return Interval{-a.Hi, -a.Lo} }

// Mul returns a·b. Zero times an infinite end is zero: an end is a bound, never a value.
func (a Interval) Mul(b Interval) Interval {
	if a.Lo >= 0 && b.Lo >= 0 {
		return Interval{max(0, Down(product(a.Lo, b.Lo))), Up(product(a.Hi, b.Hi))}
	}
	p, q := product(a.Lo, b.Lo), product(a.Lo, b.Hi)
	r, s := product(a.Hi, b.Lo), product(a.Hi, b.Hi)
	return Interval{Down(min(p, q, r, s)), Up(max(p, q, r, s))}
}

func product(x, y float64) float64 {
	if x == 0 || y == 0 {
		return 0
	}
	return x * y
}

// Div returns a/b. It panics unless b is positive.
func (a Interval) Div(b Interval) Interval {
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
	return Interval{Down(lo), Up(hi)}
}

// Sqr returns {x² : x ∈ a}.
func (a Interval) Sqr() Interval {
	p, q := a.Lo*a.Lo, a.Hi*a.Hi
	if a.Lo <= 0 && a.Hi >= 0 {
		return Interval{0, Up(max(p, q))}
	}
	return Interval{max(0, Down(min(p, q))), Up(max(p, q))}
}

// expError is the relative error allowed to math.Exp.
const expError = 16 * 0x1p-52

// ExpUp returns a float no smaller than e^x.
func ExpUp(x float64) float64 {
	return Up(math.Exp(x)*(1+expError)) + math.SmallestNonzeroFloat64
}

// expDown returns a float no larger than e^x, at least 0.
func expDown(x float64) float64 { return max(0, Down(math.Exp(x)*(1-expError))) }

// Exp returns e^a.
func (a Interval) Exp() Interval { return Interval{expDown(a.Lo), ExpUp(a.Hi)} }

// Bounds of 1/√(2π) = 0.398942280401432677939946…
const (
	invSqrt2PiLo = 0.39894228040143264
	invSqrt2PiHi = 0.39894228040143271
)

// PDF returns the standard normal density φ on a.
func (a Interval) PDF() Interval {
	s := a.Sqr().Mul(Point(-0.5)).Exp()
	return Interval{Down(s.Lo * invSqrt2PiLo), Up(s.Hi * invSqrt2PiHi)}
}

// Max0 returns {max(x, 0) : x ∈ a}.
func (a Interval) Max0() Interval { return Interval{max(a.Lo, 0), max(a.Hi, 0)} }

// Contains reports whether x ∈ a.
func (a Interval) Contains(x float64) bool { return a.Lo <= x && x <= a.Hi }
