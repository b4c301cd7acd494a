package loss

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
)

// Pinball is the loss of quantile regression for real labels, with the residual r = y − t and the level τ in (0, 1):
//
//	f = τr for r ≥ 0,  (τ − 1)r for r < 0;  f′ = −τ, 0 at r = 0, or 1 − τ.
//
// τ = ½ is half the absolute loss. sup |f′| = max(τ, 1−τ); it has a kink, so that sup f″ = +Inf: only mechanisms that
// want no curvature take it.
// Source: Koenker and Bassett 1978, Econometrica 46.
type Pinball struct {
	// Tau is the level τ of the quantile.
	Tau float64
}

// The methods of Loss.

func (p Pinball) Name() string              { return fmt.Sprintf("pinball(τ=%g)", p.Tau) }
func (p Pinball) Lipschitz() float64        { return inRange(p.scale(), max(p.Tau, 1-p.Tau)) }
func (p Pinball) Smoothness() float64       { return inRange(p.scale(), math.Inf(1)) }
func (p Pinball) ValidLabel(y float64) bool { return positive(p.scale()) && finite(y) }
func (p Pinball) Labels() string            { return labelsOr(finiteLabels, "Tau", p.scale()) }

func (p Pinball) ValueSlope(slope, t, y []float64) float64 {
	var sum float64
	slope, y = slope[:len(t)], y[:len(t)]
	for i, ti := range t {
		switch r := y[i] - ti; {
		case r > 0:
			sum += p.Tau * r
			slope[i] = -p.Tau
		case r < 0:
			sum += (p.Tau - 1) * r
			slope[i] = 1 - p.Tau
		default:
			slope[i] = 0
		}
	}
	return sum
}

// Curvature implements Loss: it is 0 but at the kink.
func (p Pinball) Curvature(curv, t, _ []float64) { clear(curv[:len(t)]) }

// scale is τ where it is in range, else NaN.
func (p Pinball) scale() float64 {
	if p.Tau > 0 && p.Tau < 1 {
		return p.Tau
	}
	return math.NaN()
}

// SmoothPinball is the pinball loss convolved with the logistic density of width h, for real labels, with v = (t −
// y)/h:
//
//	f = h·log(1 + e^v) − τ(t − y),  f′ = s(v) − τ,  f″ = s(v)·s(−v)/h,  s(v) = 1/(1 + e^{−v}).
//
// It is above the pinball loss, by h·log 2 at the kink and by h·e^{−|v|} at most anywhere. sup |f′| = max(τ, 1−τ), not
// attained; sup f″ = 1/(4h). With τ = ½ it is h·log cosh of v/2, but for a constant. Its curvature falls to 0 where its
// slope is largest, which is what private fits want: docs/theory/smoothing.md.
type SmoothPinball struct {
	// Tau is the level τ of the quantile, in (0, 1).
	Tau float64
	// Width h, in the unit of the labels.
	Width float64
}

// The methods of Loss.

func (p SmoothPinball) Lipschitz() float64        { return inRange(p.scale(), max(p.Tau, 1-p.Tau)) }
func (p SmoothPinball) Smoothness() float64       { return inRange(p.scale(), 0.25/p.Width) }
func (p SmoothPinball) ValidLabel(y float64) bool { return positive(p.scale()) && finite(y) }

// Name returns "smooth-pinball(τ=…, h=…)".
func (p SmoothPinball) Name() string {
	return fmt.Sprintf("smooth-pinball(τ=%g, h=%g)", p.Tau, p.Width)
}

// scale is h where τ and h are in range, else NaN.
func (p SmoothPinball) scale() float64 { return inRange(Pinball{p.Tau}.scale(), p.Width) }

func (p SmoothPinball) ValueSlope(slope, t, y []float64) float64 {
	var sum float64
	slope, y = slope[:len(t)], y[:len(t)]
	for i, ti := range t {
		v := ti - y[i]
		e := math.Exp(-math.Abs(v) / p.Width)
		s, l := e/(1+e), p.Width*math.Log1p(e)-p.Tau*v
		if v > 0 {
			l += v
			s = 1 / (1 + e)
		}
		sum += l
		slope[i] = s - p.Tau
	}
	return sum
}

func (p SmoothPinball) Curvature(curv, t, y []float64) {
	curv, y = curv[:len(t)], y[:len(t)]
	for i, ti := range t {
		e := math.Exp(-math.Abs(ti-y[i]) / p.Width)
		curv[i] = e / ((1 + e) * (1 + e)) / p.Width
	}
}

// Labels returns the range of the labels in words.
func (p SmoothPinball) Labels() string {
	if !positive(p.Pinball().scale()) {
		return p.Pinball().Labels()
	}
	return labelsOr(finiteLabels, "Width", p.Width)
}

// Pinball returns the loss that p smooths.
func (p SmoothPinball) Pinball() Pinball { return Pinball{p.Tau} }

// slopeError: the relative error of v, 2·2⁻⁵³, moves s by |v|s(v)s(−v) ≤ 0.23 times it, and s and τ cancel.
func (p SmoothPinball) slopeError() float64 { return 0x1p-50 }

// clip: f′ is ∓c where s(v) = τ ∓ c.
func (p SmoothPinball) clip(c float64) clipping {
	at := func(s, end float64) float64 {
		if !(s > 0 && s < 1) {
			return end
		}
		return p.Width * logit(s)
	}
	k := residualClip(at(p.Tau-c, math.Inf(-1)), at(p.Tau+c, math.Inf(1)), 0.25/p.Width)
	k.slopeError = 0x1p-49
	return k
}

// precise: as Softplus's, and u² for the difference.
func (p SmoothPinball) precise() Precise {
	return Precise{Relative: preciseError, Absolute: preciseError, Slope: func(t dd.Number, y float64) dd.Number {
		return sigmoid(t.AddFloat(-y).Div(dd.From(p.Width))).AddFloat(-p.Tau)
	}}
}

// Curve implements Curved: γ ∈ [−τR, (1−τ)R], S̄(γ) = (τR + γ)((1−τ)R − γ)/h. With p = f′ and g(p) = f″ =
// (p+τ)(1−τ−p)/h, 2g − pg′ = (2τ(1−τ) + p(1−2τ))/h is not negative anywhere, so that g/p² does not rise in |p| and the
// supremum is at ‖x‖ = R.
func (p SmoothPinball) Curve(radius, _ float64) *Curve {
	c := parabola(p.Name(), -p.Tau*radius, (1-p.Tau)*radius, p.Width, radius)
	c.Symmetric = p.Tau == 0.5
	return c
}

// SelfConcordance returns 1/h.
func (p SmoothPinball) SelfConcordance() float64 { return 1 / p.Width }

// SoftMaximum returns h, −τ and 1 − τ: f = h·ln(e^{−τv} + e^{(1−τ)v}), v = (t − y)/h.
func (p SmoothPinball) SoftMaximum() (temperature, below, above float64, ok bool) {
	return p.Width, -p.Tau, 1 - p.Tau, positive(p.scale())
}
