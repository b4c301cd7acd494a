package sgd

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Adaptive moves each coordinate by a step in proportion to a radius that is known
// to hold the answer, and in inverse proportion to the root of a mean square of
// its gradients so far, the earlier ones of which count less and less:
//
//	vⱼ = Σᵢ βᵏ⁻ⁱg_{iⱼ}²/Σᵢ βᵏ⁻ⁱ,  i = 1 … k,  β = 1 − 6/T (0 for T < 7),
//	θⱼ ← θⱼ − sⱼg_{kⱼ},  sⱼ = (r/√d)(1 − 0.8(k−1)/T)/√(T·vⱼ),
//	θⱼ ← sign(θⱼ)·max(|θⱼ| − sⱼωⱼ, 0),  then ‖θ‖ ≤ r by projection.
//
// A factor of all gradients falls out, so that neither the number of records nor the
// size of their slopes need be known: no rate is to be tuned, and nothing to be
// planned. Coordinates with small gradients are moved as far as those with large
// ones. It is meant for Rate 1 and the mean of the last half of the iterates
// (Descent.Average = T/2), which takes the noise off.
// Source: after AdaGrad and Adam (Duchi, Hazan, Singer 2011; Kingma, Ba 2015), with a
// step that falls linearly; docs/theory/quantiles.md.
type Adaptive struct {
	// Radius is r > 0: the coefficients stay within it.
	Radius float64
	// Steps is T, as in Descent.
	Steps int
	// Shrink is ω ≥ 0 of a regulariser Σωⱼ|θⱼ|, in the unit of g; nil is none.
	Shrink []float64
}

// String describes the rule.
func (u Adaptive) String() string {
	s := fmt.Sprintf("adaptive steps within ‖θ‖ ≤ %.4g", u.Radius)
	if u.Shrink != nil {
		s += fmt.Sprintf(", ℓ₁ with ω ≤ %.4g", slices.Max(u.Shrink))
	}
	return s
}

func (u Adaptive) validate() error {
	if !(u.Radius > 0) || math.IsInf(u.Radius, 1) {
		return &privacy.ParamError{Name: "Radius", Value: u.Radius, Want: "a positive finite number"}
	}
	if u.Steps < 1 {
		return &privacy.ParamError{Name: "Update.Steps", Value: u.Steps, Want: "the number of steps of the descent"}
	}
	if u.Shrink != nil && len(u.Shrink) == 0 {
		return &privacy.ParamError{Name: "Shrink", Value: u.Shrink, Want: "a weight for each feature, or nil"}
	}
	for _, w := range u.Shrink {
		if !(w >= 0) || math.IsInf(w, 1) {
			return &privacy.ParamError{Name: "Shrink", Value: w, Want: "finite numbers ≥ 0"}
		}
	}
	return nil
}

// fits reports whether the rule is for d features.
func (u Adaptive) fits(d int) error {
	if u.Shrink != nil && len(u.Shrink) != d {
		return &privacy.ParamError{Name: "Shrink", Value: len(u.Shrink),
			Want: fmt.Sprintf("%d weights, one for each feature", d)}
	}
	return nil
}

func (u Adaptive) start(d int) stepper { return &adaptive{Adaptive: u, squares: make([]float64, d)} }

type adaptive struct {
	Adaptive
	squares []float64 // Σβᵏ⁻ⁱg²
	weight  float64   // Σβᵏ⁻ⁱ
	taken   int
}

const (
	// lastStep is the size of the last step in units of the first.
	lastStep = 0.2
	// memories is how often the mean square is renewed in all steps, about.
	memories = 6
)

func (s *adaptive) step(theta, g []float64) {
	horizon, d := float64(s.Steps), float64(len(g))
	size := s.Radius / math.Sqrt(d) * (1 - (1-lastStep)*math.Min(1, float64(s.taken)/horizon))
	beta := math.Max(0, 1-memories/horizon)
	s.taken++
	s.weight = beta*s.weight + 1
	for j, x := range g {
		s.squares[j] = beta*s.squares[j] + x*x
		if v := s.squares[j]; v > 0 {
			by := size / math.Sqrt(v*horizon/s.weight)
			theta[j] -= by * x
			if s.Shrink != nil {
				theta[j] = math.Copysign(math.Max(math.Abs(theta[j])-by*s.Shrink[j], 0), theta[j])
			}
		}
	}
	project(theta, s.Radius)
}
