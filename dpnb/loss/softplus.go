package loss

import (
	"cmp"
	"fmt"
	"math"
)

// Softplus is the hinge smoothed by a logarithm at width h > 0, for labels y ∈ {−1, +1}, u = (m − yt)/h, m the margin
// that is asked for:
//
//	f = h·log(1 + e^u),  f′ = −y·s(u),  f″ = s(u)·s(−u)/h,  s(u) = 1/(1 + e^{−u}).
//
// sup |f′| = 1, sup f″ = 1/(4h) at yt = m, whatever m is. It tends to the hinge as h falls, and like the logistic loss
// has no curvature where its slope is largest.
type Softplus struct {
	// Width h, in the unit of the margin.
	Width float64
	// Margin m ≥ 0; zero is 1.
	Margin float64
}

// The methods of Loss.

func (s Softplus) Lipschitz() float64  { return s.inRange(1) }
func (s Softplus) Smoothness() float64 { return s.inRange(0.25 / s.Width) }
func (s Softplus) Labels() string      { return labelsOr(signLabels, "Width", s.Width) }

// margin returns m.
func (s Softplus) margin() float64 { return cmp.Or(s.Margin, 1) }

// Name returns "softplus(h=…)", with the margin unless that is 1.
func (s Softplus) Name() string {
	if m := s.margin(); m != 1 {
		return fmt.Sprintf("softplus(h=%g, margin %.4g)", s.Width, m)
	}
	return fmt.Sprintf("softplus(h=%g)", s.Width)
}

// inRange returns v, NaN where a parameter is out of range.
func (s Softplus) inRange(v float64) float64 { return inRange(s.Width, inRange(s.margin(), v)) }

func (s Softplus) ValueSlope(slope, t, y []float64) float64 {
	var sum float64
	slope, y = slope[:len(t)], y[:len(t)]
	m := s.margin()
	for i, ti := range t {
		v := m - y[i]*ti
		e := math.Exp(-math.Abs(v) / s.Width)
		p := e / (1 + e)
		l := s.Width * math.Log1p(e)
		if v > 0 {
			l += v
			p = 1 - p
		}
		sum += l
		slope[i] = -y[i] * p
	}
	return sum
}

func (s Softplus) Curvature(curv, t, y []float64) {
	curv, y = curv[:len(t)], y[:len(t)]
	m := s.margin()
	for i, ti := range t {
		e := math.Exp(-math.Abs(m-y[i]*ti) / s.Width)
		curv[i] = e / ((1 + e) * (1 + e)) / s.Width
	}
}

// ValidLabel reports whether y is −1 or +1.
func (s Softplus) ValidLabel(y float64) bool {
	return positive(s.Width) && positive(s.margin()) && sign(y)
}

func (s Softplus) clip(c float64) clipping {
	k := marginClip(s.margin()-s.Width*logit(c), logisticCurvature(c)/s.Width)
	k.slopeError = 0x1p-51
	return k
}

// slopeError: the relative error of u, 2·2⁻⁵³, moves f′ by |u|s(u)s(−u) ≤ 0.23 times it.
func (s Softplus) slopeError() float64 { return 0x1p-53 }

// logit returns log(p/(1 − p)).
func logit(p float64) float64 { return math.Log(p) - math.Log1p(-p) }

// logisticCurvature returns sup p(1 − p) over p ≤ c.
func logisticCurvature(c float64) float64 {
	if c >= 0.5 {
		return 0.25
	}
	return c * (1 - c)
}

// Curve implements Curved: γ ∈ [0, R], S̄(γ) = γ(R − γ)/h.
func (s Softplus) Curve(radius, _ float64) *Curve { return logisticCurve(s.Name(), s.Width, radius) }

// SelfConcordance returns 1/h.
func (s Softplus) SelfConcordance() float64 { return 1 / s.Width }

func (Softplus) unattained() {}
