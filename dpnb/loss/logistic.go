package loss

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/kernel"
)

// Logistic is the logistic loss for labels y ∈ {−1, +1}:
//
//	f(t; y) = log(1 + e^{−yt}),  f′ = −y·s(−yt),  f″ = s(t)·s(−t),
//
// s(t) = 1/(1 + e^{−t}). sup |f′| = 1, sup f″ = 1/4 (at t = 0).
type Logistic struct{}

// The methods of Loss.

func (Logistic) Name() string              { return "logistic" }
func (Logistic) Lipschitz() float64        { return 1 }
func (Logistic) Smoothness() float64       { return 0.25 }
func (Logistic) ValidLabel(y float64) bool { return sign(y) }
func (Logistic) Labels() string            { return signLabels }

// ValueSlope implements Loss. One exponential and one logarithm for each record; nothing overflows for any finite t.
func (Logistic) ValueSlope(slope, t, y []float64) float64 {
	var sum float64
	slope, y = slope[:len(t)], y[:len(t)]
	for i, ti := range t {
		m := y[i] * ti
		e := math.Exp(-math.Abs(m))
		p := e / (1 + e) // s(−|m|)
		l := math.Log1p(e)
		if m < 0 {
			l -= m
			p = 1 - p
		}
		sum += l
		slope[i] = -y[i] * p
	}
	return sum
}

func (Logistic) Curvature(curv, t, _ []float64) {
	curv = curv[:len(t)]
	for i, ti := range t {
		e := math.Exp(-math.Abs(ti))
		curv[i] = e / ((1 + e) * (1 + e))
	}
}

func (Logistic) clip(c float64) clipping { return marginClip(-logit(c), logisticCurvature(c)) }

// Curve implements Curved: γ ∈ [0, R], S̄(γ) = γ(R − γ).
func (Logistic) Curve(radius, _ float64) *Curve { return logisticCurve("logistic", 1, radius) }

// SelfConcordance returns 1: |f‴| = f″|1 − 2s(t)|.
func (Logistic) SelfConcordance() float64 { return 1 }

func (Logistic) unattained() {}

func (Logistic) blockSlopes(slope, t, y []float64) float64 { return kernel.Logistic(slope, t, y) }
