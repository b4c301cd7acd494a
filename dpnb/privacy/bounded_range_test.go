package privacy

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// tilted is δ(ε) of the exponential mechanisms of range η with two results, at their worst: log-ratios t and t − η, t
// in [0, η].
func tilted(eta, eps float64) (worst float64) {
	const n = 4000
	for i := range n + 1 {
		t := eta * float64(i) / n
		p := -math.Expm1(t-eta) / -math.Expm1(-eta)
		delta := p*math.Max(0, -math.Expm1(eps-t)) + (1-p)*math.Max(0, -math.Expm1(eps-t+eta))
		worst = math.Max(worst, delta)
	}
	return worst
}

// A range of η costs a Gaussian mechanism as much as pure η/2, and no less: one that costs a thousandth less does not
// dominate it.
func TestBoundedRangeIsDominated(t *testing.T) {
	for _, eta := range []float64{1e-3, 0.1, 0.5, 1, 3, 10} {
		b := BoundedRange{Ranges: []float64{eta}}
		below := false
		for i := range 60 {
			eps := eta * float64(i) / 60
			want := tilted(eta, eps)
			exact := math.Pow(-math.Expm1(0.5*(eps-eta)), 2) / -math.Expm1(-eta)
			if !(math.Abs(exact-want) <= 2e-4*want) {
				t.Errorf("η = %g, ε = %g: δ = %g, in closed form %g", eta, eps, want, exact)
			}
			if got := DeltaUpper(GaussianProfile(b.Mu(), AddRemove), eps); got < want*(1-1e-12) {
				t.Errorf("η = %g, ε = %g: δ = %g of the Gaussian, %g of the mechanism", eta, eps, got, want)
			}
			below = below || DeltaUpper(GaussianProfile(0.999*b.Mu(), AddRemove), eps) < want
		}
		if !below {
			t.Errorf("η = %g: less μ would do", eta)
		}
	}
}

// Two in a row, the second's tilt chosen for the worst, are within the bound.
func TestBoundedRangesCompose(t *testing.T) {
	const eta = 0.5
	p := must.Get(BoundedRange{Ranges: []float64{eta, eta}}.Profile(AddRemove))
	wrong, _ := BoundedRange{Ranges: []float64{eta, 0.8 * eta}}.Profile(AddRemove)
	caught := false
	for i := range 40 {
		eps := 2 * eta * float64(i) / 40
		var worst float64
		for k := range 401 {
			tilt := eta * float64(k) / 400
			q := -math.Expm1(tilt-eta) / -math.Expm1(-eta)
			// E over the first of the second's δ at what is left.
			left := q*tiltedAny(eta, eps-tilt) + (1-q)*tiltedAny(eta, eps-tilt+eta)
			worst = math.Max(worst, left)
		}
		if got := DeltaUpper(p, eps); got < worst*(1-1e-9) {
			t.Errorf("ε = %g: δ = %g, and %g is reached", eps, got, worst)
		}
		caught = caught || DeltaUpper(wrong, eps) < worst
	}
	if !caught {
		t.Error("a range a fifth too small is not seen")
	}
}

// tiltedAny is tilted in closed form for every real ε.
func tiltedAny(eta, eps float64) float64 {
	switch {
	case eps >= eta:
		return 0
	case eps <= -eta:
		return -math.Expm1(eps)
	}
	return math.Pow(-math.Expm1(0.5*(eps-eta)), 2) / -math.Expm1(-eta)
}

// Every part is in the μ² of the whole, whatever it is: without one of them, or a tenth less of it, there is less.
func TestBoundedRangeAddsSquares(t *testing.T) {
	b := BoundedRange{Ranges: []float64{0.8, 0.4}, Pure: []float64{0.5, 0.2}, Gaussian: []float64{0.3}}
	var square float64
	for _, mu := range []float64{pureMu(0.4), pureMu(0.2), pureMu(0.5), pureMu(0.2), 0.3} {
		square += mu * mu
	}
	if got, want := b.Mu(), math.Sqrt(square); !(math.Abs(got-want) <= 1e-14*want) {
		t.Errorf("μ = %v, want %v", got, want)
	}
}

// With a Gaussian mechanism among them the whole is not pure: whatever curve is asked for, it costs what that costs
// alone at least.
func TestBoundedRangeOfGaussiansIsNotPure(t *testing.T) {
	b := BoundedRange{Ranges: []float64{0.01}, Pure: []float64{0.01}, Gaussian: []float64{1}}
	curve := must.Get(b.RDP(AddRemove))
	for _, alpha := range []float64{1.5, 4, 100} {
		if got, least := curve.Epsilon(alpha), alpha/2; got < least || got > 1.001*least {
			t.Errorf("Rényi ε of order %g is %v, of the Gaussian alone %v", alpha, got, least)
		}
	}
	for adj, mu := range map[Adjacency]float64{AddRemove: 1, ReplaceOne: 2} {
		p := must.Get(b.Profile(adj))
		for _, eps := range []float64{0, 0.5, 3} {
			least := DeltaUpper(GaussianProfile(mu, adj), eps)
			if got := DeltaUpper(p, eps); got < least*(1-1e-9) || got > 1.01*least {
				t.Errorf("%v: δ(%g) = %v, of the Gaussian alone %v", adj, eps, got, least)
			}
		}
	}
}
