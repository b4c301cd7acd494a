package heavytail

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/loss"
)

// OnBall is the C-Lipschitz extension over W = {‖y‖ ≤ R}, the paper's (5), of a loss φ(⟨x,w⟩; y):
//
//	f_C(w) = min_{|a| ≤ R} φ(ρa) + C·√((p − a)² + (q − √(R² − a²))₊²),  ρ = ‖x‖, p = ⟨x,w⟩/ρ,  q = ‖w − px/ρ‖,
//
// convex in the one variable a. Where the ball binds its gradient is not along x.
//
// Source: docs/theory/heavytail.md, heavytail-lem2.2.
type OnBall struct {
	Loss      loss.Convex
	C, Radius float64
}

// slope returns φ and its slope at t.
func (e OnBall) slope(t, norm, y float64) (value, slope float64) {
	return loss.Cut(e.Loss, math.Inf(1), norm, t, y)
}

// Steepest returns A = sup_W ‖∇f‖ of a record with ‖x‖ = norm.
func (e OnBall) Steepest(norm, y float64) float64 {
	_, low := e.slope(-norm*e.Radius, norm, y)
	_, high := e.slope(norm*e.Radius, norm, y)
	return norm * math.Max(math.Abs(low), math.Abs(high))
}

// At returns f_C(w) of a record, x ≠ 0 and w in W, and writes a subgradient of norm at most C to g. Both are right to
// rounding: the sign of a derivative is bisected to the last bit, and the value is that of a point of W.
func (e OnBall) At(g, w, x []float64, y float64) float64 {
	norm := floats.Norm(x, 2)
	p := floats.Dot(x, w) / norm
	across := append([]float64(nil), w...)
	floats.AddScaled(across, -p/norm, x)
	q := floats.Norm(across, 2)
	// The nearest point of the chord at a is off by p − a along x and by this across.
	room := func(a float64) float64 { return math.Sqrt(math.Max(0, (e.Radius-a)*(e.Radius+a))) }
	rises := func(a float64) bool {
		_, slope := e.slope(norm*a, norm, y)
		off, derivative := math.Max(0, q-room(a)), a-p
		if off > 0 {
			derivative += off * a / math.Max(room(a), 1e-300)
		}
		if far := math.Hypot(p-a, off); far > 0 {
			return norm*slope+e.C*derivative/far > 0
		}
		return slope > 0
	}
	lo, hi := -e.Radius, e.Radius
	for range 100 {
		if mid := lo + (hi-lo)/2; rises(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	best := math.Inf(1)
	var at, far, off float64
	try := func(a float64) {
		s := math.Max(0, q-room(a))
		value, _ := e.slope(norm*a, norm, y)
		if value += e.C * math.Hypot(p-a, s); value < best {
			best, at, far, off = value, a, math.Hypot(p-a, s), s
		}
	}
	try(lo)
	try(hi)
	try(p) // w itself
	if far <= 1e-12*e.Radius {
		_, slope := e.slope(norm*p, norm, y)
		floats.ScaleTo(g, math.Max(-e.C/norm, math.Min(slope, e.C/norm)), x)
		return best
	}
	// The gradient of C‖w − y*‖.
	floats.ScaleTo(g, e.C*(p-at)/far/norm, x)
	if off > 0 {
		floats.AddScaled(g, e.C*off/far/q, across)
	}
	return best
}
