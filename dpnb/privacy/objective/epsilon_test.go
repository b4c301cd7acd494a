package objective

import (
	"math"
	"sync/atomic"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// The ε that is found is proved, the lower one is disproved, and both are where the bounds on δ cross the target.
func TestEpsilonBounds(t *testing.T) {
	testscale.Slow(t)
	for i, c := range testCurves(t) {
		for j, set := range []struct{ lambda, sigma, delta float64 }{{0.3, 2, 1e-6}, {2, 1, 0.3}, {10, 100, 1e-6}} {
			if !testscale.Full() && (i+j)%3 != 0 {
				continue
			}
			L, s := Slope(c), c.Max()
			for _, b := range []Bound{Tight} {
				p := profileOf(t, c, set.lambda*s, set.sigma*L, b)
				low, up, ok := p.EpsilonBounds(set.delta)
				if IsGaussian(c, set.lambda*s, set.sigma*L) {
					if ok {
						t.Errorf("%v: a search where there is a closed form", c)
					}
					continue
				}
				ln := math.Log(set.delta)
				if !ok || !(low <= up) {
					t.Fatalf("%v %+v %v: [%g, %g], %v", c, set, b, low, up, ok)
				}
				if at := privacy.LogDeltaUpper(p, up); at > ln || up > 0 && at < ln-1e-3 {
					t.Errorf("%v %+v %v: ln δ(%g) = %g, wanted just below %g", c, set, b, up, at, ln)
				}
				if at := privacy.LogDeltaLower(p, low); low > 0 && (at < ln-1e-9 || b == Tight && at > ln+1e-3) {
					t.Errorf("%v %+v %v: at least %g at the lower ε %g, wanted just above %g", c, set, b, at, low, ln)
				}
			}
		}
	}
}

// A Gaussian mechanism of the largest slope is no worse: without a search for the lower ε it is that one's, rounded
// down.
func TestLowerEpsilonIsTheGaussians(t *testing.T) {
	c := must.Get(loss.CurveOf(loss.Logistic{}, 1))
	for _, delta := range []float64{0.1, 1e-3, 1e-6, 1e-12} {
		p := profileOf(t, c, 0.3*c.Max(), 2*Slope(c), Pointwise)
		low, _, ok := p.EpsilonBounds(delta)
		want := privacy.EpsilonLower(privacy.GaussianProfile(0.5, privacy.AddRemove), delta)
		if !ok || !(low <= want) || low < want*(1-1e-9)-1e-12 {
			t.Errorf("δ = %g: at least %.17g, of the Gaussian mechanism %.17g", delta, low, want)
		}
	}
}

// counting is a curve that counts how often it is asked.
type counting struct {
	Curve
	asked *atomic.Int64
}

func (c counting) SBar(gamma float64) float64 { c.asked.Add(1); return c.Curve.SBar(gamma) }

func (c counting) Bounds(g0, g1 float64) (lower, upper float64) {
	c.asked.Add(1)
	return c.Curve.Bounds(g0, g1)
}

// What a profile has answered it answers again without looking at its curve.
func TestAnswersAreKept(t *testing.T) {
	testscale.Slow(t)
	for name, ask := range map[string]func(p *Profile){
		"δ":       func(p *Profile) { p.LogDeltaUpper(privacy.Remove, 1); p.LogDeltaLower(privacy.Add, 1) },
		"roughly": func(p *Profile) { p.RoughLogDeltaUpper(privacy.Remove, 1) },
		"quickly": func(p *Profile) { p.QuickLogDeltaUpper(1) },
		"ε":       func(p *Profile) { p.EpsilonBounds(1e-3) },
	} {
		c := counting{must.Get(loss.CurveOf(loss.PseudoHuber{Threshold: 1}, 1)), new(atomic.Int64)}
		p := profileOf(t, c, 0.3*c.Max(), 2*Slope(c), Tight)
		ask(p)
		first := c.asked.Load()
		if ask(p); first < 5 || c.asked.Load() > first+4 {
			t.Errorf("%s: asked %d times at first, and %d more", name, first, c.asked.Load()-first)
		}
		w := p.grids.envelope().at(0.3)
		if kept := p.grids.known.Of(0.3, math.NaN); kept != w {
			t.Errorf("W = %v is kept as %v", w, kept)
		}
	}
}

// At a δ that no search is for there is none.
func TestEpsilonBoundsOfNoDelta(t *testing.T) {
	c := must.Get(loss.CurveOf(loss.Logistic{}, 1))
	p := profileOf(t, c, 0.3*c.Max(), 2*Slope(c), Tight)
	for _, delta := range []float64{0, -1e-9, 1, 2, math.NaN()} {
		if low, up, ok := p.EpsilonBounds(delta); ok || low != 0 || up != 0 {
			t.Errorf("δ = %g: [%g, %g], %v", delta, low, up, ok)
		}
	}
}

// One δ and one ε of every loss, without what the profile remembers.
func BenchmarkAnswer(b *testing.B) {
	for _, c := range testCurves(b) {
		b.Run(c.String()+"/delta", func(b *testing.B) {
			for b.Loop() {
				privacy.LogDeltaUpper(profileOf(b, c, 0.3*c.Max(), 2*Slope(c), Tight), 1)
			}
		})
		b.Run(c.String()+"/epsilon", func(b *testing.B) {
			for b.Loop() {
				profileOf(b, c, 0.3*c.Max(), 2*Slope(c), Tight).EpsilonBounds(1e-6)
			}
		})
	}
}
