package privacy

import (
	"errors"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// opaque hides what a profile is, so that it is compared by its values.
type opaque struct{ Profile }

// raised is a profile whose δ is off by a factor in a stretch of ε.
type raised struct {
	Profile
	factor, from, to float64
}

func (p raised) LogDeltaUpper(d Direction, eps float64) float64 {
	l := p.Profile.LogDeltaUpper(d, eps)
	if eps >= p.from && eps <= p.to {
		l = math.Min(0, l+math.Log(p.factor))
	}
	return l
}

func TestMuOf(t *testing.T) {
	for _, c := range []struct{ eps, delta float64 }{{1, 1e-5}, {0.01, 1e-9}, {8, 1e-6}, {30, 1e-12}} {
		mu := must.Get(MuOf(c.eps, c.delta))
		if l := logDeltaGaussian(c.eps, mu); l > math.Log(c.delta) || l < math.Log(c.delta)-1e-9 {
			t.Errorf("MuOf(%v, %v) = %v: ln δ = %v, want %v", c.eps, c.delta, mu, l, math.Log(c.delta))
		}
	}
	if _, err := MuOf(1, 0); err == nil {
		t.Error("δ = 0 has a μ")
	}
}

// At ε = 1 the value is −2Φ⁻¹(1/(1 + e)), Φ⁻¹(0.26894142…) = −0.6159, from tables; in general δ_G(ε′; μ) has to be
// above the profile of ε-DP everywhere and meet it.
func TestPureMu(t *testing.T) {
	if mu := pureMu(1); !(math.Abs(mu-1.23202) <= 5e-5) {
		t.Errorf("pureMu(1) = %v", mu)
	}
	for _, eps := range []float64{1e-12, 1e-9, 1e-6, 1.01e-6, 1e-4, 0.01, 0.3, 1, 3, 10, 100, 700} {
		mu := pureMu(eps)
		p := must.Get(Pure(eps, AddRemove).Profile(AddRemove))
		least := math.Inf(1)
		for i := range 4001 {
			at := eps * (float64(i)/2000 - 1)
			own, gauss := p.LogDeltaUpper(Remove, at), logDeltaGaussian(at, mu)
			if gauss < own-1e-12 {
				t.Fatalf("ε = %v: δ(%v) is e^%v, the Gaussian of μ = %v has e^%v", eps, at, own, mu, gauss)
			}
			least = math.Min(least, gauss-own)
		}
		if smaller := mu * (1 - 1e-3); normalTotalVariation(smaller) >= math.Tanh(eps/2) && eps < 1 && least > 0.01 {
			t.Errorf("ε = %v: μ = %v is more than is needed", eps, mu)
		}
	}
	if r := pureMu(1e-8) / 1e-8; !(math.Abs(r-math.Sqrt(math.Pi/2)) <= 1e-6) {
		t.Errorf("small ε: μ/ε = %v, want √(π/2)", r)
	}
}

func normalTotalVariation(mu float64) float64 { return math.Exp(logDeltaGaussian(0, mu)) }

// A Gaussian mechanism that is not known to be one is found again to one percent.
func TestAsGaussianOfGaussians(t *testing.T) {
	for _, mu := range []float64{1e-6, 0.003, 0.1, 0.27, 1, 4, 12} {
		got, delta := must.Two(AsGaussian(opaque{GaussianProfile(mu, AddRemove)}, 1e-15))
		if got < mu || got > mu*1.0101 || delta > 1e-15 {
			t.Errorf("μ = %v came back as %v, δ′ = %v", mu, got, delta)
		}
		if got, delta, _ := AsGaussian(GaussianProfile(mu, AddRemove), 1e-15); got != mu || delta != 0 {
			t.Errorf("μ = %v came back as %v, δ′ = %v", mu, got, delta)
		}
	}
}

// What comes back is above the profile at points that were not asked, for laws of all kinds: half-normal, Laplace,
// subsampled; and a bump of a tenth in δ is seen.
func TestAsGaussianCovers(t *testing.T) {
	profiles := map[string]Profile{}
	add := func(name string, e Event) {
		p := must.Get(e.Profile(AddRemove))
		profiles[name] = p
	}
	half := must.Get(HalfNormal{K: 0.05, A: 0.3}.Profile(AddRemove))
	profiles["half-normal"] = half
	add("Laplace", Laplace{Scale: 3, Sensitivity: 1})
	add("subsampled", SubsampledGaussian{Sigma: 1.5, Sensitivity: 1, Rate: 0.1})
	profiles["bump"] = raised{GaussianProfile(0.5, AddRemove), 1.1, 0.9, 1.1}
	for name, p := range profiles {
		mu, delta, err := AsGaussian(p, 1e-12)
		if err != nil {
			t.Fatal(name, err)
		}
		touched := math.Inf(1)
		for _, d := range Directions {
			for i := range 3000 {
				eps := float64(i) / 250 * mu
				own, gauss := p.LogDeltaUpper(d, eps), logDeltaGaussian(eps, mu)
				if own > gauss+1e-9 && own > math.Log(delta)+1e-9 {
					t.Fatalf("%s: δ(%v) = e^%v in direction %v, the Gaussian of μ = %v has e^%v", name, eps, own, d, mu,
						gauss)
				}
				if own > math.Log(delta) {
					touched = math.Min(touched, gauss-own)
				}
			}
		}
		// Nowhere near: another μ would have done.
		if touched > 0.5 { // one percent of μ far out
			t.Errorf("%s: μ = %v is e^%v from the profile everywhere", name, mu, touched)
		}
		t.Logf("%s: μ = %.5f, δ′ = %.2g", name, mu, delta)
	}
	if mu, _, _ := AsGaussian(profiles["bump"], 1e-12); mu < 0.501 {
		t.Errorf("a bump of a tenth in δ leaves μ at %v", mu)
	}
}

func TestAsGaussianRefuses(t *testing.T) {
	p := must.Get(Approx{Epsilon: 1, Delta: 1e-6, Adj: AddRemove}.Profile(AddRemove))
	if _, _, err := AsGaussian(p, 1e-9); !errors.Is(err, ErrUnsupported) {
		t.Errorf("(ε, δ) as a Gaussian: %v", err)
	}
	if mu, delta, err := AsGaussian(p, 2e-6); err != nil || delta < 1e-6 || mu > pureMu(1)*1.01 {
		t.Errorf("(ε, δ) with room for δ: μ = %v, δ′ = %v, %v", mu, delta, err)
	}
	for _, tail := range []float64{0, 1, math.NaN(), -1} {
		if _, _, err := AsGaussian(p, tail); err == nil {
			t.Errorf("tail = %v is taken", tail)
		}
	}
	// Beside a Gaussian mechanism neither is known then, and nothing is returned that a caller could take for it.
	if mu, delta, err := AsGaussian(WithGaussian(p, 0.1, 1), 1e-17); !errors.Is(err, ErrUnsupported) || mu != 0 ||
		delta != 0 {
		t.Errorf("(ε, δ) beside a Gaussian mechanism: μ = %v, δ′ = %v, %v", mu, delta, err)
	}
}

// A loss that is bounded but for very little, as at a fixed λ: far beyond the bound exponentials overflow, where δ was
// small enough long before.
func TestAsGaussianOfBoundedLosses(t *testing.T) {
	for _, k := range []float64{1e-6, 0.05, 0.2, 3} {
		for _, a := range []float64{0.3, 0.01, 1e-6, 1e-12} {
			p := must.Get(HalfNormal{K: k, A: a}.Profile(AddRemove))
			mu, slack, err := AsGaussian(p, 2e-16)
			if err != nil {
				t.Errorf("K = %v, A = %v: %v", k, a, err)
				continue
			}
			g := GaussianProfile(mu, AddRemove)
			for i := range 100 {
				eps := (k + 8*a + a*a) * float64(i) / 80
				if is, most := LogDeltaUpper(p, eps), math.Log(DeltaUpper(g, eps)+slack); is > most+1e-9 {
					t.Errorf("K = %v, A = %v: ln δ(%v) = %v, of μ = %v it is %v", k, a, eps, is, mu, most)
				}
			}
		}
	}
}

// A δ that falls off a cliff, as that of objective perturbation by its exact accountant does at ln(1 + s/λ).
func TestAsGaussianOfACliff(t *testing.T) {
	const at = 0.2231436
	c := must.Get(newComparison(func(eps float64) float64 {
		if eps >= at {
			return -6413 - 1e9*(eps-at)
		}
		return -14.7344 + 1.5*math.Log(1-eps/at+1e-9)
	}, -38))
	mu := c.refine(0, unresolved)
	for i := range 1000 {
		eps := at * float64(i) / 999
		if is, most := c.logDelta(eps), logDeltaGaussian(eps, mu); !(is <= most) {
			t.Fatalf("ln δ(%v) = %v, of μ = %v it is %v", eps, is, mu, most)
		}
	}
	if !(mu < 0.1) {
		t.Errorf("μ = %v", mu)
	}
}

// Noise in the output costs what it does alone, at least: beside a law that has next to no loss of its own it is all
// there is, and a tenth less of it is seen.
func TestAsGaussianHasTheOutputNoise(t *testing.T) {
	const mu = 0.4
	half := HalfNormal{K: 1e-4, A: 0.01}
	alone := must.Get(half.Profile(AddRemove))
	both := must.Get(HalfNormalGaussian{HalfNormal: half, Mu: mu}.Profile(AddRemove))
	for name, p := range map[string]Profile{"in closed form": both, "by chords": WithGaussian(alone, mu, half.A)} {
		got, slack, err := AsGaussian(p, 1e-12)
		if err != nil || got < mu || got > 1.01*mu || slack > 1e-12 {
			t.Errorf("%s: μ = %v and δ′ = %v, the output's is %v (%v)", name, got, slack, mu, err)
		}
	}
}
