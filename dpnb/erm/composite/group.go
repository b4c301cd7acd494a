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

// Name returns "ℓ₂".
func (L2) Name() string { return "ℓ₂" }

// Validate checks ω.
func (r L2) Validate(int) error { return checkWeight(r.Weight) }

// Value implements Regulariser.
func (r L2) Value(theta []float64) float64 { return r.Weight * floats.Norm(theta, 2) }

// Prox is v·max(0, 1 − step·ω/‖v‖).
func (r L2) Prox(dst, v []float64, step float64) { shrink(dst, v, step*r.Weight) }

// Lipschitz returns ω.
func (r L2) Lipschitz(int) float64 { return r.Weight }

// Nearest is ωθ/‖θ‖, and at θ = 0 v moved into the ball of radius ω.
func (r L2) Nearest(dst, v, theta []float64) { nearestNorm(dst, v, theta, r.Weight) }

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

// normGap moves s into the ball of radius w, rounding included, and returns a
// bound on w‖θ‖ − ⟨s, θ⟩.
func normGap(s, theta []float64, w float64) float64 {
	k := (3*float64(len(s)) + 8) * unit
	if norm := floats.Norm(s, 2) * (1 + k); norm > w {
		floats.Scale(w/norm*(1-4*unit), s)
	}
	size := w * floats.Norm(theta, 2)
	return math.Max(0, size-floats.Dot(s, theta)) + 3*k*size
}

// GroupL1 is r(θ) = ω Σ_g √|g|·‖θ_g‖₂ over groups of coordinates that do not
// overlap: whole groups are zero. Coordinates in no group are not penalised.
type GroupL1 struct {
	// Weight is ω ≥ 0.
	Weight float64
	// Groups holds the sizes of the groups, which follow each other: 2, 3 means
	// that θ₀, θ₁ are the first and θ₂, θ₃, θ₄ the second.
	Groups []int
}

// Name returns "group ℓ₁".
func (GroupL1) Name() string { return "group ℓ₁" }

// Validate checks ω and the sizes, which must not exceed d.
func (r GroupL1) Validate(d int) error {
	total := 0
	for _, size := range r.Groups {
		if size < 1 || size > d-total {
			return dataError("the groups %v do not fit into d = %d coordinates", r.Groups, d)
		}
		total += size
	}
	return checkWeight(r.Weight)
}

// weight is that of a group of the given size.
func (r GroupL1) weight(size int) float64 { return r.Weight * math.Sqrt(float64(size)) }

// Value implements Regulariser.
func (r GroupL1) Value(theta []float64) float64 {
	var sum float64
	for _, size := range r.Groups {
		sum += r.weight(size) * floats.Norm(theta[:size], 2)
		theta = theta[size:]
	}
	return sum
}

// Prox shrinks each group as L2 does.
func (r GroupL1) Prox(dst, v []float64, step float64) {
	for _, size := range r.Groups {
		shrink(dst[:size], v[:size], step*r.weight(size))
		dst, v = dst[size:], v[size:]
	}
	copy(dst, v)
}

// Lipschitz returns ω√(Σ|g|), with or without overlap of d.
func (r GroupL1) Lipschitz(int) float64 {
	total := 0
	for _, size := range r.Groups {
		total += size
	}
	return r.Weight * math.Sqrt(float64(total))
}

// Nearest is that of L2 in each group, and 0 for the coordinates of none.
func (r GroupL1) Nearest(dst, v, theta []float64) {
	for _, size := range r.Groups {
		nearestNorm(dst[:size], v[:size], theta[:size], r.weight(size))
		dst, v, theta = dst[size:], v[size:], theta[size:]
	}
	clear(dst)
}

// Gap is the sum of those of the groups.
func (r GroupL1) Gap(s, theta []float64) (slack, rounding float64) {
	var gap float64
	for _, size := range r.Groups {
		gap += normGap(s[:size], theta[:size], r.weight(size))
		s, theta = s[size:], theta[size:]
	}
	clear(s)
	return up(gap, len(r.Groups)), 0
}
