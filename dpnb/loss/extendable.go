package loss

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
)

// LeastAbsolute is |y − t| for real labels: median regression.
type LeastAbsolute struct{}

// Hinge is max(0, 1 − yt) for labels y ∈ {−1, +1}.
type Hinge struct{}

// ReLU is max(0, t − y) for real labels.
type ReLU struct{}

// Affine is yt, of slope y: a linear loss.
type Affine struct{}

// The methods of Convex.
func (LeastAbsolute) Name() string              { return "absolute" }
func (LeastAbsolute) ValidLabel(y float64) bool { return finite(y) }
func (LeastAbsolute) Labels() string            { return finiteLabels }
func (LeastAbsolute) Lipschitz() float64        { return 1 }
func (Hinge) Name() string                      { return "hinge" }
func (Hinge) ValidLabel(y float64) bool         { return sign(y) }
func (Hinge) Labels() string                    { return signLabels }
func (Hinge) Lipschitz() float64                { return 1 }
func (ReLU) Name() string                       { return "ReLU" }
func (ReLU) ValidLabel(y float64) bool          { return finite(y) }
func (ReLU) Labels() string                     { return finiteLabels }
func (ReLU) Lipschitz() float64                 { return 1 }
func (Affine) Name() string                     { return "affine" }
func (Affine) ValidLabel(y float64) bool        { return finite(y) }
func (Affine) Labels() string                   { return finiteLabels }
func (Affine) Lipschitz() float64               { return math.Inf(1) }

func (LeastAbsolute) kink(y float64) kink { return kink{-1, 1, y} }
func (p Pinball) kink(y float64) kink     { return kink{-p.Tau, 1 - p.Tau, y} }
func (ReLU) kink(y float64) kink          { return kink{0, 1, y} }
func (Affine) kink(y float64) kink        { return kink{y, y, 0} }
func (Hinge) kink(y float64) kink {
	if y > 0 {
		return kink{-1, 0, 1}
	}
	return kink{0, 1, -1}
}

func (Squared) anchor(y, norm float64) float64 { return y / norm }
func (Huber) anchor(y, norm float64) float64   { return y / norm }
func (Logistic) anchor(_, _ float64) float64   { return 0 }

func (Squared) curve(v, _ float64) (value, slope, curvature float64) { return 0.5 * v * v, v, 1 }

func (Squared) preciseCurve(v dd.Number, _ float64) (dd.Number, float64) { return v, 1 }

func (h Huber) curve(v, _ float64) (value, slope, curvature float64) {
	if a := math.Abs(v); a > h.Threshold {
		return h.Threshold * (a - 0.5*h.Threshold), math.Copysign(h.Threshold, v), 0
	}
	return 0.5 * v * v, v, 1
}

func (h Huber) preciseCurve(v dd.Number, _ float64) (dd.Number, float64) {
	if math.Abs(v.Hi) > h.Threshold {
		return within(v, h.Threshold), 0
	}
	return within(v, h.Threshold), 1
}

// With v = t − my, −yv is m − yt for y = ±1: h times the logistic loss at v/h.
func (s Softplus) anchor(y, norm float64) float64 { return y * s.margin() / norm }

func (s Softplus) curve(v, y float64) (value, slope, curvature float64) {
	value, slope, curvature = Logistic{}.curve(v/s.Width, y)
	return s.Width * value, slope, curvature / s.Width
}

func (s Softplus) preciseCurve(v dd.Number, y float64) (dd.Number, float64) {
	slope, curvature := Logistic{}.preciseCurve(v.Div(dd.From(s.Width)), y)
	return slope, curvature / s.Width
}

func (Logistic) curve(v, y float64) (value, slope, curvature float64) {
	m := y * v
	e := math.Exp(-math.Abs(m))
	p, value := e/(1+e), math.Log1p(e)
	if m < 0 {
		p, value = 1/(1+e), value-m
	}
	return value, -y * p, e / ((1 + e) * (1 + e))
}

func (Logistic) preciseCurve(v dd.Number, y float64) (dd.Number, float64) {
	_, _, c := Logistic{}.curve(v.Hi, y)
	return sigmoid(v.Scale(-y)).Scale(-y), c
}

// Cut returns f_C of a record with ‖x‖ = norm at t = ⟨x,w⟩: inf_r φ(t − r) + C|r|/ρ, which is φ with its slope cut to
// [−C/ρ, C/ρ], and −Inf where no slope of φ is in that range nor is a limit of slopes at which the conjugate φ* is
// finite. slope is its slope.
// Source: docs/theory/heavytail.md (Lowy 2026, (5) over all of R^d).
func Cut(l Convex, c, norm, t, y float64) (value, slope float64) {
	level := c / norm
	switch of := l.(type) {
	case kinked:
		k := of.kink(y)
		if k.lo > level || k.hi < -level {
			return math.Inf(-1), 0
		}
		if slope = max(k.lo, -level); t > k.at {
			slope = min(k.hi, level)
		}
		return slope * (t - k.at), slope
	case bowl:
		v := t - norm*of.anchor(y, norm)
		value, slope, _ = of.curve(v, y)
		if !(math.Abs(slope) > level) {
			return value, slope
		}
		// The slope of the other side of the bend is reached before 0 or ever nearer to it.
		lo, hi := 0.0, math.Abs(v)+1
		sign := math.Copysign(1, slope)
		beyond := func(r float64) bool { _, s, _ := of.curve(v-sign*r, y); return sign*s > level }
		for beyond(hi) {
			hi *= 2
		}
		_, hi = univariate.Bisect(func(r float64) bool { return !beyond(r) }, lo, hi, univariate.Arithmetic, 0)
		value, _, _ = of.curve(v-sign*hi, y)
		return value + level*hi, sign * level
	}
	panic("loss: Cut wants an extendable loss")
}
