package objective

import (
	"errors"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// forms is m forms |aⱼᵀθ|, smoothed by a logistic density, with m·α² = 1, and the largest curvature s of one.
func forms(t *testing.T, m int) ([]Form, float64) {
	t.Helper()
	// |x| is twice the pinball loss with τ = ½: the radius is doubled.
	c := must.Get(loss.CurveOf(loss.SmoothPinball{Tau: 0.5, Width: 1}, 2/math.Sqrt(float64(m))))
	return []Form{{c, m}}, c.Max()
}

// The σ at which m composed forms have δ = 1e-5, and the λ at 1.1 times the larger of them, as computed by an
// independent convolution on a grid (rounded to four and three digits). An error of a thousandth in σ moves δ by two
// thousandths; the bound by the rank of the Hessian is beyond all of these.
func TestRowsCompose(t *testing.T) {
	for _, c := range []struct {
		eps           float64
		m             int
		lambda, sigma float64 // in units of s; for m·α² = 1
		full          bool
	}{{1, 2, 1e9, 4.033, true}, {1, 10, 1e9, 5.027, true}, {1, 2, 2.60, 1.1 * 4.04, false}, {0.2, 3, 1e9, 18.73,
		true}} {
		if c.full && !testscale.Full() {
			continue
		}
		f, s := forms(t, c.m)
		p := must.Get(Rows{Forms: f, Lambda: c.lambda * s, Sigma: c.sigma}.Profile(privacy.AddRemove))
		got := privacy.DeltaUpper(p, c.eps)
		if !(math.Abs(got/1e-5-1) <= 0.02) {
			t.Errorf("ε = %g, m = %d, λ = %g·s: δ = %.4g, want 1e-5", c.eps, c.m, c.lambda, got)
		}
		rank := must.Get(RankK{Rank: c.m, Smoothness: s, Slope: 1, Lambda: c.lambda * s, Sigma: c.sigma}.Profile(
			privacy.AddRemove))
		if by := privacy.DeltaUpper(rank, c.eps); by < 1.2*got {
			t.Errorf("ε = %g, m = %d: the rank bound has %.4g, no more than %.4g", c.eps, c.m, by, got)
		}
	}
}

// One form costs what Pointwise says, and what is out of range is refused.
func TestRowsOfOneForm(t *testing.T) {
	f, s := forms(t, 1)
	p := must.Get(Rows{Forms: f, Lambda: s, Sigma: 4}.Profile(privacy.AddRemove))
	one := must.Get(New(Config{Curve: f[0].Curve, Lambda: s, Sigma: 4, Bound: Pointwise}))
	if a, b := privacy.LogDeltaUpper(p, 1), privacy.LogDeltaUpper(one, 1); a != b {
		t.Errorf("%g and %g", a, b)
	}
	var bad *privacy.ParamError
	for _, r := range []Rows{{Lambda: 1, Sigma: 1}, {Forms: []Form{{f[0].Curve, 0}}, Lambda: 1, Sigma: 1},
		{Forms: f, Lambda: 0, Sigma: 1}} {
		if _, err := r.Profile(privacy.AddRemove); !errors.As(err, &bad) {
			t.Errorf("%v: %v", r, err)
		}
	}
	if _, err := (Rows{Forms: f, Lambda: 1, Sigma: 1}).Profile(privacy.ReplaceOne); !errors.Is(err,
		privacy.ErrUnsupported) {
		t.Errorf("replace-one: %v", err)
	}
}

// Stages cost what all their forms do together with all that is beside them, and so do forms of one kind.
func TestStagesAddUp(t *testing.T) {
	f, s := forms(t, 3)
	one := []Form{{f[0].Curve, 1}}
	delta := func(e privacy.Event) float64 {
		t.Helper()
		p := must.Get(e.Profile(privacy.AddRemove))
		return privacy.DeltaUpper(p, 0.8)
	}
	stage := func(forms []Form, mu float64) Rows { return Rows{Forms: forms, Lambda: 3 * s, Sigma: 4, Mu: mu} }
	together := delta(stage([]Form{{f[0].Curve, 2}}, 0.5))
	if apart := delta(Stages{stage(one, 0.3), stage(one, 0.4)}); !(math.Abs(apart/together-1) <= 0.01) {
		t.Errorf("two stages have δ = %g, in one %g", apart, together)
	}
	alone := Stages{stage(one, 0), stage(one, 0), stage(one, 0)}
	if three, apart := delta(stage(f, 0)), delta(alone); !(math.Abs(three/apart-1) <= 0.01) {
		t.Errorf("three forms have δ = %g, one after the other %g", three, apart)
	}
	// Forms that cost next to nothing leave what is beside them.
	faint := Rows{Forms: one, Lambda: 1e9, Sigma: 1e6, Mu: 0.5}
	want := privacy.DeltaUpper(privacy.GaussianProfile(0.5, privacy.AddRemove), 0.8)
	if got := delta(faint); !(got >= want && got < 1.01*want) {
		t.Errorf("beside μ = 0.5: δ = %g, want %g", got, want)
	}
}
