package sgd

import (
	"errors"
	"math"
	"sort"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

func descent() Descent {
	return Descent{Loss: loss.Logistic{}, Clip: 1, Rate: 0.1, Steps: 50, NoiseMultiplier: 2, PlannedRecords: 500,
		Update: Plain{0.1}}
}

// TestOneStepLaw: θ after one step from a data set of one record that is clipped is (1−q)·N(0, σ²C²) + q·N(C, σ²C²),
// scaled: the pair that the accountant takes.
func TestOneStepLaw(t *testing.T) {
	const draws = 20_000
	m := Descent{Loss: loss.Squared{}, Clip: 3, Rate: 0.3, Steps: 1, NoiseMultiplier: 0.5, PlannedRecords: 10,
		Update: Plain{1}}
	rows, labels := matrix.NewDense(1, 1, []float64{2}), []float64{-40} // f′ = 40, clipped to 3
	unit := m.Clip / (m.Rate * m.PlannedRecords)
	x := make([]float64, draws)
	root := noise.NewSeeded(8)
	for i := range x {
		r := must.Get(m.Run(rows, labels, root.Stream(i), &mechanism.Settings{Workers: 1}))
		x[i] = -r.Coefficients[0] / unit
	}
	sort.Float64s(x)
	distance := func(q, sigma float64) float64 {
		normal := func(v float64) float64 { return 0.5 * math.Erfc(-v/math.Sqrt2) }
		var d float64
		for i, v := range x {
			f := (1-q)*normal(v/sigma) + q*normal((v-1)/sigma)
			d = math.Max(d, math.Max(f-float64(i)/draws, float64(i+1)/draws-f))
		}
		return math.Sqrt(draws) * d
	}
	// The 1 − 1e-6 quantile of the Kolmogorov law is 2.69.
	if d := distance(0.3, 0.5); d > 2.69 {
		t.Errorf("√n·KS = %.2f", d)
	}
	if distance(0.25, 0.5) < 2.69 || distance(0.3, 0.44) < 2.69 {
		t.Error("the test would not notice another rate or another noise")
	}
}

// TestWithoutNoiseItIsGradientDescent: with all records in every batch and next to no noise, the minimiser of the ridge
// problem is found.
func TestWithoutNoiseItIsGradientDescent(t *testing.T) {
	rows, labels := simulated(400, 5, 1, 2)
	p := erm.Problem{Rows: rows, Labels: labels, Loss: loss.Logistic{}, Lambda: 4}
	s := must.Get(erm.Minimize(&p, nil))
	for _, u := range []Update{Plain{1}, Momentum{0.2, 0.9}, Adam{LearningRate: 0.01}} {
		for _, average := range []int{0, 10} {
			m := Descent{Loss: loss.Logistic{}, Clip: 16, Rate: 1, Steps: 2000, NoiseMultiplier: 1e-8,
				PlannedRecords: 400, Lambda: 4, Update: u, Average: average}
			r := must.Get(m.Run(rows, labels, noise.NewSeeded(1), nil))
			if d := floats.Distance(r.Coefficients, s.Theta, 2); d > 1e-4 {
				t.Errorf("%s: %v from the minimiser", m, d)
			}
		}
	}
}

func TestAverageIsTheMeanOfTheLast(t *testing.T) {
	rows, labels := simulated(500, 4, 1, 3)
	run := func(steps, average int) []float64 {
		m := descent()
		m.Steps, m.Average = steps, average
		r := must.Get(m.Run(rows, labels, noise.NewSeeded(6), nil))
		return r.Coefficients
	}
	want := make([]float64, 4)
	for _, steps := range []int{48, 49, 50} {
		floats.Add(want, run(steps, 0)) // the same draws, stopped earlier
	}
	floats.Scale(1.0/3, want)
	if got := run(50, 3); !floats.EqualApprox(got, want, 1e-14) {
		t.Errorf("%v, want %v", got, want)
	}
}

// counted counts the slopes that are evaluated.
type counted struct {
	loss.Loss
	n *atomic.Int64
}

func (c counted) ValueSlope(slope, t, y []float64) float64 {
	c.n.Add(int64(len(t)))
	return c.Loss.ValueSlope(slope, t, y)
}

func TestExpectedGradients(t *testing.T) {
	rows, labels := simulated(2000, 3, 1, 1)
	var n atomic.Int64
	m := descent()
	m.Loss, m.Steps = counted{loss.Logistic{}, &n}, 200
	must.Get(m.Run(rows, labels, noise.NewSeeded(4), nil))
	const want = 0.1 * 2000 * 200 // qnT
	if got := float64(n.Load()); !(math.Abs(got-want) <= 5*math.Sqrt(want)) {
		t.Errorf("%v gradients, expected %v", got, want)
	}
}

// What TestLimits does not ask.
func TestDescentRefuses(t *testing.T) {
	rows, labels := simulated(50, 3, 1, 1)
	var param *privacy.ParamError
	for name, change := range map[string]func(*Descent){
		"bad loss":      func(d *Descent) { d.Loss = loss.Huber{} },
		"learning rate": func(d *Descent) { d.Update = Plain{0} },
		"momentum":      func(d *Descent) { d.Update = Momentum{1, 1} },
		"clip below":    func(d *Descent) { d.Clip, d.NoiseMultiplier = 1e-200, 1e10 },
		"clip above":    func(d *Descent) { d.Clip = 1e200 },
		"tiny noise":    func(d *Descent) { d.Clip = 1e-300; d.NoiseMultiplier = 1e-20 },
	} {
		m := descent()
		change(&m)
		if _, err := m.Run(rows, labels, noise.NewSeeded(1), nil); !errors.As(err, &param) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDivergence: a learning rate that runs off to infinity ends without a panic.
func TestDivergence(t *testing.T) {
	rows, labels := simulated(200, 3, 1, 1)
	m := descent()
	m.Loss, m.Update = loss.Squared{}, Plain{1e200}
	must.Get(m.Run(rows, labels, noise.NewSeeded(1), nil))
}

// Adaptive steps do not see a factor of all gradients, stay within the radius, and come to the median of labels where
// there is no noise to speak of.
func TestAdaptiveSteps(t *testing.T) {
	const n, steps = 301, 192
	rows, labels := matrix.NewDense(n, 1, nil), make([]float64, n)
	for i := range labels {
		rows.Data[i] = 1
		labels[i] = math.Expm1(3*float64(i)/n) / 10 // the median is (e^1.5 − 1)/10
	}
	run := func(planned, radius float64) float64 {
		d := Descent{Loss: loss.Pinball{Tau: 0.5}, Clip: 0.5, Rate: 1, Steps: steps, NoiseMultiplier: 1e-3,
			PlannedRecords: planned,
			Update:         Adaptive{Radius: radius, Steps: steps}, Average: steps / 2}
		r := must.Get(d.Run(rows, labels, noise.NewSeeded(1), nil))
		return r.Coefficients[0]
	}
	want := math.Expm1(1.5) / 10
	if got := run(1, 2); !(math.Abs(got-want) <= 0.01) {
		t.Errorf("came to %g, the median is %g", got, want)
	}
	if a, b := run(1, 2), run(1<<20, 2); a != b {
		t.Errorf("%g and, with other units of the gradient, %g", a, b)
	}
	if got := run(1, 0.2); got > 0.2 || got < 0.199 {
		t.Errorf("%g within a radius of 0.2", got)
	}
}

// The quantile of level α and that of 1 − α of the negative numbers are found by the same steps, turned round.
func TestLevelsAreMirrored(t *testing.T) {
	at := func(level, sign float64) float64 {
		s, theta := Adaptive{Radius: 3, Ball: 99, Steps: 20, Noise: 1, Level: level}.start(1), []float64{0}
		for k := range 20 {
			s.step(theta, []float64{sign * (4 + math.Sin(float64(k)))})
		}
		return sign * theta[0]
	}
	for _, level := range []float64{0.05, 0.3, 0.5} {
		if a, b := at(level, 1), at(1-level, -1); !(math.Abs(a-b) <= 1e-12*math.Abs(a)) || a == at(level+0.1, 1) {
			t.Errorf("level %v: %v, and %v mirrored", level, a, b)
		}
	}
}
