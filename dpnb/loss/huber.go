package loss

import (
	"fmt"
	"math"
)

// Huber is the Huber loss for real labels, with v = t − y and threshold T > 0:
//
//	f = v²/2 for |v| ≤ T,  T(|v| − T/2) beyond;  f′ = v cut to [−T, T];
//	f″ = 1 for |v| ≤ T, 0 beyond.
//
// sup |f′| = T, sup f″ = 1.
// Source: Huber 1964, Annals of Mathematical Statistics 35.
type Huber struct {
	// Threshold T, in the unit of the labels.
	Threshold float64
}

// The methods of Loss.

func (h Huber) Name() string              { return fmt.Sprintf("huber(T=%g)", h.Threshold) }
func (h Huber) Lipschitz() float64        { return inRange(h.Threshold, h.Threshold) }
func (h Huber) Smoothness() float64       { return inRange(h.Threshold, 1) }
func (h Huber) ValidLabel(y float64) bool { return positive(h.Threshold) && finite(y) }
func (h Huber) Labels() string            { return labelsOr(finiteLabels, "Threshold", h.Threshold) }

func (h Huber) ValueSlope(slope, t, y []float64) float64 {
	var sum float64
	slope, y = slope[:len(t)], y[:len(t)]
	for i, ti := range t {
		v := ti - y[i]
		if a := math.Abs(v); a > h.Threshold {
			sum += h.Threshold * (a - 0.5*h.Threshold)
			v = math.Copysign(h.Threshold, v)
		} else {
			sum += 0.5 * v * v
		}
		slope[i] = v
	}
	return sum
}

func (h Huber) Curvature(curv, t, y []float64) {
	curv, y = curv[:len(t)], y[:len(t)]
	for i, ti := range t {
		if math.Abs(ti-y[i]) <= h.Threshold {
			curv[i] = 1
		} else {
			curv[i] = 0
		}
	}
}

func (h Huber) clip(c float64) clipping { return residualClip(-c, c, 1) }

// Curve implements Curved: γ ∈ [−TR, TR], S̄(γ) = R².
func (h Huber) Curve(radius, _ float64) *Curve {
	most := h.Threshold * radius
	c := flat(fmt.Sprintf("huber(T=%g), R=%g", h.Threshold, radius), -most, most, radius*radius)
	c.Symmetric = true
	return c
}
