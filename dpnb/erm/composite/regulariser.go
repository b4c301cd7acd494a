package composite

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Subdifferential is what a certificate wants of a convex function φ: a regulariser r, or the indicator of a
// constraint, whose subdifferential is the normal cone.
type Subdifferential interface {
	// Nearest writes the point of ∂φ(θ) that is nearest to v to dst, which may be v. θ counts as on a kink or a
	// boundary if float64 cannot tell.
	Nearest(dst, v, theta []float64)
	// Gap moves s to a point of the domain of the conjugate φ*, near to it, and returns a bound ε from above on φ(θ) +
	// φ*(s) − ⟨s, θ⟩, rounding included: s is then an ε-subgradient, φ(x) ≥ φ(θ) + ⟨s, x−θ⟩ − ε for all x. Where that
	// holds for a point near s only, rounding bounds how far it is from s.
	Gap(s, theta []float64) (slack, rounding float64)
}

// Regulariser is a convex function r. Implementations are safe for concurrent use.
type Regulariser interface {
	Subdifferential
	// Name is how the regulariser is called in tables and reports.
	Name() string
	// Validate returns a *matrix.DataError if it is not for d coordinates.
	Validate(d int) error
	// Value returns r(θ).
	Value(theta []float64) float64
	// Prox writes argmin_x step·r(x) + ½‖x − v‖² to dst, which may be v.
	Prox(dst, v []float64, step float64)
	// Lipschitz returns sup ‖s‖₂ over all subgradients in d dimensions: the G of qop's utility bounds; +Inf if there is
	// none.
	Lipschitz(d int) float64
}

// None is r = 0.
type None struct{}

// The methods of Regulariser.

func (None) Name() string                                 { return "none" }
func (None) Validate(int) error                           { return nil }
func (None) Value([]float64) float64                      { return 0 }
func (None) Prox(dst, v []float64, _ float64)             { copy(dst, v) }
func (None) Lipschitz(int) float64                        { return 0 }
func (None) Nearest(dst, _, _ []float64)                  { clear(dst) }
func (None) Gap(s, _ []float64) (slack, rounding float64) { clear(s); return 0, 0 }

// L1 is r(θ) = ω‖θ‖₁.
type L1 struct {
	// Weight is ω ≥ 0.
	Weight float64
}

// The methods of Regulariser.

func (L1) Name() string                    { return "ℓ₁" }
func (r L1) Validate(int) error            { return checkWeight(r.Weight) }
func (r L1) Value(theta []float64) float64 { return r.Weight * floats.Norm(theta, 1) }
func (r L1) Lipschitz(d int) float64       { return r.Weight * math.Sqrt(float64(d)) }

func checkWeight(w float64) error {
	if !(w >= 0) || math.IsInf(w, 1) {
		return dataError("the weight of the regulariser is %v, want a number that is not negative", w)
	}
	return nil
}

// Prox is soft thresholding: sign(vⱼ)·max(|vⱼ| − step·ω, 0).
func (r L1) Prox(dst, v []float64, step float64) {
	t := step * r.Weight
	for j, x := range v {
		switch {
		case x > t:
			dst[j] = x - t
		case x < -t:
			dst[j] = x + t
		default:
			dst[j] = 0
		}
	}
}

// Nearest is ω·sign(θⱼ) where θⱼ ≠ 0, and vⱼ cut to [−ω, ω] elsewhere.
func (r L1) Nearest(dst, v, theta []float64) {
	for j, x := range theta {
		switch {
		case x > 0:
			dst[j] = r.Weight
		case x < 0:
			dst[j] = -r.Weight
		default:
			dst[j] = cut(v[j], -r.Weight, r.Weight)
		}
	}
}

// Gap cuts s to [−ω, ω]ᵈ; ε = Σ(ω|θⱼ| − sⱼθⱼ), each term of which is not negative.
func (r L1) Gap(s, theta []float64) (slack, rounding float64) {
	var gap float64
	for j, x := range theta {
		s[j] = cut(s[j], -r.Weight, r.Weight)
		if x < 0 {
			gap += (r.Weight + s[j]) * -x
		} else {
			gap += (r.Weight - s[j]) * x
		}
	}
	return up(gap, len(s)), 0
}

// up returns a bound on a sum of n terms that are not negative, each the result of at most three operations, from the
// sum as computed.
func up(sum float64, n int) float64 { return sum * (1 + float64(n+8)*unit) }

// unit is u, the relative error of one operation in float64.
const unit = 0x1p-53

// cut returns the point of [lo, hi] that is nearest to v; NaN stays NaN.
func cut(v, lo, hi float64) float64 {
	if v < lo {
		return lo
	}
	if v > hi {
		return hi
	}
	return v
}
