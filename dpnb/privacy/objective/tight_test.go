package objective

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testscale"
)

// The certified values of two refinements of the same problem agree: the upper
// one of a coarse run is never below the lower one of a fine run, nor the other
// way round.
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
