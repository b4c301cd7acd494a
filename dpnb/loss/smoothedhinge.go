package loss

import (
	"fmt"
	"math"
)

// SmoothedHinge is the hinge with its corner rounded by a parabola of width h > 0, for labels y ∈ {−1, +1}, m = yt:
//
//	f = 0 for m ≥ 1,  (1 − m)²/(2h) for 1 − h ≤ m ≤ 1,  1 − m − h/2 for m ≤ 1 − h;
//	f′ = −y·((1 − m)/h cut to [0, 1]);  f″ = 1/h for 1 − h < m < 1, else 0.
//
// sup |f′| = 1, sup f″ = 1/h. Its curvature does not vanish where its slope is largest; Softplus, of the same use,
// costs less privacy.
type SmoothedHinge struct {
	// Width h, in the unit of the margin.
	Width float64
}

// The methods of Loss.

func (s SmoothedHinge) Name() string              { return fmt.Sprintf("smoothed hinge(h=%g)", s.Width) }
func (s SmoothedHinge) Lipschitz() float64        { return inRange(s.Width, 1) }
func (s SmoothedHinge) Smoothness() float64       { return inRange(s.Width, 1/s.Width) }
func (s SmoothedHinge) ValidLabel(y float64) bool { return positive(s.Width) && sign(y) }
func (s SmoothedHinge) Labels() string            { return labelsOr(signLabels, "Width", s.Width) }

func (s SmoothedHinge) ValueSlope(slope, t, y []float64) float64 {
	var sum float64
	slope, y = slope[:len(t)], y[:len(t)]
	for i, ti := range t {
		v := math.Max(0, 1-y[i]*ti)
		if v >= s.Width {
			sum += v - 0.5*s.Width
			v = 1
		} else {
			q := v / s.Width
			sum += 0.5 * v * q
			v = q
		}
		slope[i] = -y[i] * v
	}
	return sum
}

func (s SmoothedHinge) Curvature(curv, t, y []float64) {
	curv, y = curv[:len(t)], y[:len(t)]
	for i, ti := range t {
		if v := 1 - y[i]*ti; v > 0 && v < s.Width {
			curv[i] = 1 / s.Width
		} else {
			curv[i] = 0
		}
	}
}

func (s SmoothedHinge) clip(c float64) clipping { return marginClip(1-c*s.Width, 1/s.Width) }

// Curve implements Curved: γ ∈ [0, R], S̄(γ) = R²/h.
func (s SmoothedHinge) Curve(radius, _ float64) *Curve {
	return flat(fmt.Sprintf("smoothed-hinge(h=%g), R=%g", s.Width, radius), 0, radius, radius*radius/s.Width)
}
