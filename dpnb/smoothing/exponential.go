package smoothing

import (
	"fmt"
	"math"
)

// Exponential is the law of one coordinate of the exponential kernel e^{−‖v‖₂}/𝔫 on ℝᵐ, 𝔫 = 2π^{m/2}Γ(m)/Γ(m/2). Since
// ‖·‖₁ is a sum over coordinates, that is all that smoothing it needs. Create it with NewExponential.
//
// The coordinate has the characteristic function (1 + ω²)^{−(m+1)/2}, so that it is √(2G)·N with G of the Gamma law of
// shape (m + 1)/2 and N standard normal; for odd m it is also a sum of (m + 1)/2 Laplacian variates, for m = 1 one.
type Exponential struct {
	m int
	// The Gamma law by the trapezoidal rule in ln g, which converges exponentially here: weights, and the standard
	// deviations √(2g).
	weights, deviations []float64
}

// NewExponential returns the kernel for functions of m linear forms. It panics if m is not positive.
func NewExponential(m int) Exponential {
	if m < 1 {
		panic(fmt.Sprintf("smoothing: the dimension of the exponential kernel is %d, want a positive one", m))
	}
	const step = 1.0 / 6 // errs by e^{−π²/step}
	shape := float64(m+1) / 2
	norm, _ := math.Lgamma(shape)
	k := Exponential{m: m}
	for s := -75.0; s < 7+math.Log(shape); s += step {
		g := math.Exp(s)
		if w := step * math.Exp(shape*s-g-norm); w > 0 {
			k.weights = append(k.weights, w)
			k.deviations = append(k.deviations, math.Sqrt(2*g))
		}
	}
	return k
}

// Name returns "exponential" with its dimension.
func (k Exponential) Name() string { return fmt.Sprintf("exponential (m = %d)", k.m) }

// mix returns the mean of f over the standard deviations.
func (k Exponential) mix(f func(sd float64) float64) float64 {
	sum := 0.0
	for i, w := range k.weights {
		sum += w * f(k.deviations[i])
	}
	return sum
}

// Density returns the density of a coordinate.
func (k Exponential) Density(v float64) float64 {
	return k.mix(func(sd float64) float64 { return Gaussian{}.Density(v/sd) / sd })
}

// Tail returns P(K > v) for v ≥ 0.
func (k Exponential) Tail(v float64) float64 {
	return k.mix(func(sd float64) float64 { return Gaussian{}.Tail(v / sd) })
}

// Gap returns E|v + K| − |v| for v ≥ 0.
func (k Exponential) Gap(v float64) float64 {
	return k.mix(func(sd float64) float64 { return sd * Gaussian{}.Gap(v/sd) })
}

// Variance returns m + 1.
func (k Exponential) Variance() float64 { return float64(k.m + 1) }

// Draw inverts the tail by bisection, to 1e-13 of the larger of the variate and 1.
func (k Exponential) Draw(u float64) float64 {
	return draw(u, func(tail float64) float64 {
		lo, hi := 0.0, 1.0
		for k.Tail(hi) > tail {
			lo, hi = hi, 2*hi
		}
		for hi-lo > 1e-13*math.Max(1, hi) {
			mid := (lo + hi) / 2
			if k.Tail(mid) > tail {
				lo = mid
			} else {
				hi = mid
			}
		}
		return (lo + hi) / 2
	})
}
