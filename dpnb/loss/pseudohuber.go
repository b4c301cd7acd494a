package loss

import (
	"fmt"
	"math"
)

// PseudoHuber is the smooth Huber loss for real labels, with v = (t − y)/T and threshold T > 0:
//
//	f = T²(√(1+v²) − 1),  f′ = Tv/√(1+v²),  f″ = (1+v²)^{−3/2}.
//
// sup |f′| = T, not attained; sup f″ = 1, at t = y.
// Source: Charbonnier, Blanc-Féraud, Aubert, Barlaud 1997, IEEE Transactions on Image Processing 6(2).
type PseudoHuber struct {
	// Threshold T, in the unit of the labels.
	Threshold float64
}

// The methods of Loss.

func (p PseudoHuber) Name() string              { return fmt.Sprintf("pseudo-huber(T=%g)", p.Threshold) }
func (p PseudoHuber) Lipschitz() float64        { return inRange(p.Threshold, p.Threshold) }
func (p PseudoHuber) Smoothness() float64       { return inRange(p.Threshold, 1) }
func (p PseudoHuber) ValidLabel(y float64) bool { return positive(p.Threshold) && finite(y) }
func (p PseudoHuber) Labels() string            { return labelsOr(finiteLabels, "Threshold", p.Threshold) }

// ValueSlope implements Loss. √(1+v²) − 1 = v²/(√(1+v²) + 1) keeps its digits near v = 0.
func (p PseudoHuber) ValueSlope(slope, t, y []float64) float64 {
	var sum float64
	slope, y = slope[:len(t)], y[:len(t)]
	for i, ti := range t {
		d := ti - y[i]
		r := math.Hypot(p.Threshold, d) // T√(1+v²)
		sum += d * (d / (1 + r/p.Threshold))
		slope[i] = p.Threshold * (d / r)
	}
	return sum
}

func (p PseudoHuber) Curvature(curv, t, y []float64) {
	curv, y = curv[:len(t)], y[:len(t)]
	for i, ti := range t {
		q := p.Threshold / math.Hypot(p.Threshold, ti-y[i])
		curv[i] = q * q * q
	}
}

// clip: |f′| = c at |t − y| = c/√((1 − q)(1 + q)), q = c/T.
func (p PseudoHuber) clip(c float64) clipping {
	q := c / p.Threshold
	v := c / math.Sqrt((1-q)*(1+q))
	return residualClip(-v, v, 1)
}

// Curve implements Curved: γ ∈ [−TR, TR], S̄(γ) = R²(1 − (γ/TR)²)^{3/2}. With v = (t−y)/T, f″ = (1 − (f′/T)²)^{3/2}
// falls in |f′|, so that the supremum is at ‖x‖ = R.
func (p PseudoHuber) Curve(radius, _ float64) *Curve {
	l := p.Threshold * radius
	// 1 − (γ/L)² as a product, exact near the ends.
	gap := func(gamma float64) float64 { return math.Max(0, (1-gamma/l)*(1+gamma/l)) }
	return &Curve{
		Name: fmt.Sprintf("pseudo-huber(T=%g), R=%g", p.Threshold, radius),
		Lo:   -l, Hi: l, Symmetric: true,
		Sup: func(gamma float64) float64 { return radius * radius * math.Pow(gap(gamma), 1.5) },
		Antiderivative: func(gamma float64) float64 {
			return p.Threshold / radius * (gamma / l) / math.Sqrt(gap(gamma))
		},
	}
}

// SelfConcordance returns 3/(2T): |f‴|/f″ = 3|v|/(T(1 + v²)) is largest at v = 1.
func (p PseudoHuber) SelfConcordance() float64 { return 1.5 / p.Threshold }
