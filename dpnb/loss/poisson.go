package loss

import (
	"fmt"
	"math"
)

// Poisson is the negative log-likelihood of counts y ~ Poisson(e^t), without the term log y! that does not depend on t:
//
//	f(t; y) = e^t − yt,  f′ = e^t − y,  f″ = e^t = f′ + y,  y ∈ {0, 1, …, MaxCount}.
//
// Neither slope nor curvature is bounded: a private fit needs it Clipped. Even then the curvature at a given slope is
// f′ + y, so that it is bounded only if the counts are: clipped at c, sup f″ = MaxCount + c. MaxCount must be known
// without looking at the records; reduce larger counts to it first.
type Poisson struct {
	// MaxCount is the largest count that a record can have, at least 1.
	MaxCount float64
}

// The methods of Loss.

func (p Poisson) Name() string        { return fmt.Sprintf("poisson(y≤%g)", p.MaxCount) }
func (p Poisson) Lipschitz() float64  { return inRange(p.MaxCount, math.Inf(1)) }
func (p Poisson) Smoothness() float64 { return inRange(p.MaxCount, math.Inf(1)) }

// ValueSlope implements Loss. Both overflow to +Inf for t > 709.
func (p Poisson) ValueSlope(slope, t, y []float64) float64 {
	var sum float64
	slope, y = slope[:len(t)], y[:len(t)]
	for i, ti := range t {
		e := math.Exp(ti)
		if y[i] == 0 {
			sum += e
		} else {
			sum += e - y[i]*ti
		}
		slope[i] = e - y[i]
	}
	return sum
}

func (p Poisson) Curvature(curv, t, _ []float64) {
	curv = curv[:len(t)]
	for i, ti := range t {
		curv[i] = math.Exp(ti)
	}
}

// ValidLabel reports whether y is a whole number from 0 to MaxCount.
func (p Poisson) ValidLabel(y float64) bool {
	return positive(p.MaxCount) && y >= 0 && y <= p.MaxCount && y == math.Trunc(y)
}

// Labels returns the range of the labels in words.
func (p Poisson) Labels() string {
	return labelsOr(fmt.Sprintf("a whole number from 0 to %g; reduce larger counts to it", p.MaxCount), "MaxCount",
		p.MaxCount)
}

// clip: f′ = ±c at t = log(y ± c), the lower one only if y > c. Below it f″ ≤ MaxCount + c.
func (p Poisson) clip(c float64) clipping {
	largest := p.MaxCount + c
	return clipping{
		points: func(y float64) (lo, hi float64) {
			lo = math.Inf(-1)
			if y > c {
				lo = math.Log(y - c)
			}
			return lo, math.Log(y + c)
		},
		smoothness: inRange(p.MaxCount, largest),
		// Rounding of e^t, and of the clip point times e^t.
		slopeError: 4 * 0x1p-53 * largest * (2 + math.Abs(math.Log(largest))),
	}
}

func (p Poisson) slopeError() float64 { return math.Inf(1) }

// Curve implements Curved: γ ∈ [−min(C, RY), C], S̄(γ) = R(γ + RY), Y = MaxCount and C = R·level.
//
// With p = f′ = e^t − y, f″ = e^t = p + y. At given γ = ‖x‖p, S = ‖x‖γ + ‖x‖²y rises with y, and with ‖x‖ as well: its
// derivative γ + 2‖x‖y is positive for γ ≥ 0, and for γ < 0 because p > −y gives |γ| < ‖x‖y. So the supremum is at ‖x‖
// = R, y = Y. S̄ rises from 0 at γ = −RY, where e^t = 0.
func (p Poisson) Curve(radius, level float64) *Curve {
	// RY rounded up: a curve that is larger covers all that it must.
	zero := math.Nextafter(radius*p.MaxCount, math.Inf(1))
	clip := level * radius
	if !positive(zero) || math.IsInf(level, 1) {
		return nil
	}
	return &Curve{
		Name: fmt.Sprintf("%s, C=%g, R=%g", p.Name(), clip, radius),
		Lo:   -math.Min(clip, zero),
		Hi:   clip,
		Peak: clip,
		Sup:  func(gamma float64) float64 { return radius * (zero + gamma) },
		Antiderivative: func(gamma float64) float64 {
			switch {
			case gamma <= -zero:
				return math.Inf(-1)
			case gamma < -0.5*zero:
				return math.Log((zero+gamma)/zero) / radius // the sum is exact here
			}
			return math.Log1p(gamma/zero) / radius
		},
	}
}

// For a count of zero the infimum is at −∞.
func (Poisson) unattained() {}
