package objective

import (
	"errors"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// One form of log cosh: the closed form is above Pointwise's and Tight's profile at every ε ≥ 0 where λw = 2σ², twice
// the Gaussian mechanism's, and refused for less ridge.
func TestEntropic(t *testing.T) {
	const w, sigma = 0.5, 4.0
	// |x| is twice the pinball loss with τ = ½: w·log cosh(x/w) at radius 1.
	c := must.Get(loss.CurveOf(loss.SmoothPinball{Tau: 0.5, Width: w}, 2))
	lambda := EntropicLambda(w, sigma)
	if !(math.Abs(lambda-2*sigma*sigma/w) <= 1e-9) {
		t.Errorf("λ = %v", lambda)
	}
	e := Entropic{Vertices: []Vertex{{1, 2}}, Temperature: w, Lambda: lambda, Sigma: sigma}
	p := must.Get(e.Profile(privacy.AddRemove))
	tight := must.Get(New(Config{Curve: c, Lambda: lambda, Sigma: sigma, Bound: Tight}))
	for _, eps := range []float64{0, 0.1, 0.5, 1, 2} {
		got, exact := privacy.DeltaUpper(p, eps), privacy.DeltaUpper(tight, eps)
		gauss := privacy.DeltaUpper(privacy.GaussianProfile(1/sigma, privacy.AddRemove), eps)
		if got < exact*0.999 || !(math.Abs(got/(2*gauss)-1) <= 1e-9) {
			t.Errorf("ε = %g: %.6g, Tight %.6g, Gaussian %.6g", eps, got, exact, gauss)
		}
	}
	if p.LogDeltaUpper(privacy.Remove, -0.1) != 0 || !math.IsInf(p.LogDeltaUpper(privacy.Add, math.Inf(1)), -1) {
		t.Error("beyond ε ≥ 0")
	}
	var bad *privacy.ParamError
	for _, e := range []Entropic{{}, {Vertices: []Vertex{{1, 2}}, Temperature: w, Lambda: 0.99 * lambda, Sigma: sigma},
		{Vertices: []Vertex{{-1, 2}}, Temperature: w, Lambda: lambda, Sigma: sigma},
		{Vertices: []Vertex{{1, 2}}, Lambda: lambda, Sigma: sigma}} {
		if _, err := e.Profile(privacy.AddRemove); !errors.As(err, &bad) {
			t.Errorf("%v: %v", e, err)
		}
	}
	if _, err := e.Profile(privacy.ReplaceOne); !errors.Is(err, privacy.ErrUnsupported) {
		t.Errorf("replace-one: %v", err)
	}
}

// The event of free curvature has the closed form from ε = From on, and Pointwise below; its profile does not rise, and
// less ridge is refused.
func TestFreeRelease(t *testing.T) {
	c := must.Get(loss.CurveOf(loss.SmoothPinball{Tau: 0.5, Width: 1}, 2))
	f := Free{c, 1}
	sigma := must.Get(f.Sigma(1e-5))
	lambda := must.Get(f.Lambda(sigma))
	r := FreeRelease{Curve: c, Lambda: lambda, Sigma: sigma, From: 1}
	p := must.Get(r.Profile(privacy.AddRemove))
	if got := privacy.DeltaUpper(p, 1); !(math.Abs(got/1e-5-1) <= 1e-9) {
		t.Errorf("δ(1) = %g", got)
	}
	for _, eps := range []float64{0.2, 0.9, 1, 1.5, 3} {
		tight := must.Get(New(Config{Curve: c, Lambda: lambda, Sigma: sigma, Bound: Tight}))
		if a, b := privacy.LogDeltaUpper(p, eps), privacy.LogDeltaUpper(tight, eps); a < b-1e-3 {
			t.Errorf("ε = %g: ln δ %.6f below Tight's %.6f", eps, a, b)
		}
	}
	var bad *privacy.ParamError
	r.Lambda *= 0.999
	if _, err := r.Profile(privacy.AddRemove); !errors.As(err, &bad) {
		t.Errorf("less ridge: %v", err)
	}
}

// The rough composition is within four thousandths of the certified one; a Gaussian mechanism beside counts as one more
// form does.
func TestRowsRoughly(t *testing.T) {
	for _, m := range []int{1, 3} {
		f, s := forms(t, m)
		r := Rows{Forms: f, Lambda: 4 * s, Sigma: 4.5}
		p := must.Get(r.Profile(privacy.AddRemove))
		rough, err := r.Roughly(1, 1000)
		if got := math.Exp(rough) / privacy.DeltaUpper(p, 1); err != nil || !(math.Abs(got-1) <= 4e-3) {
			t.Errorf("m = %d: the rough δ is %.5f of the certified one (%v)", m, got, err)
		}
		r.Mu = 0.2
		p = must.Get(r.Profile(privacy.AddRemove))
		got := privacy.DeltaUpper(p, 1)
		if got < 3*math.Exp(rough) {
			t.Errorf("m = %d: μ = 0.2 beside takes δ to %g only", m, got)
		}
		if rough, err = r.Roughly(1, 1000); err != nil || !(math.Abs(math.Exp(rough)/got-1) <= 4e-3) {
			t.Errorf("m = %d, μ = 0.2 beside: the rough δ is %.5f of the certified one (%v)", m, math.Exp(rough)/got,
				err)
		}
	}
	linear := Rows{Forms: []Form{}, Lambda: 1, Sigma: 1, Mu: 1}
	if _, err := linear.Profile(privacy.AddRemove); err == nil {
		t.Error("no forms")
	}
}

// The charge is the largest of the function over a grid, nothing from λw = 2σ² on, and rises with the spread and as λ
// falls; pieces of no slope cost nothing where ε is above it.
func TestCharge(t *testing.T) {
	const w, sigma = 0.5, 4.0
	for _, spread := range []float64{0.1, 3, 200} {
		for _, lambda := range []float64{0.01, 1, 10, 60, 64, 200} {
			e := Entropic{Vertices: []Vertex{{1, 2}, {0, 1}}, Temperature: w, Lambda: lambda, Sigma: sigma, Rank: 3,
				Spread: spread}
			want := 0.0
			for i := range 100001 {
				v := spread * float64(i) / 1e5
				want = math.Max(want, 3*math.Log1p(v/(3*w*lambda))-v/(2*sigma*sigma))
			}
			if got := e.Charge(); got < want || got > want*(1+1e-6)+1e-12 {
				t.Errorf("V = %g, λ = %g: %v, want %v", spread, lambda, got, want)
			}
			p := must.Get(e.Profile(privacy.AddRemove))
			gauss := privacy.GaussianProfile(1/sigma, privacy.AddRemove)
			for _, eps := range []float64{0, 0.3, 2} {
				add, remove := privacy.DeltaUpper(gauss, eps), privacy.DeltaUpper(gauss, eps-e.Charge())
				flat := math.Max(0, -math.Expm1(eps-e.Charge()))
				if got := math.Exp(p.LogDeltaUpper(privacy.Add, eps)); !(math.Abs(got/math.Min(1, 2*add)-1) <= 1e-9) {
					t.Errorf("add, ε = %g: %v, want %v", eps, got, 2*add)
				}
				if got, want := math.Exp(p.LogDeltaUpper(privacy.Remove, eps)), math.Min(1,
					2*remove+flat); !(math.Abs(got/want-1) <= 1e-9) {
					t.Errorf("remove, ε = %g: %v, want %v", eps, got, want)
				}
			}
		}
	}
	e := Entropic{Vertices: []Vertex{{1, 2}}, Temperature: w, Lambda: 1, Sigma: sigma, Rank: 1, Spread: math.NaN()}
	var bad *privacy.ParamError
	if err := e.Validate(); !errors.As(err, &bad) {
		t.Errorf("no spread: %v", err)
	}
}
