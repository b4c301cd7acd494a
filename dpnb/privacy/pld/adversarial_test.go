package pld

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// disguised hides that a profile is Gaussian, so that it takes the long way.
type disguised struct{ privacy.LowerProfile }

func (disguised) Symmetric() bool { return true }

// composed returns the composition of one profile with itself.
func composed(t *testing.T, p privacy.Profile, k int) *Composition {
	t.Helper()
	return must.Get(New([]Component{{p, k}}, nil))
}

// Losses of 1e-10 and less, composed up to 1e12 times: the Gaussian has a closed form.
func TestTinyLossesComposedOften(t *testing.T) {
	for _, k := range []int{1e7, 1e9, min(1e11, math.MaxInt)} {
		for _, total := range testscale.Some(1e-3, 0.1, 1, 5) {
			mu := total / math.Sqrt(float64(k))
			c := composed(t, disguised{privacy.GaussianProfile(mu, privacy.AddRemove)}, k)
			exact := privacy.GaussianProfileBetween(total*(1-1e-12), total*(1+1e-12), privacy.AddRemove)
			for _, eps := range []float64{0, 0.01 * total, total} {
				b := must.Get(c.DeltaBounds(eps))
				low, high := privacy.LogDeltaLower(exact, eps), privacy.LogDeltaUpper(exact, eps)
				if b.Upper < low || b.Lower > high {
					t.Errorf("k = %g, μ√k = %g, ε = %g: ln δ in [%v, %v], exact [%v, %v] (%s)", float64(k), total, eps,
						b.Lower, b.Upper, low, high, b.Method)
				}
			}
			for _, delta := range []float64{1e-2, 1e-5} {
				b := must.Get(c.EpsilonBounds(delta))
				high := must.Get(privacy.EpsilonUpper(exact, delta))
				if low := privacy.EpsilonLower(exact, delta); b.Upper < low || b.Lower > high {
					t.Errorf("k = %g, μ√k = %g, δ = %g: ε in [%v, %v], exact [%v, %v] (%s)", float64(k), total, delta,
						b.Lower, b.Upper, low, high, b.Method)
				}
			}
		}
	}
}

// Laplace noise of a huge scale: by the central limit theorem the total variation of k runs at μ is erf(μ√k/(2√2)) up
// to a relative 1/√k.
func TestLaplaceOfHugeScale(t *testing.T) {
	for _, c := range []struct {
		scale float64
		k     int
	}{{1e9, 1e8}, {1e8, min(1e10, math.MaxInt)}} {
		p := must.Get(privacy.Laplace{Scale: c.scale, Sensitivity: 1}.Profile(privacy.AddRemove))
		b := must.Get(composed(t, p, c.k).DeltaBounds(0))
		exact := math.Erf(math.Sqrt(float64(c.k)) / c.scale / (2 * math.Sqrt2))
		if math.Exp(b.Upper) < exact*(1-1e-3) || math.Exp(b.Lower) > exact*(1+1e-3) {
			t.Errorf("scale %g, k = %g: δ(0) in [%g, %g], the limit is %g", c.scale, float64(c.k), math.Exp(b.Lower),
				math.Exp(b.Upper), exact)
		}
	}
}

// A rare subsample composed often, in both directions, on lattices of any scale.
func TestRareSubsamples(t *testing.T) {
	p := must.Get(privacy.SubsampledGaussian{Sigma: 10, Sensitivity: 1, Rate: 1e-8}.Profile(privacy.AddRemove))
	b := must.Get(composed(t, p, 1e8).EpsilonBounds(1e-7))
	// In the limit the loss is Gaussian with variance k·q²(e^{1/σ²} − 1).
	mu := math.Sqrt(1e8*math.Expm1(0.01)) * 1e-8
	exact := must.Get(privacy.EpsilonUpper(privacy.GaussianProfile(mu, privacy.AddRemove), 1e-7))
	if b.Upper < exact*(1-1e-3) || b.Lower > exact*(1+1e-3) {
		t.Errorf("ε in [%g, %g], the limit is %g", b.Lower, b.Upper, exact)
	}
}

// discrete is the profile of a pair of distributions on a few points, some of which only one of the two has.
type discrete struct {
	p, q []float64
}

func stick(p, q []float64, eps float64) float64 {
	var sum float64
	for i, v := range p {
		if d := v - math.Exp(eps)*q[i]; q[i] == 0 {
			sum += v
		} else if d > 0 {
			sum += d
		}
	}
	return sum
}

func (d discrete) Adjacency() privacy.Adjacency { return privacy.AddRemove }

func (d discrete) pair(dir privacy.Direction) (p, q []float64) {
	if dir == privacy.Add {
		return d.q, d.p
	}
	return d.p, d.q
}

func (d discrete) LogDeltaUpper(dir privacy.Direction, eps float64) float64 {
	p, q := d.pair(dir)
	return math.Min(0, math.Log(stick(p, q, eps)*(1+1e-14)))
}

func (d discrete) LogDeltaLower(dir privacy.Direction, eps float64) float64 {
	p, q := d.pair(dir)
	return math.Min(0, math.Log(stick(p, q, eps)*(1-1e-14)))
}

// randomPair draws an asymmetric pair, often with mass at infinity.
func randomPair(rng *noise.Seeded) discrete {
	n := 2 + rng.IntN(3)
	d := discrete{make([]float64, n), make([]float64, n)}
	for i := range n {
		d.p[i] = rng.ExpFloat64()
		d.q[i] = d.p[i] * math.Exp(2*rng.NormFloat64()*rng.Float64())
		if rng.IntN(4) == 0 {
			d.q[i] *= 1e-5
		}
	}
	if rng.IntN(3) == 0 {
		d.q[0] = 0
		d.p[0] *= math.Exp(-6 * rng.Float64())
	}
	if rng.IntN(3) == 0 {
		d.p[1] = 0
		d.q[1] *= math.Exp(-6 * rng.Float64())
	}
	for _, v := range [][]float64{d.p, d.q} {
		var sum float64
		for _, x := range v {
			sum += x
		}
		for i := range v {
			v[i] /= sum
		}
	}
	return d
}

