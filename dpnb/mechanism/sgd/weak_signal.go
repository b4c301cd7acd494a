package sgd

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// weakSignal is descent with steps that public numbers set, for gradients that hardly stand out of their noise even
// when all of them are added up: there is then nothing that steps could fit themselves to, and to try costs a tenth.
// With the signal s of Signal, t = (k + ½)/T and w = s²/(s² + 64),
//
//	σₖ² ∝ t^{−w/2},  θ ← θ − r/(σₖ√(dT(1 + (τ(1−τ)s/4)²)))·g, then ‖θ‖ ≤ r(1 + w/2) by projection,
//
// and the mean of all iterates with weights ∝ t², put back into ‖θ‖ ≤ r, is released. At τ = ½, and with equal noise,
// these are the steps of Steady for T = 256, whatever T is.
//
// What it costs, and how it was chosen: docs/theory/quantiles.md#dpnb-faint.
type weakSignal struct {
	// Adaptive has r, T, the noise, τ and ω.
	Adaptive
	// Signal is s ≥ 0.
	Signal float64
	total  float64 // Σt^{w/2}/T
}

// Scheduled is a rule for all records in each step, with the noise of the steps and what each iterate counts in the
// mean that is released.
type Scheduled interface {
	Update
	// Spread returns sₖ, the standard deviation of the noise of step k over that of T equal steps of the same cost:
	// Σsₖ⁻² is T, or less by rounding.
	Spread(k int) float64
	// Weight returns the weight of the iterate after step k; all of them add up to 1.
	Weight(k int) float64
	// Within returns the radius of the ball that the mean is put back into.
	Within() float64
}

// weakest is the signal from which steps fit themselves.
const weakest = 9

// Signal returns s = ½n√T/(σ√d): half the largest norm of a sum of n gradients, over that of the noise of all T steps
// together in d dimensions, σ being its multiplier in one of them. For (ε, δ) that are worth μ-GDP it is ½nμ/√d.
func Signal(records, multiplier float64, steps, d int) float64 {
	return 0.5 * math.Max(0, records) * math.Sqrt(float64(steps)/float64(d)) / multiplier
}

// For returns the rule for a signal that is publicly known: steps of a fixed size below 9, else Adaptive itself.
func (u Adaptive) For(signal float64) Scheduled {
	if !(signal < weakest) {
		return u
	}
	f := weakSignal{Adaptive: u, Signal: signal}
	f.Ball = 0 // noise alone may fill a ball of r
	for k := range u.Steps {
		f.total += f.budget(k) / float64(u.Steps)
	}
	return f
}

// far is w, which is 0 where a step leads nowhere and 1 where the way is short.
func (u weakSignal) far() float64 { return u.Signal * u.Signal / (u.Signal*u.Signal + 64) }

func (u weakSignal) time(k int) float64 { return (float64(k) + 0.5) / float64(u.Steps) }

func (u weakSignal) budget(k int) float64 { return math.Pow(u.time(k), 0.5*u.far()) }

// Spread implements Scheduled. What is added covers the rounding of the sum.
func (u weakSignal) Spread(k int) float64 {
	return math.Sqrt(u.total/u.budget(k)) * (1 + 0x1p-52*float64(u.Steps+16))
}

// Weight implements Scheduled: Σ(k + ½)² = T³/3 − T/12.
func (u weakSignal) Weight(k int) float64 {
	n, t := float64(u.Steps), u.time(k)
	return t * t / (n/3 - 1/(12*n))
}

// String describes the rule.
func (u weakSignal) String() string {
	s := fmt.Sprintf("steps of fixed size within ‖θ‖ ≤ %.4g, for a signal of %.3g times the noise", u.Radius, u.Signal)
	return s + u.shrinking()
}

func (u weakSignal) validate() error {
	return cmp.Or(privacy.NotNegative("Signal", u.Signal), u.Adaptive.validate())
}

func (u weakSignal) start(d int) stepper {
	u.Level = cmp.Or(u.Level, 0.5)
	return &weakSteps{weakSignal: u}
}

type weakSteps struct {
	weakSignal
	taken int
}

func (s *weakSteps) step(theta, g []float64) {
	eta := s.Radius / math.Sqrt(float64(len(g)*s.Steps)*(1+math.Pow(s.Level*(1-s.Level)*s.Signal/4, 2)))
	if s.Noise > 0 {
		eta /= s.Noise * s.Spread(s.taken)
	}
	s.taken = min(s.taken+1, s.Steps-1)
	for j, x := range g {
		theta[j] -= eta * x
	}
	s.soften(theta, func(int) float64 { return eta })
	project(theta, s.Radius*(1+0.5*s.far()))
}
