package pld

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// hidden is a profile whose kind the engine cannot see, so that it has no closed form to go to.
type hidden struct{ privacy.LowerProfile }

// A Gaussian through the engine against its closed form, from one run to a million, δ from 0.9 to 1e-300, ε from 1e-3
// to 1e3.
func TestEngineBracketsGaussian(t *testing.T) {
	testscale.Slow(t)
	runs := []int{2, 3, 30, 1000, 1_000_000}
	if !testscale.Full() {
		runs = []int{2, 30, 1000}
	}
	for _, k := range runs {
		for _, total := range []float64{0.01, 0.3, 2, 12} { // μ of the composition
			mu := total / math.Sqrt(float64(k))
			c := must.Get(New([]Component{{hidden{privacy.GaussianProfile(mu, privacy.AddRemove)}, k}}, nil))
			exact := privacy.GaussianProfile(mu*math.Sqrt(float64(k)), privacy.AddRemove)
			for _, delta := range testscale.Some(0.5, 1e-3, 1e-9, 1e-60, 1e-300) {
				up := must.Get(privacy.EpsilonUpper(exact, delta))
				low := privacy.EpsilonLower(exact, delta)
				b := must.Get(c.EpsilonBounds(delta))
				if b.Lower > up || b.Upper < low {
					t.Errorf("k=%d μ=%g δ=%g: exact ε %v outside [%v, %v]", k, total, delta, up, b.Lower, b.Upper)
				}
				if gap := b.Upper - b.Lower; gap > 1e-3*up && k <= 100_000 && up > 0 {
					t.Errorf("k=%d μ=%g δ=%g: gap %g of ε %v (%s)", k, total, delta, gap, up, b.Method)
				}
			}
			for _, eps := range testscale.Some(0, 1e-3, 0.5, 5, 100, 1e3) {
				b := must.Get(c.DeltaBounds(eps))
				if low, up := exact.LogDeltaLower(privacy.Remove, eps), exact.LogDeltaUpper(privacy.Remove,
					eps); b.Lower > up || b.Upper < low {
					t.Errorf("k=%d μ=%g ε=%g: exact ln δ %v outside [%v, %v]", k, total, eps, up, b.Lower, b.Upper)
				} else if gap := b.Upper - b.Lower; gap > 0.005 && k <= 100_000 && low > beyondUse {
					t.Errorf("k=%d μ=%g ε=%g: gap %g of ln δ %v (%s)", k, total, eps, gap, up, b.Method)
				}
			}
		}
	}
}

// Every single law's upper profile is above the exact one, and its lower one below, at points on and off the lattice.
func TestDiscretisationIsOneSided(t *testing.T) {
	testscale.Slow(t)
	laplace, _ := privacy.Laplace{Scale: 0.7, Sensitivity: 1}.Profile(privacy.AddRemove)
	sub, _ := privacy.SubsampledGaussian{Sigma: 0.8, Sensitivity: 1, Rate: 0.02}.Profile(privacy.AddRemove)
	half, _ := privacy.HalfNormal{K: 0.1, A: 0.3}.Profile(privacy.AddRemove)
	approx, _ := privacy.Approx{Epsilon: 0.4, Delta: 1e-4, Adj: privacy.AddRemove}.Profile(privacy.AddRemove)
	for name, p := range map[string]privacy.Profile{
		"gaussian": privacy.GaussianProfile(0.7, privacy.AddRemove), "laplace": laplace,
		"subsampled": sub, "half-normal": half, "approx": approx,
		"nothing": privacy.GaussianProfile(0, privacy.AddRemove),
	} {
		for _, d := range privacy.Directions {
			for _, step := range testscale.Some(0x1p-4, 0x1p-7, 0x1p-10) {
				for _, theta := range testscale.Some(0.5, 8, 90) {
					c := newCurve(p, d, -60, 1)
					c.refine(theta, step, 0, maxKnots/64)
					up := c.upperAtoms()
					low, ok := c.lowerAtoms(theta)
					for x := -2.0; x < 4; x += 0.00317 {
						exact := evaluator(p, d)(x)
						if u := up.profile(x); u < math.Exp(exact.low)*(1-1e-14) {
							t.Fatalf("%s %v step %g: upper δ(%g) = %v below %v", name, d, step, x, u,
								math.Exp(exact.low))
						}
						if l := low.profile(x); ok && l > math.Exp(exact.up)*(1+1e-14)+1e-18 {
							t.Fatalf("%s %v step %g θ %g: lower δ(%g) = %v above %v", name, d, step, theta, x, l,
								math.Exp(exact.up))
						}
					}
				}
			}
		}
	}
}

// profile evaluates h at e^eps by its definition.
func (a *atoms) profile(eps float64) float64 {
	sum := math.Exp(a.lnInf)
	for i, w := range a.w {
		if w > eps {
			sum += math.Exp(a.lnp[i]) * -math.Expm1(eps-w)
		}
	}
	return sum
}

func TestNewRefuses(t *testing.T) {
	g := privacy.GaussianProfile(1, privacy.AddRemove)
	for name, cs := range map[string][]Component{
		"nothing":     nil,
		"no profile":  {{nil, 1}},
		"no run":      {{g, 0}},
		"adjacencies": {{g, 1}, {privacy.GaussianProfile(1, privacy.ReplaceOne), 1}},
	} {
		if _, err := New(cs, nil); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
