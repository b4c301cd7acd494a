package loss

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
	"github.com/dpnb/notebooks/dpnb/internal/weight"
)

// Weighted is w·f(t; y) for labels that say y and a weight w in [0, 1] (internal/weight): what survey weights and
// weights of classes become when they are divided by their public bound. One record's gradient and curvature are at
// most those of f, so that Lipschitz, Smoothness and, of losses whose S̄(γ)/γ falls as γ leaves 0, the curve are those
// of f.
//
// Proof: docs/theory/clipping.md#dpnb-weights.
type Weighted struct{ Of Loss }

// The methods of Loss.

func (l Weighted) Name() string        { return "weighted " + l.Of.Name() }
func (l Weighted) Lipschitz() float64  { return l.Of.Lipschitz() }
func (l Weighted) Smoothness() float64 { return l.Of.Smoothness() }
func (l Weighted) Labels() string      { return l.Of.Labels() + ", with a weight" }

// Weightless returns the loss without the weights, and whether it had them.
func Weightless(l Loss) (of Loss, weighted bool) {
	if w, ok := l.(Weighted); ok {
		return w.Of, true
	}
	return l, false
}

// ValueSlope implements Loss, record by record: the weights are within the sum of the values.
func (l Weighted) ValueSlope(slope, t, y []float64) float64 {
	var sum float64
	label := make([]float64, 1)
	for i := range t {
		own, w := weight.Of(y[i])
		label[0] = own
		sum += w * l.Of.ValueSlope(slope[i:i+1], t[i:i+1], label)
		slope[i] *= w
	}
	return sum
}

func (l Weighted) Curvature(curv, t, y []float64) {
	own, weights := make([]float64, len(t)), make([]float64, len(t))
	for i := range own {
		own[i], weights[i] = weight.Of(y[i])
	}
	l.Of.Curvature(curv, t, own)
	for i, w := range weights {
		curv[i] *= w
	}
}

// ValidLabel reports whether label says a weight of at most 1 and a label of f.
func (l Weighted) ValidLabel(label float64) bool {
	y, w := weight.Of(label)
	return w <= 1 && l.Of.ValidLabel(y)
}

// slopeError: one rounding more, and what a weighted slope loses below the range of float64.
func (l Weighted) slopeError() float64 {
	return SlopeError(l.Of) + 0x1p-52*l.Of.Lipschitz() + 0x1p-1000
}

// SelfConcordance is that of f, which a factor does not change.
func (l Weighted) SelfConcordance() float64 {
	if c, ok := l.Of.(SelfConcordant); ok {
		return c.SelfConcordance()
	}
	return math.Inf(1)
}

// precise is that of f, times w.
func (l Weighted) precise() Precise {
	of, ok := PreciseSlope(l.Of)
	if !ok {
		return Precise{}
	}
	return Precise{Relative: of.Relative + preciseError, Absolute: of.Absolute + preciseUnderflow,
		Slope: func(t dd.Number, label float64) dd.Number {
			y, w := weight.Of(label)
			return of.Slope(t, y).MulFloat(w)
		}}
}

// Curve implements Curved: that of f, where S̄(γ)/γ is known to fall.
func (l Weighted) Curve(radius, level float64) *Curve {
	switch l.Of.(type) {
	case Logistic, Softplus, Huber, PseudoHuber, Squared, SmoothedHinge:
		if of := l.Of.(Curved).Curve(radius, level); of != nil {
			own := *of
			own.Name = "weighted " + own.Name
			return &own
		}
	}
	return nil
}
