package privacy_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// shown is a profile of which nothing is known but its values.
type shown struct{ privacy.Profile }

// shifted is what one law on 0 … n says of the same law moved by so many places: the exact δ(ε) of that pair, each way.
type shifted struct {
	law []float64
	by  int
}

func (s shifted) Adjacency() privacy.Adjacency { return privacy.AddRemove }

func (s shifted) LogDeltaUpper(d privacy.Direction, eps float64) float64 {
	at := func(i int) float64 {
		if i < 0 || i >= len(s.law) {
			return 0
		}
		return s.law[i]
	}
	by := s.by
	if d == privacy.Remove {
		by = -by
	}
	sum := 0.0
	for i := -s.by; i < len(s.law)+s.by; i++ {
		if q := at(i); q > 0 {
			sum += math.Max(0, at(i-by)-math.Exp(eps)*q)
		} else {
			sum += at(i - by)
		}
	}
	return math.Min(0, math.Log(sum))
}

// binomial is the law of n fair coins: log-concave, so that all tests of its shifts are by a threshold, and what k
// steps can cost is what one of k places does.
func binomial(n int) []float64 {
	law := make([]float64, n+1)
	for i := range law {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(i + 1))
		c, _ := math.Lgamma(float64(n - i + 1))
		law[i] = math.Exp(a - b - c - float64(n)*math.Ln2)
	}
	return law
}

// Of Gaussian mechanisms and of binomial noise, which has mass at infinity, it is known what k records cost: never more
// than the bound, and hardly less. A bound that is a hundredth too small, or one step's factor e^ε left out, is seen.
func TestGroupProfileIsThatOfSoManySteps(t *testing.T) {
	check := func(what string, one, of privacy.Profile, k int, above float64, eps ...float64) {
		t.Helper()
		g := must.Get(privacy.GroupProfile(one, k))
		for _, e := range eps {
			for _, d := range privacy.Directions {
				got, want := g.LogDeltaUpper(d, e), of.LogDeltaUpper(d, e)
				if !(got >= want-1e-11 && got <= want+above) {
					t.Errorf("%s, %d records, %v at ε = %v: ln δ = %v, exactly %v", what, k, d, e, got, want)
				}
			}
		}
	}
	for _, k := range []int{2, 3, 8, 9, 100, 10_000} {
		for _, mu := range []float64{0.1, 1, 3} {
			one := privacy.GaussianProfile(mu/float64(k), privacy.AddRemove)
			all := privacy.GaussianProfile(mu, privacy.AddRemove)
			for _, e := range []float64{0, 0.1, mu, 3*mu + mu*mu/2, 6 * mu} {
				above := 1e-9
				if k > 8 {
					above = 0.01 + 0.03*mu*mu // some have the same ε
				}
				check("Gaussian", shown{one}, all, k, above, e, -e)
			}
		}
	}
	law := binomial(400)
	for _, k := range []int{1, 2, 3, 6} {
		check("binomial", shifted{law, 1}, shifted{law, k}, k, 0.02, 0.2, 0.5, 1)
		g := must.Get(privacy.GroupProfile(shifted{law, 1}, k))
		if got, want := g.LogDeltaUpper(privacy.Add, math.Inf(1)), (shifted{law, k}).LogDeltaUpper(privacy.Add,
			math.Inf(1)); !(got >= want-1e-9 && got < want/3) {
			t.Errorf("%d records: ln δ(∞) = %v, exactly %v", k, got, want)
		}
	}
}

