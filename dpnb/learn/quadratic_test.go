package learn_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/noise"
)

var planted = []float64{0.5, -0.3, 0.1}

// interpolating are records whose targets one model predicts exactly.
func interpolating(t *testing.T, rows int) *learn.Dataset {
	t.Helper()
	rng := noise.NewSeeded(1)
	a, b, y := make([]float64, rows), make([]float64, rows), make([]float64, rows)
	for i := range rows {
		a[i], b[i] = rng.Float64(), rng.Float64()
		y[i] = planted[0]*a[i] + planted[1]*b[i] + planted[2]
	}
	table := must.Get(frame.NewTable(frame.Column{Name: "a", Numbers: a}, frame.Column{Name: "b", Numbers: b},
		frame.Column{Name: "y", Numbers: y}))
	return learn.Regression(learn.FromTable(table).WithSchema(learn.Numeric("a", 0, 1), learn.Numeric("b", 0, 1),
		learn.Numeric("y", -1, 1)), "y", learn.Uncentred())
}

// Where records interpolate, quadratic perturbation about a public anchor comes nearer to the model than linear
// perturbation, at the same guarantee, and it says what that rests on.
func TestQuadratic(t *testing.T) {
	testscale.InTurn(t)
	data := interpolating(t, 2000)
	anchor := []float64{0.55, -0.33, 0.12}
	l := learn.Quadratic{Interpolation: learn.AssumeInterpolation(anchor, floats.Distance(anchor, planted, 2)*1.01),
		Records: 2000, Distance: 0.1}
	var mine, linear float64
	for seed := range uint64(10) {
		l.Noise = learn.Seed(seed)
		m := must.Get(l.Fit(data, learn.Simulate(1, 1e-4)))
		other := must.Get(learn.Linear{Noise: learn.Seed(seed)}.Fit(data, learn.Simulate(1, 1e-4)))
		mine += floats.Distance(m.Theta(), planted, 2) / 10
		linear += floats.Distance(other.Theta(), planted, 2) / 10
	}
	if off := floats.Distance(anchor, planted, 2); !(mine < 0.8*linear && mine < 0.8*off) {
		t.Errorf("quadratic is off by %.3g, linear by %.3g, and the anchor by %.3g", mine, linear, off)
	}
	m := must.Get(l.Fit(data, learn.Simulate(1, 1e-4)))
	text := m.Display().Text()
	says(t, text, "RESTS ON INTERPOLATION", "if a single record violates this, nothing is protected",
		"quadratic objective perturbation")
	if _, err := m.Intervals(0.9); err == nil {
		t.Error("there are intervals")
	}
}

// Constraints hold the coefficients, but for the noise of the output and, of a box, the intercept; and leave a fit
// alone that is inside.
func TestConstraints(t *testing.T) {
	data := interpolating(t, 3000)
	free := must.Get(learn.Linear{Lambda: 1}.FitWithoutPrivacy(data))
	for name, test := range map[string]struct {
		r     learn.Regulariser
		holds func(theta []float64, slack float64) bool
	}{
		"ball": {learn.Regulariser{Ball: 0.2}, func(theta []float64, s float64) bool {
			return floats.Norm(theta, 2) < 0.2+s
		}},
		"box": {learn.Regulariser{Box: 0.1}, func(theta []float64, s float64) bool {
			return math.Abs(theta[0]) < 0.1+s && math.Abs(theta[1]) < 0.1+s && math.Abs(theta[2]) > 0.1
		}},
		"positive": {learn.Regulariser{NonNegative: true}, func(theta []float64, s float64) bool {
			return theta[0] > 0.1 && theta[1] > -s
		}},
		"with ω": {learn.Regulariser{NonNegative: true, L1: 1e4}, func(theta []float64, s float64) bool {
			return math.Abs(theta[0]) < s && math.Abs(theta[1]) < s
		}},
		"wide": {learn.Regulariser{Box: 50}, func(theta []float64, s float64) bool {
			return s > 1e-6 || floats.Distance(theta, free.Theta(), 2) < 1e-6
		}},
	} {
		l := learn.Linear{Lambda: 1, Regularise: test.r}
		plain, err := l.FitWithoutPrivacy(data)
		if err != nil || !test.holds(plain.Theta(), 1e-9) {
			t.Errorf("%s, without privacy: %v, %v", name, plain.Theta(), err)
		}
		l.Lambda, l.Noise = 0, learn.Seed(1)
		m, err := l.Fit(data, learn.Simulate(8, 1e-4))
		if err != nil || !test.holds(m.Theta(), 1e-2) {
			t.Errorf("%s: %v, %v", name, m.Theta(), err)
		}
	}
}
