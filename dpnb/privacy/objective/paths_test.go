package objective

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// paths are those of one dimension on a grid: u, the gradient of all else and of b in units of σ, rises in steps of
// width, and γ/σ stays what it is in each of them or goes on to the next of slopes, which is as fast as it can.
type paths struct {
	width  float64
	slopes []float64
}

func pathsOf(c Curve, lambda, sigma, width float64) paths {
	lo, hi := c.Range()
	clock := func(gamma float64) float64 { return lambda / sigma * c.Clock(gamma) }
	middle := clock(0.5 * (lo + hi))
	from, to := math.Max(clock(lo), middle-12), math.Min(clock(hi), middle+12)
	steps := math.Ceil((to - from) / math.Min(width, (to-from)/60))
	p := paths{width: (to - from) / steps}
	for j := range int(steps) + 1 {
		gamma, _ := univariate.Bisect(func(g float64) bool { return clock(g) > from+p.width*float64(j) }, lo, hi,
			univariate.Arithmetic, 0)
		p.slopes = append(p.slopes, gamma/sigma)
	}
	return p
}

// delta returns δ(ε) of the best path of the grid, from below: of the densities of u without the record and with it,
// step by step.
func (p paths) delta(eps float64, d privacy.Direction) (best float64) {
	mass := func(a, b float64) float64 {
		if a+b < 0 {
			a, b = -b, -a
		}
		return 0.5 * (math.Erfc(a/math.Sqrt2) - math.Erfc(b/math.Sqrt2))
	}
	rest := make([]float64, len(p.slopes)) // what is to be gained from a slope on
	for u := 9.0; u > -9; u -= p.width {
		without := mass(u-p.width, u)
		gain := func(j, next int) float64 {
			with := mass(u-p.width+p.slopes[j], u+p.slopes[next])
			if d == privacy.Add {
				return math.Max(0, without-math.Exp(eps)*with)
			}
			return math.Max(0, with-math.Exp(eps)*without)
		}
		for j := range rest {
			here := gain(j, j) + rest[j]
			if j+1 < len(rest) {
				here = math.Max(here, gain(j, j+1)+rest[j+1])
			}
			rest[j] = here
			best = math.Max(best, here)
		}
	}
	return best
}

// What Tight says of δ in both directions, in full and in a quick look, and of ε lies above what the best of all paths
// on a fine grid has, by a recursion that knows nothing of the accounting, and next to it.
func TestPathsByBruteForce(t *testing.T) {
	testscale.Slow(t)
	width := 0.04
	if testscale.Full() {
		width = 0.01
	}
	for k, curve := range []func() (Curve, error){
		func() (Curve, error) { return Huber(1, 1) },
		func() (Curve, error) { return Huber(0.3, 2) },
		func() (Curve, error) { return ClippedPoisson(20, 5, 1) },
		func() (Curve, error) { return ClippedSquaredHinge(1, 1) },
		func() (Curve, error) { return Logistic(1) },
	} {
		c := must.Get(curve())
		for j, of := range []struct{ slope, ridge, eps float64 }{{0.3, 0.7, 0.5}, {1.2, 4, 1.5}, {0.1, 12, 0.2}} {
			sigma, lambda := Slope(c)/of.slope, of.ridge*c.Max()
			p := must.Get(New(Config{Curve: c, Lambda: lambda, Sigma: sigma, Bound: Tight}))
			grid, most := pathsOf(c, lambda, sigma, width), 0.0
			for _, d := range privacy.Directions {
				want := grid.delta(of.eps, d)
				most = math.Max(most, want)
				low, up := math.Exp(p.LogDeltaLower(d, of.eps)), math.Exp(p.LogDeltaUpper(d, of.eps))
				if !(up >= want*(1-1e-9)) || !(up <= 1.03*want+1e-9) || !(low <= 1.02*want+1e-9) {
					t.Errorf("%d.%d, %v, %v: δ between %v and %v, by brute force %v", k, j, c, d, low, up, want)
				}
			}
			if quick := math.Exp(p.QuickLogDeltaUpper(of.eps)); !(quick >= most*(1-1e-9)) {
				t.Errorf("%d.%d, %v: a quick look %v, by brute force %v", k, j, c, quick, most)
			}
			low, up, ok := p.EpsilonBounds(most)
			if ok && (!(up >= of.eps*(1-1e-9)) || !(low <= 1.02*of.eps) || !(up <= 1.03*of.eps)) {
				t.Errorf("%d.%d, %v: ε between %v and %v, by brute force %v", k, j, c, low, up, of.eps)
			}
		}
	}
}

// What a path gains while γ is held, on either side of 0, is the positive part of the difference of two densities.
func TestHeldSlopes(t *testing.T) {
	for _, eps := range []float64{0, 0.3, 2} {
		for _, gamma := range []float64{-3, -0.4, 0, 0.4, 3} {
			for _, u := range [][2]float64{{math.Inf(-1), math.Inf(1)}, {-1, 0.7}, {-4, -1}, {1, 5}} {
				want, h := 0.0, 1e-4
				for x := math.Max(u[0], -12) + h/2; x < math.Min(u[1], 12); x += h {
					want += h * math.Max(0, scaledPDF(x, 0)-math.Exp(eps)*scaledPDF(x+gamma, 0))
				}
				var got tally
				got.hold(eps, 0, gamma, u[0], u[1])
				if !(math.Abs(got.sum-want) <= got.err+1e-7) || !(got.err <= 1e-3) {
					t.Errorf("ε = %g, γ = %g from %v: %v ± %g, want %v", eps, gamma, u, got.sum, got.err, want)
				}
			}
		}
	}
}
