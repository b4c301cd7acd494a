package constrained

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm/composite"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

func TestLinear(t *testing.T) {
	testscale.Slow(t)
	rows, labels := records(50, 4, 1)
	box := composite.NewBox(2)
	bounded := must.Get(BoundedOn(loss.Squared{}, 1, 5, box, 4))
	if got := bounded.Lipschitz(); !(math.Abs(got-9) <= 1e-9) {
		t.Errorf("sup|f′| = %g, want 2·√4 + 5", got)
	}
	sigma := map[string]float64{}
	for name, c := range map[string]Config{
		"printed, add/remove": {Adjacency: privacy.AddRemove, Rule: Theorem51},
		"printed, replace":    {Adjacency: privacy.ReplaceOne, Rule: Theorem51},
		"tight, add/remove":   {Adjacency: privacy.AddRemove},
		"tight, replace":      {Adjacency: privacy.ReplaceOne},
	} {
		c.Loss, c.RowNorm, c.Dimension, c.Epsilon, c.Delta, c.Constraint = bounded, 1, 4, 0.5, 0.01, box
		c.Regulariser = composite.L1{Weight: 1}
		m, err := Calibrate(c)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		r, err := m.Run(rows, labels, noise.NewSeeded(2), nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if r.Guarantee.Adjacency != c.Adjacency || r.Guarantee.Epsilon != 0.5 || len(r.Coefficients) != 4 {
			t.Errorf("%s: %+v", name, r.Guarantee)
		}
		theta, err := m.Simulate(rows, labels, noise.NewSeeded(2), nil)
		if err != nil || !box.Contains(theta) {
			t.Errorf("%s: %v, %v", name, theta, err)
		}
		sigma[name] = m.Sigma
		less := m
		less.Sigma /= 4
		if err := less.Validate(); err == nil {
			t.Errorf("%s: a quarter of the noise was accepted", name)
		}
	}
	want, _ := Theorem51Noise(0.5, 0.01, 9, 1)
	if !(math.Abs(sigma["printed, add/remove"]/want-1) <= 1e-6) {
		t.Errorf("σ = %g, printed %g", sigma["printed, add/remove"], want)
	}
	if !(sigma["tight, add/remove"] < sigma["printed, add/remove"] &&
		sigma["tight, replace"] < sigma["printed, replace"] && sigma["tight, add/remove"] < sigma["tight, replace"]) {
		t.Errorf("σ: %v", sigma)
	}
}

// What is simulated is the minimiser for the noise of the seed: Σ f′x + Δθ + a = 0, as near as float64 can say.
func TestSimulatedIsTheMinimiser(t *testing.T) {
	const n, d = 500, 4
	rows, labels := records(n, d, 1)
	for i, y := range labels {
		labels[i] = math.Copysign(1, y)
	}
	m := must.Get(Calibrate(Config{Loss: loss.Logistic{}, RowNorm: 1, Dimension: d, Epsilon: 1,
		Delta: 1e-3, Adjacency: privacy.AddRemove}))
	theta := must.Get(m.Simulate(rows, labels, noise.NewSeeded(5), nil))
	g, slope, at := make([]float64, d), make([]float64, n), make([]float64, n)
	noise.Exact(noise.NewSeeded(5)).FillNormal(g, m.Sigma)
	floats.AddScaled(g, m.Lambda, theta)
	rows.Margins(at, theta, 0, n)
	m.Loss.ValueSlope(slope, at, labels)
	for i, s := range slope {
		floats.AddScaled(g, s, rows.Data[i*d:(i+1)*d])
	}
	if norm := floats.Norm(g, 2); norm > 1e-8*m.Sigma {
		t.Errorf("the gradient is %g", norm)
	}
}

// What Theorem 5.1 says, of constants of which none is 1.
func TestTheorem51(t *testing.T) {
	sigma, ridge := Theorem51Noise(0.5, 0.01, 3, 2)
	if want := 6 * math.Sqrt(8*math.Log(200)+2); !(math.Abs(sigma/want-1) <= 1e-12) || ridge != 8 {
		t.Errorf("σ = %g, Δ = %g, want %g and 8", sigma, ridge, want)
	}
	if risk := Theorem51Risk(4, 3, 2, 5); risk != 4*9/4.0+25 {
		t.Errorf("risk %g", risk)
	}
}

func TestLinearRefusals(t *testing.T) {
	good := Config{Loss: loss.ClippedAt(loss.Squared{}, 1, 1), RowNorm: 1, Dimension: 3, Epsilon: 1, Delta: 1e-3,
		Adjacency: privacy.AddRemove}
	must.Get(Calibrate(good))
	good.Dimension = 1
	if _, err := Calibrate(good); err != nil {
		t.Errorf("one dimension: %v", err)
	}
	good.Dimension = 3
	for name, c := range map[string]struct {
		change func(*Config)
		says   string
	}{
		"unbounded slope": {func(c *Config) { c.Loss = loss.Squared{} }, "bounded slope"},
		"no dimension":    {func(c *Config) { c.Dimension = 0 }, "Dimension"},
		"no projection":   {func(c *Config) { c.Constraint = cone{} }, "projection"},
		"no adjacency":    {func(c *Config) { c.Adjacency = 0 }, "Adjacency"},
		"no such rule":    {func(c *Config) { c.Rule = 7 }, "Rule"},
		"δ = 1":           {func(c *Config) { c.Delta = 1 }, "Delta"},
	} {
		cfg := good
		c.change(&cfg)
		if _, err := Calibrate(cfg); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, c := range map[string]composite.Constraint{"none": nil, "half a box": composite.Box{Lower: []float64{0}},
		"a cone": cone{}} {
		if _, err := BoundedOn(loss.Squared{}, 1, 1, c, 3); err == nil || !strings.Contains(err.Error(),
			"bounded constraint") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if l, err := BoundedOn(loss.Squared{}, 1, 0, composite.NewBox(1), 4); err != nil || l.Lipschitz() > 2+1e-9 {
		t.Errorf("labels that are 0: %v, %v", l, err)
	}
	if _, err := BoundedOn(loss.Logistic{}, 1, 1, composite.NewBox(1), 3); err == nil {
		t.Error("the logistic loss has a bound of its own")
	}
}

// cone is a constraint without a projection.
type cone struct{}

func (cone) Name() string            { return "cone" }
func (cone) Validate(int) error      { return nil }
func (cone) Contains([]float64) bool { return true }
