package loss

import (
	"fmt"
	"math"
)

// SquaredHinge is the squared hinge for labels y ∈ {−1, +1}, with m = yt:
//
//	f = ½(1 − m)₊²,  f′ = −y(1 − m)₊,  f″ = 1 for m < 1, 0 beyond.
//
// Its slope is unbounded: a private fit needs it Clipped. sup f″ = 1.
type SquaredHinge struct{}

// The methods of Loss.

func (SquaredHinge) Name() string              { return "squared hinge" }
func (SquaredHinge) Lipschitz() float64        { return math.Inf(1) }
func (SquaredHinge) Smoothness() float64       { return 1 }
func (SquaredHinge) ValidLabel(y float64) bool { return sign(y) }
func (SquaredHinge) Labels() string            { return signLabels }

func (SquaredHinge) ValueSlope(slope, t, y []float64) float64 {
	var sum float64
	slope, y = slope[:len(t)], y[:len(t)]
	for i, ti := range t {
		v := math.Max(0, 1-y[i]*ti)
		sum += 0.5 * v * v
		slope[i] = -y[i] * v
	}
	return sum
}

func (SquaredHinge) Curvature(curv, t, y []float64) {
	curv, y = curv[:len(t)], y[:len(t)]
	for i, ti := range t {
		if y[i]*ti < 1 {
			curv[i] = 1
		} else {
			curv[i] = 0
		}
	}
}

func (SquaredHinge) clip(c float64) clipping { return marginClip(1-c, 1) }

// Curve implements Curved: γ ∈ [0, C], S̄(γ) = R², C = R·level.
func (SquaredHinge) Curve(radius, level float64) *Curve {
	if math.IsInf(level, 1) {
		return nil
	}
	clip := level * radius
	return flat(fmt.Sprintf("squared-hinge, C=%g, R=%g", clip, radius), 0, clip, radius*radius)
}
