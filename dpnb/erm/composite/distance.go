package composite

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// maxAlternations bounds the projections by turns of nearestPair.
const maxAlternations = 1000

// JointDistance returns dist(0, g + ∂r(θ) + N_C(θ)), the left side of qop's criterion (7) if g is the gradient of the
// smooth terms. It is exact, up to rounding, where exact is true: one of the two sets is a point, or both are products
// of intervals. Else it comes from projections on ∂r(θ) and N_C(θ) by turns, which converge to the distance from above.
//
// θ must lie in C.
func JointDistance(r Regulariser, c Projector, g, theta []float64) (dist float64, exact bool) {
	d := len(theta)
	pair := newPair(d)
	return pair.nearest(r, c, g, theta), intervals(r, c) || point(r) || point(c)
}

// point says that φ has one subgradient wherever there is one.
func point(phi Subdifferential) bool {
	switch phi.(type) {
	case None, Everywhere:
		return true
	}
	return false
}

// intervals says that ∂r(θ) and N_C(θ) are products of intervals.
func intervals(r Regulariser, c Projector) bool {
	switch r.(type) {
	case None, L1:
	default:
		return false
	}
	switch c.(type) {
	case Everywhere, Box:
		return true
	}
	return false
}

// structural says that ∂r and N_C are known exactly at a point within shift of what float64 holds: zeros and bounds are
// met exactly, a point is moved to the sphere or the simplex by a factor, which changes no subgradient of a norm, and
// to the face of a cone by the shortest way.
func structural(r Regulariser, c Projector) bool {
	switch r.(type) {
	case None, L1, L2, GroupL1:
	default:
		return false
	}
	switch c.(type) {
	case Everywhere, Box, Ball, Simplex:
		return true
	case *Cone:
		return point(r)
	}
	return false
}

// shift bounds the distance of θ from the point of C that a certificate is about.
func shift(c Projector, theta []float64) float64 {
	switch c := c.(type) {
	case Ball:
		if floats.Norm(theta, 2) >= c.Radius*(1-2*edge(len(theta))) {
			return 3 * edge(len(theta)) * c.Radius
		}
	case Simplex:
		return 3 * edge(len(theta)) * c.Sum
	case *Affine:
		return c.shift(theta)
	case *Cone:
		_, shift := c.face(theta)
		return shift
	}
	return 0
}

// pair is a subgradient s and a normal v, with what is left of g + s + v, and room for another s.
type pair struct{ s, v, rest, kept []float64 }

func newPair(d int) *pair {
	return &pair{make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d)}
}

// nearest finds s ∈ ∂r(θ) and v ∈ N_C(θ) with small ‖g + s + v‖, which it returns, from the v that is there: s is the
// best for v, then v for s, and so on. For intervals, from v = 0, the first s and v are the best: what s cannot take is
// left to v entirely.
func (p *pair) nearest(r Regulariser, c Projector, g, theta []float64) float64 {
	once := intervals(r, c) || point(r) || point(c)
	if once {
		clear(p.v)
	}
	last := math.Inf(1)
	for range maxAlternations {
		for j, x := range g {
			p.rest[j] = -x - p.v[j]
		}
		r.Nearest(p.s, p.rest, theta)
		for j, x := range g {
			p.rest[j] = -x - p.s[j]
		}
		c.Nearest(p.v, p.rest, theta)
		norm := p.norm(g)
		if once || !(norm < last*(1-1e-6)) {
			return norm
		}
		last = norm
	}
	return last
}

// norm returns ‖g + s + v‖ and leaves the sum in rest.
func (p *pair) norm(g []float64) float64 {
	for j, x := range g {
		p.rest[j] = x + p.s[j] + p.v[j]
	}
	return floats.Norm(p.rest, 2)
}

// rounding bounds the error of norm beyond that of g: three sums, members of ∂r and N_C that are computed through a
// norm, and the norm itself.
func (p *pair) rounding(g []float64) float64 {
	k := (3*float64(len(g)) + 16) * unit
	return k * (floats.Norm(g, 2) + floats.Norm(p.s, 2) + floats.Norm(p.v, 2))
}
