package sgd

import (
	"errors"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// On f(θ) = |θ₁ − 3| + |θ₂|, whose minimum lies outside the ball, the mean of the iterates comes as close to the best
// point of the ball as the theorem says, and no iterate leaves it.
func TestSteadyKeepsItsBound(t *testing.T) {
	const radius, steps = 2.0, 400
	f := func(theta []float64) float64 { return math.Abs(theta[0]-3) + math.Abs(theta[1]) }
	step := Stepper(Steady(radius, math.Sqrt2, 0, 2, steps), 2)
	theta, mean := []float64{0, 1}, make([]float64, 2)
	for range steps {
		step(theta, []float64{math.Copysign(1, theta[0]-3), math.Copysign(1, theta[1])})
		if norm := math.Hypot(theta[0], theta[1]); norm > radius*(1+1e-15) {
			t.Fatalf("‖θ‖ = %v", norm)
		}
		for j := range mean {
			mean[j] += theta[j] / steps
		}
	}
	best, bound := 1.0, radius*math.Sqrt(2.0/steps)
	if excess := f(mean) - best; excess > bound || excess < bound/50 {
		t.Errorf("excess %v, bound %v", excess, bound)
	}
}

func TestProjectedValidates(t *testing.T) {
	for _, u := range []Projected{{nil, 1}, {Plain{1}, 0}, {Plain{1}, math.Inf(1)}, {Plain{-1}, 1}} {
		var wrong *privacy.ParamError
		if err := u.validate(); !errors.As(err, &wrong) {
			t.Errorf("%+v: %v", u, err)
		}
	}
	if err := (Projected{Plain{1}, 1}).validate(); err != nil {
		t.Error(err)
	}
}
