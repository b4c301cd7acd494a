package objective

import (
	"errors"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// The closed form is above Tight's certified upper value at its σ and λ, in both directions, and near it in one; a
// ridge of half of that is not.
func TestFreeCurvature(t *testing.T) {
	const delta = 1e-5
	for _, c := range []struct{ tau, eps float64 }{{0.5, 0.2}, {0.5, 1}, {0.9, 1}, {0.9, 3}} {
		l := loss.SmoothPinball{Tau: c.tau, Width: 0.25}
		curve := must.Get(loss.CurveOf(l, 1))
		f := Free{curve, c.eps}
		sigma := must.Get(f.Sigma(delta))
		lambda := must.Get(f.Lambda(sigma))
		// The corollary's λ = R²max(τ, 1−τ)/(εh) suffices, and is not much larger.
		simple := math.Max(c.tau, 1-c.tau) / (c.eps * l.Width)
		if r := lambda / simple; r > 1.005 || r < 0.4 {
			t.Errorf("τ = %g, ε = %g: λ is %.3f of the corollary's", c.tau, c.eps, r)
		}
		worst := func(lambda float64) float64 {
			p := must.Get(New(Config{Curve: curve, Lambda: lambda, Sigma: sigma, Bound: Tight}))
			return privacy.DeltaUpper(p, c.eps) / delta
		}
		if got := worst(lambda); got > 1.006 || got < 0.45 {
			t.Errorf("τ = %g, ε = %g: Tight has %.4f δ at the closed form's λ", c.tau, c.eps, got)
		}
		if got := worst(0.3 * lambda); got < 1.02 {
			t.Errorf("τ = %g, ε = %g: Tight has %.4f δ at a third of the λ", c.tau, c.eps, got)
		}
	}
}

// One-signed slopes cost the Gaussian mechanism's noise, two-signed ones 3 to 5 % more.
func TestFreeSigma(t *testing.T) {
	both := Free{must.Get(loss.CurveOf(loss.SmoothPinball{Tau: 0.5, Width: 1}, 1)), 0.1}
	if l, err := both.LogDelta(1e-3); l != 0 || err != nil { // of two sides that have nearly 1 each
		t.Errorf("ln δ = %v with hardly any noise (%v)", l, err)
	}
	for sigma := 1.0; sigma < 100; sigma *= 1.3 { // each of two sides has a δ, and their sum is rounded up
		one := privacy.LogDeltaUpper(privacy.GaussianProfile(math.Nextafter(0.5/sigma, 1), privacy.AddRemove), 0.1)
		if got := must.Get(both.LogDelta(sigma)); !(got > one+math.Ln2) || got > one+math.Ln2+1e-13*math.Abs(one) {
			t.Errorf("σ = %g: ln δ = %.17g of two sides of %.17g", sigma, got, one)
		}
	}
	for _, eps := range []float64{0.2, 1, 3} {
		unit := must.Get(privacy.GaussianSigma(eps, 1e-5))
		for _, c := range []struct {
			loss      loss.Loss
			low, high float64
		}{{loss.Softplus{Width: 1}, 1, 1 + 1e-9}, {loss.SmoothPinball{Tau: 0.5, Width: 1}, 1.025, 1.056}} {
			curve := must.Get(loss.CurveOf(c.loss, 2))
			sigma, err := Free{curve, eps}.Sigma(1e-5)
			if r := sigma / (unit * Slope(curve)); err != nil || !(r >= c.low && r <= c.high) {
				t.Errorf("%s, ε = %g: σ is %.6f of the Gaussian mechanism's (%v)", c.loss.Name(), eps, r, err)
			}
		}
	}
}

// Curvature at the largest slope is not free.
func TestFreeRefuses(t *testing.T) {
	huber := must.Get(loss.CurveOf(loss.Huber{Threshold: 1}, 1))
	if _, err := (Free{huber, 1}).Lambda(4); !errors.Is(err, privacy.ErrUnsupported) {
		t.Errorf("Huber: %v", err)
	}
	var bad *privacy.ParamError
	if _, err := (Free{huber, 0}).Sigma(1e-5); !errors.As(err, &bad) {
		t.Errorf("ε = 0: %v", err)
	}
}

// plateau is a curvature of 1 up to half of the largest slope, which falls from there as a line does, on the side with
// the given sign.
type plateau struct {
	Curve
	sign float64
}

func (p plateau) Range() (lo, hi float64) { return min(0, p.sign), max(0, p.sign) }
func (plateau) Falls() float64            { return 2 }
func (p plateau) Bounds(g0, g1 float64) (lower, upper float64) {
	if a, b := p.sign*g0, p.sign*g1; g0 <= g1 && min(a, b) >= 0 && max(a, b) <= 1 {
		return math.Min(1, 2-2*max(a, b)), math.Min(1, 2-2*min(a, b))
	}
	panic("slopes that are none")
}

// tip is a curvature that falls as a line does beside the largest slope, and hardly is elsewhere.
type tip struct{ plateau }

func (tip) Bounds(g0, g1 float64) (lower, upper float64) {
	if g1 <= 1-0x1p-21 {
		return 0, 1e-9
	}
	return 0, 2 - 2*g0
}

// Where the worst slope is the start of a cell, λ is what it has to be there and not the least bit less.
func TestFreeLambdaIsRoundedUp(t *testing.T) {
	for _, eps := range []float64{0.3, 0.5, 0.7} {
		for _, sign := range []float64{-1, 1} {
			lambda, least := must.Get(Free{plateau{sign: sign}, eps}.Lambda(0.5)), 1/math.Expm1(eps)
			if !(lambda >= least && lambda <= least*(1+2e-12)) {
				t.Errorf("ε = %g: λ = %.17g, least %.17g", eps, lambda, least)
			}
		}
		// Here it is within a cell, ½, and the condition is strictest at the cell's far end.
		got, least := must.Get(Free{plateau{sign: 1}, eps}.Lambda(math.Sqrt(1/(3.2*eps)))), 1/math.Expm1(0.9*eps)
		if !(got >= least && got <= 1.003*least) {
			t.Errorf("ε = %g: λ = %.17g, least %.17g at the middle", eps, got, least)
		}
		if got := must.Get(Free{tip{plateau{sign: 1}}, eps}.Lambda(0.5)); !(got >= 2/(eps+2)) {
			t.Errorf("ε = %g: λ = %g beside the largest slope, least %g", eps, got, 2/(eps+2))
		}
	}
}
