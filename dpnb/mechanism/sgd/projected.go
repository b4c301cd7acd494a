package sgd

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Projected is a rule whose steps end in the ball ‖θ‖ ≤ Radius: what leaves it is brought back along the ray from zero.
// With a fixed step it is the descent whose excess risk is proved: see Steady.
type Projected struct {
	// Update is the rule.
	Update
	// Radius of the ball, public.
	Radius float64
}

// String describes the rule.
func (u Projected) String() string {
	return fmt.Sprintf("%v, within ‖θ‖ ≤ %.4g", u.Update, u.Radius)
}

func (u Projected) validate() error {
	if err := cmp.Or(privacy.Within(u.Update != nil, "Projected.Update", nil, rules),
		privacy.Positive("Radius", u.Radius)); err != nil {
		return err
	}
	return u.Update.validate()
}

func (u Projected) start(d int) stepper { return projected{u.Update.start(d), u.Radius} }

type projected struct {
	stepper
	radius float64
}

func (s projected) step(theta, g []float64) {
	s.stepper.step(theta, g)
	project(theta, s.radius)
}

// project moves θ to the nearest point of the ball ‖θ‖ ≤ radius.
func project(theta []float64, radius float64) {
	var norm float64
	for _, v := range theta {
		norm += v * v
	}
	if norm = math.Sqrt(norm); norm > radius {
		for j := range theta {
			theta[j] *= radius / norm
		}
	}
}

// Steady is the fixed step that public numbers set: with gradients of a sum over records that are at most slope long,
// and noise N(0, σ²I) in d dimensions,
//
//	η = r/√(T(slope² + dσ²)),  ‖θ‖ ≤ r by projection,
//
// for which the mean of the T iterates has an expected excess risk of at most r√((slope² + dσ²)/T) over the best point
// of the ball, if the loss is convex.
// Source: Zinkevich 2003; with noise Bassily, Smith, Thakurta 2014.
func Steady(radius, slope, sigma float64, d, steps int) Projected {
	return Projected{Plain{radius / math.Sqrt(float64(steps)*(slope*slope+float64(d)*sigma*sigma))}, radius}
}

// Stepper returns the rule from its start in d dimensions, for a descent of one's own on a loss of several linear
// forms: each call moves theta by g, which it may overwrite.
func Stepper(u Update, d int) func(theta, g []float64) { return u.start(d).step }
