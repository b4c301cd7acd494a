package composite

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// GroupL1 is r(θ) = ω Σ_g √|g|·‖θ_g‖₂ over groups of coordinates that do not overlap: whole groups are zero.
// Coordinates in no group are not penalised.
type GroupL1 struct {
	// Weight is ω ≥ 0.
	Weight float64
	// Groups holds the sizes of the groups, which follow each other: 2, 3 means that θ₀, θ₁ are the first and θ₂, θ₃,
	// θ₄ the second.
	Groups []int
}

// Name returns "group ℓ₁", or "ℓ₁" where each group is one coordinate, which is the same.
func (r GroupL1) Name() string {
	for _, size := range r.Groups {
		if size != 1 {
			return "group ℓ₁"
		}
	}
	return "ℓ₁"
}

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
