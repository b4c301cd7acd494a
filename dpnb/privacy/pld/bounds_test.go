package pld

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// upperOnly hides what a profile knows from below.
type upperOnly struct{ privacy.Profile }

// The largest loss is where the upper bound of δ ends, whatever is known from below.
func TestLargestLoss(t *testing.T) {
	for _, eps0 := range []float64{1e-6, 0.3, 7} {
		p := must.Get(privacy.Pure(eps0, privacy.AddRemove).Profile(privacy.AddRemove))
		for _, q := range []privacy.Profile{p, upperOnly{p}} {
			for _, d := range privacy.Directions {
				if got := newCurve(q, d, -60, 1).largest(); !(got >= eps0 && got <= eps0*(1+1e-9)) {
					t.Errorf("%T, %v: the largest loss is %.17g, want %g", q, d, got, eps0)
				}
			}
		}
	}
}

// A largest loss of 0 is found at once.
func TestLargestLossOfNothing(t *testing.T) {
	c, asked := newCurve(privacy.GaussianProfile(0, privacy.AddRemove), privacy.Remove, -60, 1), 0
	eval := c.eval
	c.eval = func(eps float64) point { asked++; return eval(eps) }
	if got := c.largest(); got != 0 || asked > 1 {
		t.Errorf("the largest loss is %g after %d values", got, asked)
	}
}

// undefined is a Gaussian profile of which a stretch could not be computed.
type undefined struct{ privacy.LowerProfile }

func (u undefined) hole(eps, v float64) float64 {
	if eps > 0.2 && eps < 0.4 {
		return math.NaN()
	}
	return v
}

func (u undefined) LogDeltaUpper(d privacy.Direction, eps float64) float64 {
	return u.hole(eps, u.LowerProfile.LogDeltaUpper(d, eps))
}

func (u undefined) LogDeltaLower(d privacy.Direction, eps float64) float64 {
	return u.hole(eps, u.LowerProfile.LogDeltaLower(d, eps))
}

// Where a profile is no number nothing is known, and what is composed of it is a bound all the same.
func TestNoNumberIsNoBound(t *testing.T) {
	c := composed(t, undefined{privacy.GaussianProfile(0.3, privacy.AddRemove)}, 4)
	exact := privacy.GaussianProfile(0.6, privacy.AddRemove)
	for _, eps := range []float64{0.1, 0.5, 1.5} {
		b := must.Get(c.DeltaBounds(eps))
		if low, up := exact.LogDeltaLower(privacy.Add, eps), exact.LogDeltaUpper(privacy.Add, eps); !(b.Upper >= low) ||
			!(b.Lower <= up) {
			t.Errorf("ε = %g: ln δ in [%g, %g], exact %g", eps, b.Lower, b.Upper, up)
		}
	}
}

// On a lattice that is too short mass wraps around it and lies above it, and the bounds allow for both: a loss of two
// values composed k times against its binomial law.
func TestWhatWrapsAroundIsAllowedFor(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 1))
	const step = 0x1p-4
	read := 0
	for range 100 {
		k, p := 2+r.IntN(300), 0.1+0.8*r.Float64()
		down, up := step*float64(1+r.IntN(8)), step*float64(1+r.IntN(8))
		a := atoms{w: []float64{-down, up}, lnp: []float64{math.Log1p(-p), math.Log(p)}, lnInf: math.Inf(-1)}
		loss, mass := make([]float64, k+1), make([]float64, k+1)
		for j := range loss {
			all, _ := math.Lgamma(float64(k + 1))
			yes, _ := math.Lgamma(float64(j + 1))
			no, _ := math.Lgamma(float64(k - j + 1))
			loss[j] = float64(j)*up - float64(k-j)*down
			mass[j] = math.Exp(all - yes - no + float64(j)*math.Log(p) + float64(k-j)*math.Log1p(-p))
		}
		exact := func(eps float64) (sum float64) {
			for j, s := range loss {
				sum += mass[j] * math.Max(0, -math.Expm1(eps-s))
			}
			return sum
		}
		ts := terms{{a, k}}
		w := &work{c: &Composition{}, scale: 1, upper: ts, lower: ts}
		theta, lnMass := math.Exp(r.NormFloat64())/(up+down), -0.5-25*r.Float64()
		_, mean, _ := ts.cumulant(theta)
		w.invert(theta, step, lnMass, mean, func(above, below *tail) {
			for m := 0; m < above.lat.n-1; m += 1 + r.IntN(5) {
				s := above.s(m)
				read++
				if l, h, x := below.lnDelta(m), above.lnDelta(m), exact(s); math.Exp(l) > x*(1+1e-9) ||
					math.Exp(h) < x*(1-1e-9) {
					t.Fatalf("%d runs of −%g or %g, θ = %g, %g allowed to wrap: δ(%g) in [%g, %g], exact %g", k, down,
						up, theta, math.Exp(lnMass), s, math.Exp(l), math.Exp(h), x)
				}
			}
		})
	}
	if read < 10_000 {
		t.Errorf("%d values read", read)
	}
}

// A lattice whose places are beyond the integers is none, however few there would be.
func TestPlacesAreIntegers(t *testing.T) {
	ts := terms{{atoms{w: []float64{-1, 1}, lnp: []float64{-math.Ln2, -math.Ln2}, lnInf: math.Inf(-1)}, 1}}
	w := &work{c: &Composition{}, scale: 1, upper: ts}
	for _, c := range []struct {
		step float64
		fits bool
	}{{0x1p-8, true}, {0x1p-50, true}, {0x1p-62, false}, {0x1p-70, false}} {
		if got := w.invert(4/c.step, c.step, -20, 1, func(up, _ *tail) {}); got != c.fits {
			t.Errorf("step %g: fits = %v", c.step, got)
		}
	}
}
