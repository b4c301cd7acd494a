package objective

import (
	"fmt"
	"math"
)

// ClippedPoisson returns the curve of f(t; y) = e^t − yt, y ∈ {0, …, Y}, with
// each record's gradient clipped at norm C; without clipping, or without the
// public bound Y on the counts, its curvature at a given slope is unbounded:
//
//	γ ∈ [−min(C, RY), C],  S̄(γ) = R(γ + RY).
//
// With p = f′ = e^t − y, f″ = e^t = p + y. At given γ = ‖x‖p, S = ‖x‖γ + ‖x‖²y
// rises with y, and with ‖x‖ as well: its derivative γ + 2‖x‖y is positive for
// γ ≥ 0, and for γ < 0 because p > −y gives |γ| < ‖x‖y. So the supremum is at
// ‖x‖ = R, y = Y. S̄ rises from 0 at γ = −RY, where e^t = 0; the clock is
// ln(1 + γ/(RY))/R.
//
// Errors: *ParamError unless all three are positive and finite.
func ClippedPoisson(maxCount, clip, radius float64) (Curve, error) {
	if err := positive("MaxCount", maxCount); err != nil {
		return nil, err
	}
	if err := positive("Clip", clip); err != nil {
		return nil, err
	}
	if err := positive("Radius", radius); err != nil {
		return nil, err
	}
	// RY rounded up: a curve that is larger covers all that it must.
	zero := math.Nextafter(radius*maxCount, math.Inf(1))
	if err := positive("MaxCount", zero); err != nil {
		return nil, err
	}
	return &arch{
		name: fmt.Sprintf("poisson(y≤%g), C=%g, R=%g", maxCount, clip, radius),
		lo:   -math.Min(clip, zero),
		hi:   clip,
		peak: clip,
		sbar: func(g float64) float64 { return radius * (zero + g) },
		clock: func(g float64) float64 {
			switch {
			case g <= -zero:
				return math.Inf(-1)
			case g < -0.5*zero:
				return math.Log((zero+g)/zero) / radius // the sum is exact here
			}
			return math.Log1p(g/zero) / radius
		},
	}, nil
}
