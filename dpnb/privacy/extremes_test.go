package privacy

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

// At no parameters and no ε may a bound be NaN, above one, or below its lower bound.
func TestExtremesOfClosedForms(t *testing.T) {
	inf := math.Inf(1)
	check := func(p LowerProfile, eps float64, what ...float64) {
		t.Helper()
		u, l := p.LogDeltaUpper(Remove, eps), p.LogDeltaLower(Remove, eps)
		if math.IsNaN(u) || math.IsNaN(l) || u < l || u > 0 {
			t.Errorf("%v at ε = %v: ln δ between %v and %v", what, eps, l, u)
		}
	}
	epsilons := []float64{-inf, -1e9, -1e3, -40, -1, 0, 1e-300, 1e-9, 1, 40, 1e3, 1e6, 1e9, inf}
	for _, a := range []float64{0, 1e-300, 1e-8, 1e-3, 1, 29, 31, 40, 100, 1e4, 1e150} {
		for _, eps := range epsilons {
			check(GaussianProfile(a, AddRemove), eps, a)
		}
		for _, k := range []float64{0, 1e-300, 2.5e-7, 1, 50, 700} {
			p := must.Get(HalfNormal{K: k, A: a}.Profile(AddRemove))
			for _, eps := range epsilons {
				check(p, eps, k, a)
			}
		}
	}
	if !testscale.Full() {
		return
	}
	for _, a := range []float64{1e-300, 1e-3, 1, 100} {
		for _, mu := range []float64{1e-6, 1, 30} {
			p := must.Get(HalfNormalGaussian{HalfNormal{K: 0.1, A: a}, mu}.Profile(AddRemove))
			for _, eps := range []float64{-40, 0, 1e-9, 1, 40, 1e3} {
				check(p, eps, a, mu)
			}
		}
	}
}

// What costs nothing costs nothing at any order.
func TestNothingIsFree(t *testing.T) {
	for _, alpha := range []float64{1, 1.5, 30, 1e9} {
		if a, b := pureRenyi(0, alpha), laplaceRenyi(0, alpha); a != 0 || b != 0 {
			t.Errorf("order %g: %v and %v", alpha, a, b)
		}
	}
}

// Tails far out err by their own last places, which a cell between them allows for in both directions.
func TestFarCellsAllowForTheirTails(t *testing.T) {
	for _, n := range []float64{3, 30, 300} {
		w := HalfNormalGaussian{HalfNormal: HalfNormal{K: 0.1, A: 0.3}, Mu: 0.3}
		from, to := w.node(1, n), w.node(1, n+1e-3)
		c, part := w.cell(1, from, to), -math.Expm1(to.tail-from.tail)
		if room := c.upper - c.lower; !(room >= 8e-16*math.Abs(from.tail)/part) {
			t.Errorf("between %g and %g: room of %g for tails of e^%g of which %g is between", n, to.n, room, from.tail,
				part)
		}
	}
}

// What an interpolated profile was told it does not ask for again.
func TestKept(t *testing.T) {
	asked := 0
	p := Interpolated(told(func() { asked++ }), 8)
	for range 3 {
		p.LogDeltaUpper(Remove, 0.3)
	}
	if asked > 2 { // the two ends of a chord
		t.Errorf("asked %d times", asked)
	}
}

// told is a profile that says when it is asked.
type told func()

func (told) Adjacency() Adjacency                           { return AddRemove }
func (t told) LogDeltaUpper(_ Direction, e float64) float64 { t(); return -1 - max(e, 0) }

// μ that is too small for float64 is not 0; a release that no record moves has 0, exactly.
func TestTinyMu(t *testing.T) {
	for _, adj := range []Adjacency{AddRemove, ReplaceOne} {
		if low, high := (Gaussian{Sigma: 1e300, Sensitivity: 1e-300}).MuBounds(adj); low != 0 || !(high > 0) {
			t.Errorf("%v: μ between %g and %g", adj, low, high)
		}
		if low, high := (Gaussian{Sigma: 1e300}).MuBounds(adj); low != 0 || high != 0 {
			t.Errorf("%v: nothing is released at μ between %g and %g", adj, low, high)
		}
	}
}

// μ = 2τ/(λσ) where a step of its computation is beyond float64 and μ is not.
func TestApproximateMinimumAtExtremes(t *testing.T) {
	for _, c := range []struct {
		m    ApproximateMinimum
		want float64
	}{
		{ApproximateMinimum{Tolerance: 1e-200, Lambda: 1e200, SigmaOut: 1e-300}, 2e-100},
		{ApproximateMinimum{Tolerance: 1e200, Lambda: 1e-200, SigmaOut: 1e300}, 2e100},
		{ApproximateMinimum{Tolerance: 0x1p-1070, Lambda: 0x1p10, SigmaOut: 0x1p-1074}, 0x1p-5},
		{ApproximateMinimum{Tolerance: 0.3, Lambda: 7, SigmaOut: 2}, 0.6 / 14},
	} {
		low, high := c.m.MuBounds()
		if !(low <= c.want*(1+2e-16) && high >= c.want*(1-2e-16)) || high > c.want*(1+1e-14) {
			t.Errorf("%v: μ between %g and %g, want %g", c.m, low, high, c.want)
		}
		if _, err := c.m.Profile(AddRemove); err != nil {
			t.Errorf("%v: %v", c.m, err)
		}
	}
}
