package objective

import (
	"errors"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// One event with its output noise against what is known of it by other ways.
func TestEvent(t *testing.T) {
	testscale.Slow(t)
	l, _ := Logistic(1)
	e := Event{Config: Config{Curve: l, Lambda: 2, Sigma: 2, Bound: Tight}}
	gauss := func(mu float64, adj privacy.Adjacency) float64 {
		return privacy.DeltaUpper(privacy.GaussianProfile(mu, adj), 0.5)
	}
	delta := func(e Event, adj privacy.Adjacency) float64 {
		t.Helper()
		p, err := e.Profile(adj)
		if err != nil || p.Adjacency() != adj {
			t.Fatal(p, err)
		}
		return privacy.DeltaUpper(p, 0.5)
	}
	near := func(what string, got, want, tolerance float64) {
		t.Helper()
		if !(got >= want*(1-1e-11)) || got > want*(1+tolerance) {
			t.Errorf("%s: %g, want %g", what, got, want)
		}
	}
	// The Gaussian case, λ/(κLσ) = 1; output noise of μ = 2·0.3/(2·0.2) = 1.5.
	near("Tight", delta(e, privacy.AddRemove), gauss(0.5, privacy.AddRemove), 1e-9)
	near("Tight, replaced", delta(e, privacy.ReplaceOne), gauss(1, privacy.ReplaceOne), 1e-9)
	e.Tolerance, e.OutputSigma = 0.3, 0.2
	both := math.Hypot(0.5, 1.5)
	near("Tight with output noise", delta(e, privacy.AddRemove), gauss(both, privacy.AddRemove), 1e-9)
	near("replaced", delta(e, privacy.ReplaceOne), gauss(2*both, privacy.ReplaceOne), 1e-9)
	e.Bound = 0
	near("closed form", delta(e, privacy.AddRemove), gauss(both, privacy.AddRemove), 1e-9)

	// Elsewhere: the law W + G, whether L and s are stated or the curve's.
	e.Lambda, e.OutputSigma = 0.1, 40 // μ = 0.15
	w := privacy.HalfNormalGaussian{HalfNormal: privacy.HalfNormal{K: math.Log1p(2.5), A: 0.5}, Mu: 0.15}
	exact := must.Get(w.Profile(privacy.AddRemove))
	want := privacy.DeltaUpper(exact, 0.5)
	near("W + G", delta(e, privacy.AddRemove), want, 1e-9)
	// Below ε = k all of W + G counts, and its mean does not depend on μ; beyond it does.
	beyond := must.Get(e.Profile(privacy.AddRemove))
	near("W + G beyond k", privacy.DeltaUpper(beyond, 2.5), privacy.DeltaUpper(exact, 2.5), 1e-9)
	stated := e
	stated.Curve, stated.Slope, stated.Smoothness = nil, 1, 0.25
	near("W + G of L and s", delta(stated, privacy.AddRemove), want, 1e-9)
	if v := delta(e, privacy.ReplaceOne); !(v > want) || v > 1 {
		t.Errorf("W + G replaced: δ = %g, %g before", v, want)
	}
	tight := e
	tight.Bound = Pointwise
	if v := delta(tight, privacy.AddRemove); !(v < want) || !(v > gauss(math.Hypot(0.5, 0.15), privacy.AddRemove)) {
		t.Errorf("pointwise with output noise: δ = %g", v)
	}
	alone := must.Get(New(Config{Curve: l, Lambda: 0.1, Sigma: 2, Bound: Pointwise}))
	near("pointwise with output noise", delta(tight, privacy.AddRemove),
		privacy.DeltaUpper(privacy.WithGaussian(alone, 0.15, 0.5), 0.5), 1e-9)
	for bound, k := range map[Bound]float64{RKW23: -math.Log1p(-0.25 / 0.3), DTZ24: math.Log1p(0.25 / 0.3),
		Tight: math.Log1p(0.25 / 0.3)} {
		law := Config{Curve: l, Lambda: 0.3, Sigma: 2, Bound: bound}.Law()
		near(bound.String()+": k", law.K, k, 1e-15)
		near(bound.String()+": a", law.A, 0.5, 1e-15)
	}
}

func TestEventRDP(t *testing.T) {
	l, _ := Logistic(1)
	e := Event{Config: Config{Curve: l, Lambda: 2, Sigma: 2, Bound: Tight}, Tolerance: 0.3, OutputSigma: 0.2}
	c := must.Get(e.RDP(privacy.AddRemove))
	if got, want := c.Epsilon(3), 1.5*(0.25+2.25); got < want || got > want*(1+1e-12) {
		t.Errorf("Gaussian case with output noise: ε(3) = %v, want %v", got, want)
	}
	e.Lambda = 0.1
	c = must.Get(e.RDP(privacy.AddRemove))
	w, _ := privacy.HalfNormal{K: math.Log1p(2.5), A: 0.5}.RDP(3)
	if got, want := c.Epsilon(3), w+1.5*900; got < want*(1-1e-14) || got > want*(1+1e-12) {
		t.Errorf("W + G: ε(3) = %v, want %v", got, want)
	}
	if _, err := e.RDP(privacy.ReplaceOne); !errors.Is(err, privacy.ErrUnsupported) {
		t.Errorf("under replace-one: %v", err)
	}
}

func TestEventRefuses(t *testing.T) {
	l, _ := Logistic(1)
	good := Event{Config: Config{Curve: l, Lambda: 1, Sigma: 2}}
	if _, err := good.Profile(privacy.Adjacency(0)); err == nil {
		t.Error("no error for no adjacency")
	}
	for name, change := range map[string]func(*Event){
		"no curve for Tight":    func(e *Event) { e.Curve, e.Slope, e.Smoothness, e.Bound = nil, 1, 1, Tight },
		"nothing of the loss":   func(e *Event) { e.Curve = nil },
		"no smoothness":         func(e *Event) { e.Curve, e.Slope = nil, 1 },
		"a negative slope":      func(e *Event) { e.Slope = -1 },
		"an infinite slope":     func(e *Event) { e.Slope = math.Inf(1) },
		"λ below s for rkw23":   func(e *Event) { e.Lambda, e.Bound = 0.25, RKW23 },
		"τ without its noise":   func(e *Event) { e.Tolerance = 1 },
		"a negative τ":          func(e *Event) { e.Tolerance, e.OutputSigma = -1, 1 },
		"kst12, output noise":   func(e *Event) { e.Bound, e.Tolerance, e.OutputSigma = KST12, 1, 1 },
		"a lower bound, output": func(e *Event) { e.Bound, e.Tolerance, e.OutputSigma = GaussianLower, 1, 1 },
	} {
		e := good
		change(&e)
		var param *privacy.ParamError
		_, err := e.Profile(privacy.AddRemove)
		if !errors.As(err, &param) && !errors.Is(err, privacy.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
		if _, rdp := e.RDP(privacy.AddRemove); (rdp == nil) != (err == nil) {
			t.Errorf("%s: RDP says %v", name, rdp)
		}
	}
}