// Of (ε, δ) it is the known (kε, δ(e^{kε} − 1)/(e^ε − 1)), of a pure ε kε.
func TestGroupProfileOfApprox(t *testing.T) {
	for _, k := range []float64{2, 5, 40} {
		p := must.Get(privacy.Approx{Epsilon: 0.1, Delta: 1e-6, Adj: privacy.AddRemove}.Profile(privacy.AddRemove))
		g := must.Get(privacy.GroupProfile(p, int(k)))
		want := 1e-6 * math.Expm1(0.1*k) / math.Expm1(0.1)
		if got := privacy.DeltaUpper(g, 0.1*k*(1+1e-12)); !(got >= want && got < want*(1+1e-9)) {
			t.Errorf("k = %v: δ = %v, want %v", k, got, want)
		}
		pure := must.Get(privacy.Pure(0.1, privacy.AddRemove).Profile(privacy.AddRemove))
		if got := privacy.DeltaUpper(must.Get(privacy.GroupProfile(pure, int(k))), 0.1*k*(1+1e-12)); got != 0 {
			t.Errorf("k = %v: δ = %v of a pure ε", k, got)
		}
	}
	replaced := privacy.GaussianProfile(1, privacy.ReplaceOne)
	if _, err := privacy.GroupProfile(replaced, 2); !errors.Is(err, privacy.ErrAdjacency) {
		t.Errorf("of a replacement: %v", err)
	}
	if _, err := privacy.GroupProfile(privacy.GaussianProfile(1, privacy.AddRemove), 0); err == nil {
		t.Error("none is accepted")
	}
}

// What k records cost as a Gaussian mechanism and a tail is above what they cost, and no more than a hundredth above k
// times the μ of one. A tenth less is noticed.
func TestGroupsAsGaussian(t *testing.T) {
	law := binomial(4000)
	for _, k := range []int{2, 4} {
		g := must.Get(privacy.GroupProfile(shifted{law, 1}, k))
		mu, tail, err := privacy.AsGaussian(g, 1e-8)
		if err != nil || !(tail > 0 && tail <= 1e-8) {
			t.Fatalf("μ = %v, tail %v: %v", mu, tail, err)
		}
		covered := func(mu, tail float64) bool {
			for e := 0.0; e < 1; e += 0.003 {
				if shifted := math.Exp((shifted{law, k}).LogDeltaUpper(privacy.Add, e)); shifted >
					privacy.DeltaUpper(privacy.GaussianProfile(mu, privacy.AddRemove), e)+tail {
					return false
				}
			}
			return true
		}
		alone, _, _ := privacy.AsGaussian(shifted{law, 1}, 1e-9)
		if !covered(mu, tail) || covered(0.9*mu, tail) || !(mu < 1.01*float64(k)*alone) {
			t.Errorf("%d records: μ = %v, of one %v; covered %v, by nine tenths %v", k, mu, alone, covered(mu, tail),
				covered(0.9*mu, tail))
		}
	}
	// t₂ = Φ(Φ⁻¹(t₁) + μ) + t₁, by hand for an (ε, δ): μ of ε = 0.5 is 0.6228…, t₁ = δ.
	p := must.Get(privacy.Approx{Epsilon: 0.5, Delta: 1e-9, Adj: privacy.AddRemove}.Profile(privacy.AddRemove))
	one, _, _ := privacy.AsGaussian(p, 1e-9)
	x := -5.997807015007667 // Φ⁻¹(1e-9)
	want := 0.5*math.Erfc(-(x+one)/math.Sqrt2) + 1e-9
	if mu, tail, err := privacy.AsGaussian(must.Get(privacy.GroupProfile(p, 2)), 1e-6); err != nil ||
		!(math.Abs(mu-2*one) <= 1e-12) || !(tail >= want*(1-1e-9) && tail < want*(1+1e-6)) {
		t.Errorf("μ = %v, tail %v, want %v and %v (%v)", mu, tail, 2*one, want, err)
	}
}

// The smallest ε at a δ holds, and one that is a millionth smaller does not.
func TestEpsilonOfGroups(t *testing.T) {
	for _, k := range []int{2, 5, 50} {
		for _, mu := range []float64{0.02, 0.3, 2} {
			t.Run(fmt.Sprint(k, mu), func(t *testing.T) {
				g := must.Get(privacy.GroupProfile(shown{privacy.GaussianProfile(mu/float64(k), privacy.AddRemove)}, k))
				for _, delta := range []float64{1e-3, 1e-9} {
					eps := must.Get(privacy.EpsilonUpper(g, delta))
					is, less := privacy.DeltaUpper(g, eps), privacy.DeltaUpper(g, eps*(1-2e-6))
					if !(is <= delta) || eps > 0 && !(less > delta) {
						t.Errorf("δ = %v: ε = %v has δ = %v, a bit less %v", delta, eps, is, less)
					}
				}
			})
		}
	}
}
