package objective

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

func TestRankOneIsDTZ24(t *testing.T) {
	l, _ := Logistic(1)
	p := profileOf(t, l, 0.4, 3, DTZ24)
	r := must.Get(RankK{Rank: 1, Smoothness: 0.25, Slope: 1, Lambda: 0.4, Sigma: 3}.Profile(privacy.AddRemove))
	for _, eps := range []float64{-2, 0, 0.3, 0.6, 1, 3, 20} {
		for _, d := range privacy.Directions {
			a, b := r.LogDeltaUpper(d, eps), p.LogDeltaUpper(d, eps)
			if a < b-1e-9*(1+math.Abs(b)) || a > b+1e-3 {
				t.Errorf("ε=%g %v: rank 1 gives %g, dtz24 %g", eps, d, a, b)
			}
		}
	}
}

// Far below √k nearly all of χ_k is beyond, also where the sum that says so would overflow.
func TestTailOfChiNearZero(t *testing.T) {
	for _, k := range []int{60, 200, 501, 4000} {
		for _, x := range []float64{1e-6, 1e-3, 0.05, 1} {
			if q, h := chiTail(k, x); !(q >= -1e-12) || q > 0 || !(h >= 0 && h < 1e-12) {
				t.Errorf("k = %d, x = %g: ln P(χ_k > x) ≤ %v, a hazard of %v", k, x, q, h)
			}
		}
	}
}

// χ_k's tail and the expectation against simulation, within 5 standard errors.
func TestRankKSimulation(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for _, k := range []int{2, 3, 7, 40} {
		r := RankK{Rank: k, Smoothness: 0.25, Slope: 1, Lambda: 2, Sigma: 4}
		p := must.Get(r.Profile(privacy.AddRemove))
		const n = 40000
		for _, eps := range []float64{0.5, 1.5} {
			sum, sq := 0.0, 0.0
			a := 0.25
			for range n {
				c := 0.0
				for range k {
					x := rng.NormFloat64()
					c += x * x
				}
				w := float64(k)*math.Log1p(0.125) + a*a/2 + a*math.Sqrt(c)
				v := max(0, -math.Expm1(eps-w))
				sum += v
				sq += v * v
			}
			mean := sum / n
			se := math.Sqrt(max(0, sq/n-mean*mean)/n) + 1e-6
			got := math.Exp(p.LogDeltaUpper(privacy.Remove, eps))
			if !(math.Abs(got-mean) <= 5*se+1e-3*mean) {
				t.Errorf("k=%d ε=%g: δ = %g, simulated %g ± %g", k, eps, got, mean, se)
			}
		}
	}
}

func TestRankKIsMonotone(t *testing.T) {
	prev := -1.0
	for _, k := range []int{1, 2, 3, 10, 100, 1000} {
		r := RankK{Rank: k, Smoothness: 0.25, Slope: 1, Lambda: 50, Sigma: 20}
		p := must.Get(r.Profile(privacy.AddRemove))
		d := math.Exp(p.LogDeltaUpper(privacy.Remove, 1))
		if d < prev || math.IsNaN(d) {
			t.Errorf("k=%d: δ = %g after %g", k, d, prev)
		}
		prev = d
		v, err := r.RDP(8)
		if err != nil || math.IsNaN(v) || v <= 0 {
			t.Errorf("k=%d: RDP %g, %v", k, v, err)
		}
		// A trace of s says that the Hessian has rank one, in effect.
		r.Trace = 0.25
		q, _ := r.Profile(privacy.AddRemove)
		if q.LogDeltaUpper(privacy.Remove, 1) > p.LogDeltaUpper(privacy.Remove, 1)+1e-12 {
			t.Errorf("k=%d: a bound on the trace made it worse", k)
		}
	}
}

