package wishart

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

func TestSpectrum(t *testing.T) {
	// The eigenvalues of the tridiagonal BBᵀ by another method.
	rng := rand.New(rand.NewPCG(4, 4))
	var s Spectrum
	for range 50 {
		s.Draw(Wishart{D: 6, M: 9}, rng)
		m := mat.NewSymDense(6, nil)
		for i := range 6 {
			v := s.q[i]
			if i > 0 {
				v += s.e[i-1]
				m.SetSym(i-1, i, math.Sqrt(s.q[i-1]*s.e[i-1]))
			}
			m.SetSym(i, i, v)
		}
		var eig mat.EigenSym
		if !eig.Factorize(m, false) {
			t.Fatal("no eigenvalues")
		}
		v := eig.Values(nil)
		near(t, "λ_min", s.Smallest(), v[0], 1e-7)
		if !s.AllAbove(v[0]*(1-1e-6)) || s.AllAbove(v[0]*(1+1e-6)) || !s.AllBelow(v[5]*(1+1e-9)) ||
			s.AllBelow(v[5]*(1-1e-9)) {
			t.Errorf("counts around %g and %g", v[0], v[5])
		}
	}
	// d = 1 is χ²_m, and in the mean the trace is dm.
	var sum float64
	for range 4000 {
		s.Draw(Wishart{D: 5, M: 8}, rng)
		for i, q := range s.q {
			sum += q
			if i < 4 {
				sum += s.e[i]
			}
		}
	}
	if mean := sum / 4000; !(math.Abs(mean-40) <= 6*math.Sqrt(80.0/4000)) {
		t.Errorf("mean trace %.3f, want 40", mean)
	}
}

// The draw that is taken is the last one that binomial probabilities allow.
func TestOrderStatistic(t *testing.T) {
	for _, c := range []struct {
		n     int
		delta float64
	}{{50, 0.4}, {300, 0.1}, {2000, 0.02}} {
		p := 0.99 * c.delta
		cumulated := func(k int) float64 { return distuv.Binomial{N: float64(c.n), P: p}.CDF(float64(k - 1)) }
		if k := orderStatistic(c.n, c.delta); k == 0 || cumulated(k) > 0.01*c.delta || cumulated(k+1) <= 0.01*c.delta {
			t.Errorf("n = %d, δ = %g: the draw %d, with %g and %g", c.n, c.delta, k, cumulated(k), cumulated(k+1))
		}
	}
}

func TestCertify(t *testing.T) {
	w := Wishart{D: 12, M: 24}
	const delta = 0.01
	c := must.Get(w.certify(delta, delta, 20_000, rand.New(rand.NewPCG(1, 1))))
	if lemma, err := w.Constants(delta, delta, 0); err != nil ||
		!(c.Alpha > 1.05*lemma.Alpha && c.Alpha1 > 1.1*lemma.Alpha1) {
		t.Errorf("%+v against the lemma's %+v, %v", c, lemma, err)
	}
	// Fresh draws: δ holds, and is not wasted.
	rng := rand.New(rand.NewPCG(2, 2))
	var s Spectrum
	below, between := 0, 0
	const n = 100_000
	for range n {
		s.Draw(w, rng)
		switch {
		case !s.AllAbove(c.Alpha):
			below++
		case !s.AllAbove(c.Alpha + c.Alpha1):
			between++
		}
	}
	for name, k := range map[string]int{"below α": below, "between α and α + α₁": between} {
		if p := float64(k) / n; p > delta || p < 0.4*delta {
			t.Errorf("%s: %.4f, want a little below %g", name, p, delta)
		}
	}
	if _, err := w.certify(0, 1e-6, 1000, rng); err == nil {
		t.Error("a millionth from a thousand draws")
	}
	// The noise that it saves.
	split := Split{Epsilon1: 0.5, Delta1: delta, Delta3: delta}
	set := Setting{Wishart: w, Smoothness: 1, Rank: 1, Accounting: Theorem31}
	before := must.Get(set.Noise(split))
	set.Certified = &c
	after, err := set.Noise(split)
	if err != nil || !(after.Sigma2 < 0.95*before.Sigma2) {
		t.Errorf("σ² = %.4g, by the lemma %.4g, %v", after.Sigma2, before.Sigma2, err)
	}
	t.Logf("α %.4g, σ² %.4g, by the lemma %.4g", c.Alpha, after.Sigma2, before.Sigma2)
}
