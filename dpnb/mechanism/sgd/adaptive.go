package sgd

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Adaptive moves each coordinate by a step in proportion to a radius that is known
// to hold the answer, and in inverse proportion to the root of the mean square of
// its gradients so far:
//
//	vⱼ = (g₁ⱼ² + … + g_{kⱼ}²)/k,
//	θⱼ ← θⱼ − (r/√d)(1 − 0.8(k−1)/T)·g_{kⱼ}/√(T·vⱼ),  then ‖θ‖ ≤ r by projection.
//
// A factor of all gradients falls out, so that neither the number of records nor the
// size of their slopes need be known: no rate is to be tuned, and nothing to be
// planned. Coordinates with small gradients are moved as far as those with large
// ones. It is meant for Rate 1 and the mean of the last half of the iterates
// (Descent.Average = T/2), which takes the noise off.
// Source: after AdaGrad (Duchi, Hazan, Singer 2011), with a mean in the place of the
// sum and a step that falls linearly; docs/theory/quantiles.md.
type Adaptive struct {
	// Radius is r > 0: the coefficients stay within it.
	Radius float64
	// Steps is T, as in Descent.
	Steps int
}

// String describes the rule.
func (u Adaptive) String() string {
	return fmt.Sprintf("adaptive steps within ‖θ‖ ≤ %.4g", u.Radius)
}

func (u Adaptive) validate() error {
	if !(u.Radius > 0) || math.IsInf(u.Radius, 1) {
		return &privacy.ParamError{Name: "Radius", Value: u.Radius, Want: "a positive finite number"}
	}
	if u.Steps < 1 {
		return &privacy.ParamError{Name: "Update.Steps", Value: u.Steps, Want: "the number of steps of the descent"}
	}
	return nil
}

func (u Adaptive) start(d int) stepper { return &adaptive{Adaptive: u, squares: make([]float64, d)} }

type adaptive struct {
	Adaptive
	squares []float64 // Σg²
	taken   int
}

// lastStep is the size of the last step in units of the first.
const lastStep = 0.2

func (s *adaptive) step(theta, g []float64) {
	horizon, d := float64(s.Steps), float64(len(g))
	size := s.Radius / math.Sqrt(d) * (1 - (1-lastStep)*math.Min(1, float64(s.taken)/horizon))
	s.taken++
	for j, x := range g {
		s.squares[j] += x * x
		if v := s.squares[j]; v > 0 {
			theta[j] -= size * x / math.Sqrt(v*horizon/float64(s.taken))
		}
	}
	project(theta, s.Radius)
}
