package calculator

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	ref "github.com/dpnb/notebooks/dpnb/internal/testing/bigref"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

func line(typ string, numbers map[string]float64) Line {
	return Line{Type: typ, Values: Values{Numbers: numbers}, Count: 1}
}

// The answer about one run of each type is the δ of the event that its parameters describe, between bounds that hold
// the exact one.
func TestAnswersAreOfTheEvents(t *testing.T) {
	c := New()
	const eps = 0.3
	for _, one := range []struct {
		Line
		event privacy.Event
	}{
		{line("gaussian", map[string]float64{"sigma": 2, "sensitivity": 3}),
			privacy.Gaussian{Sigma: 2, Sensitivity: 3}},
		{line("laplace", map[string]float64{"scale": 4, "sensitivity": 3}), privacy.Laplace{Scale: 4, Sensitivity: 3}},
		{line("isotropic-laplace", map[string]float64{"scale": 4, "sensitivity": 3}),
			privacy.IsotropicLaplace{Scale: 4, Sensitivity: 3}},
		{line("subsampled-gaussian", map[string]float64{"sigma": 1, "rate": 0.2, "sensitivity": 2}),
			privacy.SubsampledGaussian{Sigma: 1, Rate: 0.2, Sensitivity: 2}},
		{line("approximate-minimum", map[string]float64{"tolerance": 0.1, "lambda": 2, "sigma_out": 0.3}),
			privacy.ApproximateMinimum{Tolerance: 0.1, Lambda: 2, SigmaOut: 0.3}},
		{line("dp", map[string]float64{"event_epsilon": 0.2, "event_delta": 0.01}),
			privacy.Approx{Epsilon: 0.2, Delta: 0.01, Adj: privacy.AddRemove}},
	} {
		p := must.Get(one.event.Profile(privacy.AddRemove))
		want := privacy.DeltaUpper(p, eps)
		a, err := c.Delta(Query{Lines: []Line{one.Line}, Adjacency: privacy.AddRemove}, eps)
		if err != nil || !(math.Abs(a.Delta-want) <= 1e-12*want) || !(a.DeltaLower <= a.Delta) {
			t.Errorf("%s: δ in [%v, %v], want %v (%v)", one.Type, a.DeltaLower, a.Delta, want, err)
		}
	}
	for _, at := range []float64{0.1, 3, 30, 60} {
		a, err := c.Delta(Query{Lines: []Line{line("gaussian", map[string]float64{"sigma": 1})},
			Adjacency: privacy.AddRemove}, at)
		exact := ref.GaussianDelta(ref.New(at), ref.Int(1))
		if err != nil || !ref.Above(a.Delta, exact) || !ref.Below(a.DeltaLower, exact) {
			t.Errorf("ε = %g: δ in [%v, %v], exact %.17g (%v)", at, a.DeltaLower, a.Delta, exact, err)
		}
	}
}

// doubtful is an event whose figures are no guarantee.
type doubtful struct{ privacy.Gaussian }

func (doubtful) Caveat() string { return "no guarantee" }

// That figures are no guarantee is said with every answer, wherever in a composition the event is, and no noise is
// chosen by them.
func TestCaveatsAreSaid(t *testing.T) {
	c := New().With("doubtful", Type{Fields: []Field{{Name: "sigma"}},
		Build: func(v Values, _ privacy.Adjacency) (privacy.Event, error) {
			return doubtful{privacy.Gaussian{Sigma: v.Numbers["sigma"], Sensitivity: 1}}, nil
		}})
	sure := line("gaussian", map[string]float64{"sigma": 2})
	for at := range 3 {
		q := Query{Lines: []Line{sure, sure}, Adjacency: privacy.AddRemove}
		if at < 2 {
			q.Lines[at] = line("doubtful", map[string]float64{"sigma": 3})
		}
		e, err := c.Epsilon(q, 1e-5)
		d, wrong := c.Delta(q, 1)
		if err != nil || wrong != nil || strings.Contains(e.Method, "no guarantee") != (at < 2) ||
			strings.Contains(d.Method, "no guarantee") != (at < 2) {
			t.Errorf("%v: %q and %q (%v, %v)", q.Lines, e.Method, d.Method, err, wrong)
		}
	}
	if s, err := c.Sigma(line("doubtful", nil), privacy.AddRemove, 1, 1e-5); err == nil {
		t.Errorf("σ = %v by what is no guarantee", s)
	}
}

