package composite

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Ball is C = {θ : ‖θ‖₂ ≤ ρ}.
type Ball struct {
	// Radius is ρ > 0.
	Radius float64
}

// Name returns "ball".
func (Ball) Name() string { return "ball" }

// Validate checks ρ.
func (c Ball) Validate(int) error {
	if !(c.Radius > 0) || math.IsInf(c.Radius, 1) {
		return dataError("the radius of the ball is %v, want a positive number", c.Radius)
	}
	return nil
}

// edge is by how much, relatively, a computed norm of d numbers may differ from the norm (kernel.NormError), and from
// the radius after scaling to it.
func edge(d int) float64 { return (3*float64(d) + 16) * unit }

// Contains grants the rounding of the norm.
func (c Ball) Contains(theta []float64) bool {
	return floats.Norm(theta, 2) <= c.Radius*(1+edge(len(theta)))
}

// Project is v·min(1, ρ/‖v‖).
func (c Ball) Project(dst, v []float64) {
	if norm := floats.Norm(v, 2); norm > c.Radius {
		floats.ScaleTo(dst, c.Radius/norm, v)
		return
	}
	copy(dst, v)
}

// Nearest is the projection on the ray from 0 through θ, where θ is on the sphere to within the rounding of its norm,
// and 0 elsewhere.
func (c Ball) Nearest(dst, v, theta []float64) {
	norm := floats.Norm(theta, 2)
	if norm < c.Radius*(1-edge(len(theta))) {
		clear(dst)
		return
	}
	floats.ScaleTo(dst, math.Max(0, floats.Dot(v, theta)/norm/norm), theta)
}

// Gap is ρ‖v‖ − ⟨v, θ⟩.
func (c Ball) Gap(v, theta []float64) (slack, rounding float64) {
	size := c.Radius * floats.Norm(v, 2)
	return math.Max(0, size-floats.Dot(v, theta)) + 3*edge(len(v))*size, 0
}