// Heterogeneous compositions of random pairs against the product laws.
func TestDiscretePairsByBruteForce(t *testing.T) {
	testscale.InTurn(t)
	trials := 30
	if !testscale.Full() {
		trials = 10
	}
	for trial := range trials {
		rng := noise.NewSeeded(9).Stream(trial)
		var components []Component
		P, Q := []float64{1}, []float64{1}
		for range 1 + rng.IntN(3) {
			d, k := randomPair(rng), 1+rng.IntN(3)
			components = append(components, Component{d, k})
			for range k {
				var nextP, nextQ []float64
				for i := range P {
					for j := range d.p {
						nextP, nextQ = append(nextP, P[i]*d.p[j]), append(nextQ, Q[i]*d.q[j])
					}
				}
				P, Q = nextP, nextQ
			}
		}
		c := must.Get(New(components, nil))
		exact := func(eps float64) float64 { return math.Max(stick(P, Q, eps), stick(Q, P, eps)) }
		for _, eps := range []float64{0, 0.3, 1, 3, 8} {
			b := must.Get(c.DeltaBounds(eps))
			if x := exact(eps); math.Exp(b.Upper) < x*(1-1e-11) || math.Exp(b.Lower) > x*(1+1e-11) {
				t.Errorf("trial %d, ε = %g: δ in [%g, %g], exact %g (%s)", trial, eps, math.Exp(b.Lower),
					math.Exp(b.Upper), x, b.Method)
			}
		}
		for _, delta := range []float64{0.5, 0.1, 1e-2, 1e-4} {
			b := must.Get(c.EpsilonBounds(delta))
			if !math.IsInf(b.Upper, 1) && exact(b.Upper*(1+1e-12)) > delta*(1+1e-9) {
				t.Errorf("trial %d, δ = %g: upper ε = %g has δ = %g", trial, delta, b.Upper, exact(b.Upper))
			}
			if b.Lower > 0 && !math.IsInf(b.Lower, 1) && exact(b.Lower*(1-1e-9)) < delta*(1-1e-9) {
				t.Errorf("trial %d, δ = %g: lower ε = %g has δ = %g", trial, delta, b.Lower, exact(b.Lower))
			}
		}
	}
}

// Pure ε composed k times is a binomial law.
func TestPureCompositionByBinomials(t *testing.T) {
	for _, e0 := range []float64{0.1, 0.3, 1} {
		p := must.Get(privacy.Pure(e0, privacy.AddRemove).Profile(privacy.AddRemove))
		for _, k := range []int{2, 3, 8} {
			c := composed(t, p, k)
			for _, eps := range []float64{0, 0.05, 0.5 * e0, 1.5 * e0, 0.9 * e0 * float64(k)} {
				var exact float64
				s := 1 / (1 + math.Exp(-e0))
				for j := 0; j <= k; j++ {
					if w := float64(2*j-k) * e0; w > eps {
						n, _ := math.Lgamma(float64(k) + 1)
						a, _ := math.Lgamma(float64(j) + 1)
						b, _ := math.Lgamma(float64(k-j) + 1)
						exact += math.Exp(n-a-b) * math.Pow(s, float64(j)) * math.Pow(1-s, float64(k-j)) * -math.Expm1(
							eps-w)
					}
				}
				b := must.Get(c.DeltaBounds(eps))
				if math.Exp(b.Lower) > exact*(1+1e-9) || math.Exp(b.Upper) < exact*(1-1e-9) {
					t.Errorf("ε₀ = %g, k = %d, ε = %g: δ in [%.10g, %.10g], exact %.10g", e0, k, eps, math.Exp(b.Lower),
						math.Exp(b.Upper), exact)
				}
			}
		}
	}
}

// (ε₀, δ₀) twice and a Gaussian once, by conditioning.
func TestApproxWithGaussian(t *testing.T) {
	testscale.Slow(t)
	for _, mu := range []float64{0.05, 0.7} {
		for _, a := range []privacy.Approx{{Epsilon: 0.01, Delta: 0.01}, {Epsilon: 0.3, Delta: 1e-3},
			{Epsilon: 2, Delta: 1e-6}} {
			a.Adj = privacy.AddRemove
			p := must.Get(a.Profile(privacy.AddRemove))
			g := privacy.GaussianProfile(mu, privacy.AddRemove)
			c := must.Get(New([]Component{{p, 2}, {g, 1}}, nil))
			s := 1 / (1 + math.Exp(-a.Epsilon))
			gauss := func(eps float64) float64 { return math.Exp(g.LogDeltaUpper(privacy.Remove, eps)) }
			for _, eps := range []float64{0, 0.1, mu, 3*mu + a.Epsilon} {
				exact := (s*s*gauss(eps-2*a.Epsilon)+2*s*(1-s)*gauss(eps)+(1-s)*(1-s)*gauss(eps+2*a.Epsilon))*
					(1-a.Delta)*(1-a.Delta) + 1 - (1-a.Delta)*(1-a.Delta)
				b := must.Get(c.DeltaBounds(eps))
				if math.Exp(b.Lower) > exact*(1+1e-9) || math.Exp(b.Upper) < exact*(1-1e-9) {
					t.Errorf("μ = %g, %+v, ε = %g: δ in [%.10g, %.10g], exact %.10g", mu, a, eps, math.Exp(b.Lower),
						math.Exp(b.Upper), exact)
				}
			}
		}
	}
}
