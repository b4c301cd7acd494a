package loss

import "math"

// Squared is the squared loss for real labels:
//
//	f(t; y) = ½(t − y)²,  f′ = t − y,  f″ = 1.
//
// Its slope is unbounded: only Clipped, or with clipped labels and predictors, has it a place in a private fit. Clipped
// at c it is Huber{c}.
type Squared struct{}

// The methods of Loss.

func (Squared) Name() string              { return "squared" }
func (Squared) Lipschitz() float64        { return math.Inf(1) }
func (Squared) Smoothness() float64       { return 1 }
func (Squared) ValidLabel(y float64) bool { return finite(y) }
func (Squared) Labels() string            { return finiteLabels }

// ValueSlope implements Loss. The value overflows to +Inf for |t − y| > 1.8e154.
func (Squared) ValueSlope(slope, t, y []float64) float64 {
	var sum float64
	slope, y = slope[:len(t)], y[:len(t)]
	for i, ti := range t {
		v := ti - y[i]
		sum += 0.5 * v * v
		slope[i] = v
	}
	return sum
}

func (Squared) Curvature(curv, t, _ []float64) {
	for i := range t {
		curv[i] = 1
	}
}

func (Squared) clip(c float64) clipping { return residualClip(-c, c, 1) }

// Curve implements Curved: that of Huber's loss at the clip level.
func (Squared) Curve(radius, level float64) *Curve {
	if math.IsInf(level, 1) {
		return nil
	}
	return Huber{Threshold: level}.Curve(radius, level)
}