// A bound on the trace is attained by k equal eigenvalues: it says what those say that are bounded one by one, and no
// less.
func TestTraceIsAttainedByEqualEigenvalues(t *testing.T) {
	for _, k := range []int{1, 2, 5, 40} {
		const trace = 0.6
		equal := RankK{Rank: k, Smoothness: trace / float64(k), Slope: 1, Lambda: 0.3, Sigma: 4}
		bounded := equal
		bounded.Smoothness, bounded.Trace = 1, trace
		p := must.Get(equal.Profile(privacy.AddRemove))
		q := must.Get(bounded.Profile(privacy.AddRemove))
		for _, eps := range []float64{0.2, 1, 3} {
			want, got := p.LogDeltaUpper(privacy.Remove, eps), q.LogDeltaUpper(privacy.Remove, eps)
			if !(math.Abs(got-want) <= 1e-10*(1+math.Abs(want))) {
				t.Errorf("k = %d, ε = %g: ln δ = %g by the trace, %g by eigenvalues that have it", k, eps, got, want)
			}
		}
		x, err := equal.RDP(3)
		y, e := bounded.RDP(3)
		if err != nil || e != nil || !(math.Abs(x-y) <= 1e-10*x) {
			t.Errorf("k = %d: Rényi bound %g by the trace, %g by eigenvalues that have it (%v, %v)", k, y, x, err, e)
		}
	}
}

func TestRDPAndZCDP(t *testing.T) {
	l, _ := Logistic(1)
	cfg := Config{Curve: l, Lambda: 0.05, Sigma: 4}
	for _, alpha := range []float64{1, 1.5, 8, 100} {
		got := must.Get(RDP(cfg, alpha))
		rho, _ := ZCDP(cfg)
		if got > rho*alpha*(1+1e-12) {
			t.Errorf("α=%g: RDP %g above ρα = %g", alpha, got, rho*alpha)
		}
		r, _ := RankK{Rank: 1, Smoothness: 0.25, Slope: 1, Lambda: 0.05, Sigma: 4}.RDP(max(alpha, 1.01))
		if alpha > 1 && !(math.Abs(r/got-1) <= 1e-3) {
			t.Errorf("α=%g: rank-1 RDP %g, dtz24 %g", alpha, r, got)
		}
	}
	cfg.Lambda = 4
	if v, _ := RDP(cfg, 3); !(math.Abs(v-3.0/32) <= 1e-12) {
		t.Errorf("Gaussian case: %g", v)
	}
	if v, _ := ZCDP(cfg); !(math.Abs(v-1.0/32) <= 1e-12) {
		t.Errorf("Gaussian case: ρ = %g", v)
	}
}

func TestCalibration(t *testing.T) {
	l, _ := Logistic(1)
	const eps, delta = 1, 1e-5
	g, _ := privacy.GaussianSigma(eps, delta)
	for _, b := range []Bound{Tight, DTZ24, RKW23, KST12} {
		s, err := Sigma(Config{Curve: l, Lambda: 3, Bound: b}, eps, delta)
		if err != nil {
			t.Fatal(b, err)
		}
		p := profileOf(t, l, 3, s, b)
		if privacy.DeltaUpper(p, eps) > delta || s < g*(1-1e-9) {
			t.Errorf("%v: σ = %g does not satisfy it, or beats the Gaussian's %g", b, s, g)
		}
		t.Logf("%v: σ = %.5g, Gaussian %.5g", b, s, g)
		if b == Tight && s > g*(1+1e-4) {
			t.Errorf("tight: σ = %g, Gaussian %g", s, g)
		}
	}
}

// At the ends, and at what is no number, δ is what it is for every law.
func TestRankKAtItsEnds(t *testing.T) {
	p := must.Get(RankK{Rank: 2, Smoothness: 0.25, Slope: 1, Lambda: 2, Sigma: 4}.Profile(privacy.AddRemove))
	for _, d := range privacy.Directions {
		for eps, want := range map[float64]float64{math.Inf(-1): 0, math.Inf(1): math.Inf(-1), math.NaN(): 0} {
			if got := p.LogDeltaUpper(d, eps); got != want {
				t.Errorf("%v: ln δ(%v) = %v, want %v", d, eps, got, want)
			}
		}
		if got := halfNormal(privacy.HalfNormal{K: math.Inf(1)}, d, 1); got != 0 {
			t.Errorf("%v: ln δ = %v of what overflowed", d, got)
		}
	}
}
