package loss

import (
	"fmt"
	"math"
)

// Pinball is the loss of quantile regression for real labels, with the residual
// r = y − t and the level τ in (0, 1):
//
//	f = τr for r ≥ 0,  (τ − 1)r for r < 0;  f′ = −τ, 0 at r = 0, or 1 − τ.
//
// τ = ½ is half the absolute loss. sup |f′| = max(τ, 1−τ); it has a kink, so that
// sup f″ = +Inf: only mechanisms that want no curvature take it.
// Source: Koenker and Bassett 1978, Econometrica 46.
type Pinball struct {
	// Tau is the level τ of the quantile.
	Tau float64
}

// Name returns "pinball(τ=…)".
func (p Pinball) Name() string { return fmt.Sprintf("pinball(τ=%g)", p.Tau) }

// ValueSlope implements Loss.
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

// Lipschitz returns max(τ, 1−τ).
func (p Pinball) Lipschitz() float64 { return inRange(p.scale(), max(p.Tau, 1-p.Tau)) }

// Smoothness returns +Inf.
func (p Pinball) Smoothness() float64 { return inRange(p.scale(), math.Inf(1)) }

// scale is τ where it is in range, else NaN.
func (p Pinball) scale() float64 {
	if p.Tau > 0 && p.Tau < 1 {
		return p.Tau
	}
	return math.NaN()
}

// ValidLabel reports whether y is finite.
func (p Pinball) ValidLabel(y float64) bool { return positive(p.scale()) && finite(y) }

// Labels returns the range of the labels in words.
func (p Pinball) Labels() string { return labelsOr(finiteLabels, "Tau", p.scale()) }