// A type is built from what was said of its fields, the standard of those that may be left out, and from nothing else.
func TestFieldsAreAsStated(t *testing.T) {
	var built Values
	c := New().With("fields", Type{
		Fields: []Field{{Name: "sigma"}, {Name: "word", Text: true}, {Name: "other", Default: 3, Optional: true},
			{Name: "unsaid", Text: true, Optional: true}},
		Build: func(v Values, _ privacy.Adjacency) (privacy.Event, error) {
			built = v
			return privacy.Gaussian{Sigma: v.Numbers["sigma"], Sensitivity: 1}, nil
		}})
	numbers, texts := map[string]float64{"sigma": 2}, map[string]string{"word": "x"}
	ask := func(numbers map[string]float64, texts map[string]string) error {
		line := Line{Type: "fields", Values: Values{Numbers: numbers, Texts: texts}, Count: 1}
		_, err := c.Delta(Query{Lines: []Line{line}, Adjacency: privacy.AddRemove}, 1)
		return err
	}
	want := Values{Numbers: map[string]float64{"sigma": 2, "other": 3}, Texts: map[string]string{"word": "x"}}
	if err := ask(numbers, texts); err != nil || !reflect.DeepEqual(built, want) {
		t.Errorf("built of %v, want %v (%v)", built, want, err)
	}
	for name, wrong := range map[string]func() error{
		"a number for a word": func() error { return ask(map[string]float64{"sigma": 2, "word": 1}, nil) },
		"a word for a number": func() error { return ask(nil, map[string]string{"word": "x", "sigma": "2"}) },
		"a word left out":     func() error { return ask(numbers, nil) },
		"an infinite number":  func() error { return ask(map[string]float64{"sigma": math.Inf(1)}, texts) },
		"a number unknown":    func() error { return ask(map[string]float64{"sigma": 2, "no": 1}, texts) },
		"a word unknown":      func() error { return ask(numbers, map[string]string{"word": "x", "no": "y"}) },
	} {
		if bad := (*privacy.ParamError)(nil); !errors.As(wrong(), &bad) {
			t.Errorf("%s: %v", name, wrong())
		}
	}
}

// At δ = 0 the largest losses of all events add up, each as often as it is run.
func TestLargestLossesAddUp(t *testing.T) {
	twice := line("laplace", map[string]float64{"scale": 4})
	twice.Count = 2
	q := Query{Lines: []Line{twice, line("isotropic-laplace", map[string]float64{"scale": 8})},
		Adjacency: privacy.AddRemove}
	if a, err := New().Epsilon(q, 0); err != nil || !(a.Epsilon >= 0.625 && a.EpsilonLower <= 0.625) ||
		a.Epsilon-a.EpsilonLower > 1e-12 {
		t.Errorf("ε in [%v, %v], want 0.625 (%v)", a.EpsilonLower, a.Epsilon, err)
	}
}

// What adding rounds is on the safe side: many small losses are no less together, nor is the lower bound more, than an
// exact sum has them.
func TestLargestLossesAreAddedSafely(t *testing.T) {
	for _, scale := range []float64{10, 3, 1.7} {
		one := line("laplace", map[string]float64{"scale": scale})
		for _, runs := range []int{3, 10, 30} {
			var lines []Line
			for range runs {
				lines = append(lines, one)
			}
			a := must.Get(New().Epsilon(Query{Lines: lines, Adjacency: privacy.AddRemove}, 0))
			exact := ref.Quo(ref.Int(int64(runs)), ref.New(scale))
			if !ref.Above(a.Epsilon, exact) || !ref.Below(a.EpsilonLower, exact) ||
				a.Epsilon-a.EpsilonLower > 1e-12 {
				t.Errorf("%d runs of scale %g: ε in [%v, %v], exact %.20g", runs, scale, a.EpsilonLower, a.Epsilon,
					exact)
			}
		}
	}
}

// A word of an event comes to the one who makes it, and one that no field wants is refused.
func TestWords(t *testing.T) {
	c := New().With("named", Type{Fields: []Field{{Name: "law", Text: true, Optional: true}, {Name: "sigma"}}})
	for text, law := range map[string]string{`"sigma":2,"law":"normal"`: "normal", `"sigma":2`: "", `"sigma":"2"`: "-",
		`"sigma":2,"law":3`: "-", `"sigma":2,"lore":"normal"`: "-", `"law":"normal"`: "-"} {
		lines, err := c.Parse([]byte(`[{"type":"named",` + text + `}]`))
		if (err != nil) != (law == "-") || err == nil && lines[0].Values.Texts["law"] != law {
			t.Errorf("%s: %+v, %v", text, lines, err)
		}
	}
}
