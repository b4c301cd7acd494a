package calculator

import (
	"errors"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// The smallest scale is found within the tolerance and with few calls, whether the function is smooth, bent, flat or
// jumps; and it passes itself.
func TestSmallestScale(t *testing.T) {
	for name, c := range map[string]struct {
		f     func(s float64) float64
		root  float64
		calls int
	}{
		"smooth": {func(s float64) float64 { return 3 - s*s }, math.Sqrt(3), 16},
		"steep":  {func(s float64) float64 { return 14 - s*s*s*s/1e8 }, math.Pow(14e8, 0.25), 30},
		"tiny":   {func(s float64) float64 { return math.Log(1e-200 / s) }, 1e-200, 30},
		"huge":   {func(s float64) float64 { return math.Log(1e200 / s) }, 1e200, 30},
		"jump":   {func(s float64) float64 { return math.Copysign(1, 7.3-s) }, 7.3, 100},
		"to zero": {func(s float64) float64 { return map[bool]float64{true: 2, false: math.Inf(-1)}[s < 0.2] }, 0.2,
			100},
	} {
		calls := 0
		got, err := smallestScale(func(s float64) (float64, error) { calls++; return c.f(s), nil }, 1e-9)
		if err != nil || !(c.f(got) <= 0) || !(math.Abs(got/c.root-1) <= 1.1e-9) || calls > c.calls {
			t.Errorf("%s: %v (%v) for %v after %d calls", name, got, err, c.root, calls)
		}
	}
	if _, err := smallestScale(func(float64) (float64, error) { return 1, nil }, 1e-9); err == nil {
		t.Error("no error where no scale will do")
	}
	wrong := errors.New("wrong")
	if _, err := smallestScale(func(float64) (float64, error) { return 1, wrong }, 1e-9); !errors.Is(err, wrong) {
		t.Errorf("err = %v", err)
	}
}

// Targets that no noise has are refused before any is looked for.
func TestSigmaRefuses(t *testing.T) {
	for _, c := range []struct{ eps, delta float64 }{{-1, 1e-5}, {math.NaN(), 1e-5}, {math.Inf(1), 1e-5}, {1, 0},
		{1, 1}, {1, 1.5}, {1, math.NaN()}} {
		if s, err := New().Sigma(line("gaussian", nil), privacy.AddRemove, c.eps, c.delta); err == nil {
			t.Errorf("(%v, %v): σ = %v", c.eps, c.delta, s)
		}
	}
	if _, err := New().Sigma(line("gaussian", map[string]float64{"sigma": 1}), privacy.AddRemove, 1, 1e-5); err == nil {
		t.Error("a σ that is given is looked for")
	}
}

// A hundred subsampled Gaussians: what is returned satisfies the target, a millionth less noise does not.
func TestSigmaOfAComposition(t *testing.T) {
	c := New()
	line := Line{"subsampled-gaussian", Values{Numbers: map[string]float64{"rate": 0.01}}, 100}
	s := must.Get(c.Sigma(line, privacy.AddRemove, 1, 1e-6))
	for _, f := range []float64{1, 1 - 3e-6} {
		l := line
		l.Values = Values{Numbers: map[string]float64{"rate": 0.01, "sigma": s * f}}
		a, err := c.Delta(Query{Lines: []Line{l}, Adjacency: privacy.AddRemove}, 1)
		if err != nil || (a.Delta <= 1e-6) != (f == 1) {
			t.Errorf("at %v of σ = %v: δ = %v, %v", f, s, a.Delta, err)
		}
	}
}

// The event whose noise is chosen is the one that was described, in words too.
func TestSigmaIsOfTheEventAsStated(t *testing.T) {
	c := New().With("worded", Type{Fields: []Field{{Name: "sigma"}, {Name: "sensitivity"}, {Name: "times", Text: true,
		Optional: true}}, Build: func(v Values, _ privacy.Adjacency) (privacy.Event, error) {
		times := map[string]float64{"": 1, "twice": 2}[v.Texts["times"]]
		return privacy.Gaussian{Sigma: v.Numbers["sigma"], Sensitivity: times * v.Numbers["sensitivity"]}, nil
	}})
	unit := must.Get(privacy.GaussianSigma(1, 1e-6))
	for word, want := range map[string]float64{"": 3 * unit, "twice": 6 * unit} {
		l := line("worded", map[string]float64{"sensitivity": 3})
		if word != "" {
			l.Values.Texts = map[string]string{"times": word}
		}
		if got := must.Get(c.Sigma(l, privacy.AddRemove, 1, 1e-6)); !(math.Abs(got/want-1) <= 1e-8) {
			t.Errorf("%q: σ = %v, want %v", word, got, want)
		}
	}
}
