package composite

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/matrix"
	"gonum.org/v1/gonum/floats"
)

// Certificate bounds how far a point is from the minimiser θ⋆ of J over C. It comes from the gradient at the point and
// a pair of subgradients alone, whatever found them:
//
//   - θ′ ∈ C is within Shift of Theta;
//   - s + v is an ε-subgradient of r + ι_C at θ′, ε = Slack: an exact one where
//     Slack is 0;
//   - ‖∇(J − r)(θ′) + s + v‖ ≤ Residual + Rounding.
//
// With Slack = 0 this is qop's criterion (7), dist(0, ∂J(θ′) + N_C(θ′)) ≤ Bound.
type Certificate struct {
	// Residual is ‖∇ + s + v‖₂ as computed.
	Residual float64
	// Rounding bounds its error, the way from Theta to θ′ included.
	Rounding float64
	// Slack is ε. It is 0 for None, L1, L2 and GroupL1 with no constraint, a Box, a Ball or a Simplex,
	// and for a Cone.
	Slack float64
	// Shift is 0 without a constraint and for a Box.
	Shift float64
	// Modulus is the μ that Bound, Gap and Distance hold for: J − r is to be μ-strongly convex on C.
	Modulus float64
}

// Bound returns √((Residual+Rounding)² + 2μ·Slack), which takes the place of dist(0, ∂J + N_C): Gap is Bound²/(2μ).
func (c Certificate) Bound() float64 {
	w := c.Residual + c.Rounding
	if c.Slack == 0 {
		return w
	}
	return math.Sqrt(w*w+2*c.Modulus*c.Slack) * (1 + 8*unit)
}

// Gap bounds J(θ′) − J(θ⋆) by Bound²/(2μ); +Inf if μ = 0.
func (c Certificate) Gap() float64 {
	if c.Modulus == 0 {
		return math.Inf(1)
	}
	b := c.Bound()
	return b * b / (2 * c.Modulus) * (1 + 8*unit)
}

// Distance bounds ‖Theta − θ⋆‖₂ by
//
//	(w + √(w² + 4με))/(2μ) + Shift,  w = Residual + Rounding, ε = Slack,
//
// which is at most Bound/μ + Shift; +Inf if μ = 0.
func (c Certificate) Distance() float64 {
	if c.Modulus == 0 {
		return math.Inf(1)
	}
	w := c.Residual + c.Rounding
	return ((w+math.Sqrt(w*w+4*c.Modulus*c.Slack))/(2*c.Modulus) + c.Shift) * (1 + 16*unit)
}

// certify returns the certificate of θ, whose gradient is g with the given error. Where both subdifferentials are known
// exactly the pair is searched for from the v that is there. Else those of the pair that are not are moved to the
// domain of the conjugate, and the other takes what is left.
func (o *objective) certify(theta, g []float64, rounding float64, p *pair, modulus float64) Certificate {
	c := Certificate{Modulus: modulus}
	switch {
	case structural(o.r, o.c):
		c.Residual = p.nearest(o.r, o.c, g, theta)
	case structural(o.r, Everywhere{}):
		if point(o.r) {
			o.r.Nearest(p.s, p.s, theta)
			p.leave(p.v, p.s, g)
		}
		c.Slack, c.Rounding = o.c.Gap(p.v, theta)
		// A projection may have moved zeros of θ by what rounding left: the s that is there then has a gap of next to
		// nothing, and an exact one is far off.
		slack, err := o.r.Gap(p.s, theta)
		copy(p.kept, p.s)
		given := p.norm(g)
		p.leave(p.rest, p.v, g)
		o.r.Nearest(p.s, p.rest, theta)
		c.Residual = p.norm(g)
		if c.Residual > math.Sqrt(given*given+2*modulus*slack) {
			copy(p.s, p.kept)
			c.Residual, c.Slack, c.Rounding = p.norm(g), c.Slack+slack, c.Rounding+err
		}
	case structural(None{}, o.c) && shift(o.c, theta) == 0:
		if point(o.c) {
			o.c.Nearest(p.v, p.v, theta)
			p.leave(p.s, p.v, g)
		}
		c.Slack, c.Rounding = o.r.Gap(p.s, theta)
		p.leave(p.rest, p.s, g)
		o.c.Nearest(p.v, p.rest, theta)
		c.Residual = p.norm(g)
	default:
		slack, err := o.r.Gap(p.s, theta)
		c.Slack, c.Rounding = o.c.Gap(p.v, theta)
		c.Slack, c.Rounding = c.Slack+slack, c.Rounding+err
		c.Residual = p.norm(g)
	}
	c.Rounding += rounding + p.rounding(g)
	if cone, ok := o.c.(*Cone); ok {
		c.Rounding += cone.rounding(p.v)
	}
	if c.Shift = shift(o.c, theta); c.Shift > 0 {
		c.Rounding += o.h.Smoothness() * c.Shift
		if !structural(o.r, o.c) { // r, s and v between θ and θ′
			c.Slack += (2*o.r.Lipschitz(o.d) + floats.Norm(p.v, 2)) * c.Shift
		}
	}
	if !matrix.Finite(c.Residual, c.Rounding, c.Slack) {
		c.Residual, c.Rounding, c.Slack = math.Inf(1), 0, 0
	}
	return c
}

// leave writes −g − taken to dst.
func (p *pair) leave(dst, taken, g []float64) {
	for j, x := range g {
		dst[j] = -x - taken[j]
	}
}
