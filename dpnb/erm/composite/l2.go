package composite

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// L2 is r(θ) = ω‖θ‖₂, not squared: all coordinates are zero or none is.
type L2 struct {
	// Weight is ω ≥ 0.
	Weight float64
}

// The methods of Regulariser.

func (L2) Name() string                          { return "ℓ₂" }
func (r L2) Validate(int) error                  { return checkWeight(r.Weight) }
func (r L2) Value(theta []float64) float64       { return r.Weight * floats.Norm(theta, 2) }
func (r L2) Prox(dst, v []float64, step float64) { shrink(dst, v, step*r.Weight) }
func (r L2) Lipschitz(int) float64               { return r.Weight }
func (r L2) Nearest(dst, v, theta []float64)     { nearestNorm(dst, v, theta, r.Weight) }

// Gap moves s into the ball of radius ω; ε = ω‖θ‖ − ⟨s, θ⟩.
func (r L2) Gap(s, theta []float64) (slack, rounding float64) {
	return normGap(s, theta, r.Weight), 0
}

// shrink writes v·max(0, 1 − t/‖v‖) to dst.
func shrink(dst, v []float64, t float64) {
	norm := floats.Norm(v, 2)
	if norm <= t {
		clear(dst)
		return
	}
	floats.ScaleTo(dst, 1-t/norm, v)
}

// nearestNorm writes ωθ/‖θ‖ to dst, and at θ = 0 v moved into the ball of radius ω.
func nearestNorm(dst, v, theta []float64, weight float64) {
	if norm := floats.Norm(theta, 2); norm > 0 {
		floats.ScaleTo(dst, weight/norm, theta)
		return
	}
	norm := floats.Norm(v, 2)
	if norm <= weight {
		copy(dst, v)
		return
	}
	floats.ScaleTo(dst, weight/norm, v)
}

// normGap moves s into the ball of radius w, rounding included, and returns a bound on w‖θ‖ − ⟨s, θ⟩.
func normGap(s, theta []float64, w float64) float64 {
	k := (3*float64(len(s)) + 8) * unit
	if norm := floats.Norm(s, 2) * (1 + k); norm > w {
		floats.Scale(w/norm*(1-4*unit), s)
	}
	size := w * floats.Norm(theta, 2)
	return math.Max(0, size-floats.Dot(s, theta)) + 3*k*size
}
