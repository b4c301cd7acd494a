package privacy

import (
	"errors"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// For a Gaussian the trade-off composition is exact: μ twice.
func TestReplaceProfileDoublesGaussian(t *testing.T) {
	for _, mu := range []float64{0.05, 0.3, 1} {
		r := replaceProfile{symmetric(ReplaceOne), GaussianProfile(mu, AddRemove)} // the search, not the shortcut
		want := GaussianProfile(2*mu, ReplaceOne)
		for _, eps := range []float64{-1, 0, 0.1, 1, 4} {
			got, exact := r.LogDeltaUpper(Remove, eps), want.LogDeltaLower(Remove, eps)
			if got < exact {
				t.Errorf("μ=%g ε=%g: ln δ ≤ %v below the exact %v", mu, eps, got, exact)
			}
			if got > exact+1e-6*(1+math.Abs(exact)) {
				t.Errorf("μ=%g ε=%g: ln δ ≤ %v, exact %v", mu, eps, got, exact)
			}
		}
	}
}

func TestReplaceProfileBeatsGroup(t *testing.T) {
	p, _ := SubsampledGaussian{Sigma: 1, Sensitivity: 1, Rate: 0.1}.Profile(AddRemove)
	r := must.Get(ReplaceProfile(p))
	for _, eps := range []float64{0.05, 0.2, 0.7} {
		g := must.Get(ReplaceByGroup(Approx{Epsilon: eps, Delta: DeltaUpper(p, eps), Adj: AddRemove}))
		if a := DeltaUpper(r, 2*eps); a > g.Delta {
			t.Errorf("ε = %g: δ %v above the group's %v", 2*eps, a, g.Delta)
		}
	}
}

func TestAdjacencyIsOneWay(t *testing.T) {
	p := GaussianProfile(1, ReplaceOne)
	if _, err := ConvertAdjacency(p, AddRemove); !errors.Is(err, ErrAdjacency) {
		t.Errorf("replace-one as add-remove: %v", err)
	}
	if _, err := ReplaceProfile(p); !errors.Is(err, ErrAdjacency) {
		t.Errorf("replace-one of replace-one: %v", err)
	}
	if _, err := ComposeRDP([]int{1, 1}, GaussianRDP(1, AddRemove), GaussianRDP(1, ReplaceOne)); !errors.Is(err,
		ErrAdjacency) {
		t.Errorf("curves of two adjacencies: %v", err)
	}
	if _, err := (Approx{Epsilon: 1, Adj: ReplaceOne}).Profile(AddRemove); !errors.Is(err, ErrAdjacency) {
		t.Errorf("an event of the other adjacency: %v", err)
	}
}

// The conversions of a Gaussian's Rényi curve are above the exact ε, in order: exact ≤ Canonne–Kamath–Steinke ≤ simple.
func TestRDPConversions(t *testing.T) {
	for _, mu := range []float64{0.1, 1, 4} {
		c := GaussianRDP(mu, AddRemove)
		for _, delta := range []float64{1e-3, 1e-6, 1e-30} {
			exact := EpsilonLower(GaussianProfile(mu, AddRemove), delta)
			cks := must.Get(c.EpsilonUpper(delta))
			rho := mu * mu / 2
			simple := rho + 2*math.Sqrt(rho*math.Log(1/delta)) // Bun and Steinke 2016, Proposition 1.3
			if !(exact < cks && cks < simple) {
				t.Errorf("μ=%g δ=%g: %v, %v, %v are not in order", mu, delta, exact, cks, simple)
			}
			if l := c.LogDeltaUpper(cks); !(math.Abs(l-math.Log(delta)) <= 1e-6*math.Abs(l)) {
				t.Errorf("μ=%g: ln δ(ε(δ)) = %v, want %v", mu, l, math.Log(delta))
			}
			if a, b := c.Profile().LogDeltaUpper(Remove, cks), c.LogDeltaUpper(cks); a < b-1e-9*math.Abs(b) ||
				a > b+1e-2+1e-3*math.Abs(b) {
				t.Errorf("μ=%g: profile %v, curve %v", mu, a, b)
			}
		}
	}
}

// T(N(0,1), N(μ,1))(α) = Φ(Φ⁻¹(1−α) − μ): here at α = Φ̄(1), μ = 1.5.
func TestTradeOffOfGaussian(t *testing.T) {
	alpha := 0.5 * math.Erfc(1/math.Sqrt2)
	want := 0.5 * math.Erfc(0.5/math.Sqrt2)
	got, err := TradeOff(GaussianProfile(1.5, AddRemove), Remove, alpha)
	if err != nil || got > want || got < want-1e-6 {
		t.Errorf("f(%v) = %v, %v, want just below %v", alpha, got, err, want)
	}
	if f, err := TradeOff(GaussianProfile(1.5, AddRemove), Remove, 0); err != nil || f < 1-1e-9 {
		t.Errorf("f(0) = %v, %v", f, err)
	}
}

// Papernot, Steinke: with μ = 1 and a base whose δ̂ is negligible the Poisson law costs nothing.
func TestSelection(t *testing.T) {
	base := Gaussian{Sigma: 50, Sensitivity: 1}
	b, _ := base.RDP(AddRemove)
	p := must.Get(SelectionPoisson{Base: base, Mean: 1}.RDP(AddRemove))
	if x, y := p.Epsilon(4), b.Epsilon(4); x < y || x > y*(1+1e-6) {
		t.Errorf("Poisson, μ = 1: ε(4) = %v, base %v", x, y)
	}
	for _, eps := range []float64{0.1, 0.3, 0.7, 1, 3} { // at infinite order the largest loss, rounded up
		pure := Approx{Epsilon: eps, Adj: AddRemove}
		own := must.Get(pure.RDP(AddRemove)).Epsilon(math.Inf(1))
		shift := 2 * DeltaUpper(must.Get(pure.Profile(AddRemove)), 0)
		got := must.Get(SelectionPoisson{Base: pure, Mean: 2}.RDP(AddRemove)).Epsilon(math.Inf(1))
		if !(got > own+shift && got <= (own+shift)*(1+1e-14)) {
			t.Errorf("ε = %g: ε(∞) = %.17g, want a little more than %.17g", eps, got, own+shift)
		}
	}
	if _, err := (SelectionPoisson{Base: base, Mean: 0}).RDP(AddRemove); err == nil {
		t.Error("a mean of zero")
	}
}

func TestCalibrateIsSafe(t *testing.T) {
	got, err := Calibrate(func(s float64) (bool, error) { return s >= 3.7, nil }, 0)
	if err != nil || got != 3.7 {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := Calibrate(func(float64) (bool, error) { return false, nil }, 0); err == nil {
		t.Error("the impossible is calibrated")
	}
	failure := errors.New("failure")
	if _, err := Calibrate(func(float64) (bool, error) { return false, failure }, 0); !errors.Is(err, failure) {
		t.Errorf("%v", err)
	}
}

func TestLaplaceAndApproxProfiles(t *testing.T) {
	l, _ := Laplace{Scale: 2, Sensitivity: 1}.Profile(AddRemove)
	if got, want := DeltaUpper(l, 0.1), 1-math.Exp(-0.2); !(math.Abs(got-want) <= 1e-14) {
		t.Errorf("Laplace: δ(0.1) = %v, want %v", got, want)
	}
	a, _ := Approx{Epsilon: 1, Delta: 1e-3, Adj: AddRemove}.Profile(AddRemove)
	if got := DeltaUpper(a, 1); got < 1e-3 || got > 1e-3*(1+1e-12) {
		t.Errorf("(1, 1e-3)-DP: δ(1) = %v", got)
	}
	// Every profile satisfies h ≥ 1 − α, the two directions being one here: δ(−ε) = 1 − e^{−ε} + e^{−ε}δ(ε).
	for _, p := range []Profile{l, a} {
		for _, eps := range []float64{0.05, 0.3, 0.9, 3} {
			want := -math.Expm1(-eps) + math.Exp(-eps)*DeltaUpper(p, eps)
			if got := DeltaUpper(p, -eps); !(math.Abs(got-want) <= 1e-13) {
				t.Errorf("%T: δ(−%g) = %v, want %v", p, eps, got, want)
			}
		}
	}
}

// To replace a record moves what noise hides twice as far as to add one: the profile and the Rényi curve of what is
// pure end at 2ε, and come near it. The exact curve of Laplace noise is that of twice the sensitivity.
func TestReplacingCostsTwiceOfWhatIsPure(t *testing.T) {
	const eps = 0.2
	for _, e := range []RDPEvent{Pure(eps, AddRemove), Laplace{Scale: 5, Sensitivity: 1},
		IsotropicLaplace{Scale: 5, Sensitivity: 1}, BoundedRange{Pure: []float64{eps}}} {
		for adj, want := range map[Adjacency]float64{AddRemove: eps, ReplaceOne: 2 * eps} {
			p := must.Get(e.Profile(adj))
			if got, err := EpsilonUpper(p, 0); err != nil || got < want || got > want*(1+1e-6) {
				t.Errorf("%v, %v: ε = %v, want %v (%v)", e, adj, got, want, err)
			}
			c, err := e.RDP(adj)
			if errors.Is(err, ErrUnsupported) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := c.Epsilon(1e6); got < want*(1-1e-4) || got > want*(1+1e-9) {
				t.Errorf("%v, %v: Rényi ε of order 10⁶ is %v, want about %v", e, adj, got, want)
			}
		}
	}
}
