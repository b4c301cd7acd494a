package objective

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// The certified values of two refinements of the same problem agree: the upper one of a coarse run is never below the
// lower one of a fine run, nor the other way round.
func TestRefinementsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	curves := testCurves(t)
	rounds := 25
	if !testscale.Full() {
		rounds = 8
	}
	worst := 0.0
	for range rounds {
		c := curves[rng.IntN(len(curves))]
		L := Slope(c)
		sigma := L * math.Exp(rng.Float64()*3-0.7)
		lambda := c.Max() * math.Exp(rng.Float64()*6-2.5)
		eps := L / sigma * math.Exp(rng.Float64()*3-2.5)
		mk := func(tol float64) (lo, up float64) {
			g := &grids{problem: &problem{curve: c, lambda: lambda, sigma: sigma}, tolerance: tol}
			return g.removeAt(eps)
		}
		lo1, up1 := mk(0.05)
		lo2, up2 := mk(0)
		lo3, up3 := mk(0.0015)
		low, up := max(lo1, lo2, lo3), min(up1, up2, up3)
		if low > up+1e-9 {
			t.Errorf("%v λ=%g σ=%g ε=%g: lower %g, %g, %g, upper %g, %g, %g", c, lambda, sigma, eps, lo1, lo2, lo3, up1,
				up2, up3)
		}
		if gap := up2 - lo2; gap > 0.01 {
			t.Logf("gap %.3f at ln δ = %.1f: %v λ=%.3g σ=%.3g ε=%.3g", gap, lo2, c, lambda, sigma, eps)
		}
		worst = max(worst, up2-lo2)
	}
	t.Logf("largest gap at the default tolerance %.4f", worst)
}

// Quick looks are never below what is certified of either direction, and within two percent of δ of what is known
// closely, for curves of both kinds and at negative ε too.
func TestQuickLooks(t *testing.T) {
	testscale.Slow(t)
	rng := rand.New(rand.NewPCG(23, 24))
	curves := testCurves(t)
	rounds, worst := 60, 0.0
	if !testscale.Full() {
		rounds = 20
	}
	for range rounds {
		c := curves[rng.IntN(len(curves))]
		a := math.Exp(rng.Float64()*2.5 - 2.5)
		eps := a * (4*rng.Float64() - 0.5)
		lambda := c.Max() * math.Exp(rng.Float64()*4-1)
		p := must.Get(New(Config{Curve: c, Lambda: lambda, Sigma: Slope(c) / a, Bound: Tight}))
		quick, low, up := p.QuickLogDeltaUpper(eps), privacy.LogDeltaLower(p, eps), privacy.LogDeltaUpper(p, eps)
		if quick < low-1e-12 {
			t.Errorf("%v at ε = %g: quickly %g, certified from below %g", p.Config(), eps, quick, low)
		}
		if worst = max(worst, quick-up); quick > up+0.02 {
			t.Errorf("%v at ε = %g: quickly %g, closely %g", p.Config(), eps, quick, up)
		}
	}
	t.Logf("at most %.4f above", worst)
}

// An integral is the same whatever was asked for before: coarser, finer, at other ε in between.
func TestIntegralsGoOn(t *testing.T) {
	testscale.Slow(t)
	for _, c := range testCurves(t) {
		fresh := func() *problem { return &problem{curve: c, lambda: 0.2 * c.Max(), sigma: 2 * Slope(c)} }
		used := fresh()
		for _, eps := range []float64{0.3, 0.7, 0.9, 1.1, 1.3, 0.3} {
			for _, tol := range []float64{1e-2, 1e-3} {
				for _, most := range []int{300, 600, 70} {
					got, want := used.integral(eps, tol, most), fresh().integral(eps, tol, most)
					if got.logUpper != want.logUpper || got.logLower != want.logLower ||
						len(got.parts) != len(want.parts) {
						t.Fatalf("%v, ε = %g, %g, %d: [%g, %g] of %d cells, and alone [%g, %g] of %d", c, eps, tol,
							most, got.logLower, got.logUpper, len(got.parts), want.logLower, want.logUpper,
							len(want.parts))
					}
				}
			}
		}
		if len(used.refined) != kept {
			t.Errorf("%v: %d refinements are kept", c, len(used.refined))
		}
	}
}

// Where there is room for both signs of γ in full, the add direction is known to the last digits, without a search.
func TestRoomForBothSigns(t *testing.T) {
	for _, eps := range []float64{1, 1.5} {
		g := &grids{problem: &problem{curve: must.Get(Huber(1, 1)), lambda: 0.1, sigma: 2}}
		if low, up := g.addAt(eps); !(up-low < 2e-12) {
			t.Errorf("ε = %g: ln δ is between %v and %v", eps, low, up)
		}
	}
}
