package pld

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	ref "github.com/dpnb/notebooks/dpnb/internal/testing/bigref"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// binomial is k runs of (ε₀, δ₀)-DP with their exact law: randomised response, and with probability 1 − (1 − δ₀)^k all
// is told.
type binomial struct {
	eps0, delta0 float64
	k            int
	law          *ref.RandomisedResponse
	told         ref.F // 1 − (1 − δ₀)^k
}

func newBinomial(eps0, delta0 float64, k int) binomial {
	b := binomial{eps0: eps0, delta0: delta0, k: k, law: ref.NewRandomisedResponse(ref.New(eps0), int64(k), 400),
		told: ref.New(0)}
	if delta0 > 0 {
		b.told = ref.Neg(ref.Expm1(ref.Product(ref.Int(int64(k)), ref.Log1p(ref.New(-delta0)))))
	}
	return b
}

func (b binomial) String() string { return fmt.Sprintf("(%g, %g)-DP × %d", b.eps0, b.delta0, b.k) }

func (b binomial) delta(eps float64) ref.F {
	return ref.Sum(b.told, ref.Product(ref.Sub(ref.Int(1), b.told), b.law.Delta(ref.New(eps))))
}

// check holds the composition's bounds against the exact law and returns the relative excess of the upper one of ε.
func (b binomial) check(t *testing.T, p privacy.Profile, quantiles ...float64) (widest float64) {
	t.Helper()
	c := composed(t, p, b.k)
	sd := b.eps0 * math.Sqrt(float64(b.k))
	for _, z := range quantiles {
		eps := z * sd
		exact := b.delta(eps)
		if exact.Sign() <= 0 {
			continue // above the largest loss
		}
		ln := ref.Log(exact)
		got := must.Get(c.DeltaBounds(eps))
		if !ref.Above(got.Upper, ln) || !ref.Below(got.Lower, ln) {
			t.Errorf("%v at ε = %g: ln δ in [%.17g, %.17g], exact %.17g (%s)", b, eps, got.Lower, got.Upper, ln,
				got.Method)
		}
		delta := ref.Float(exact)
		if !(delta > 0 && delta < 1) {
			continue
		}
		// δ falls: ε ≤ upper if the exact δ there is at most what was asked for.
		found := must.Get(c.EpsilonBounds(delta))
		at := ref.New(delta)
		if b.delta(found.Upper).Cmp(at) > 0 {
			t.Errorf("%v at δ = %g: ε ≤ %.17g, but δ there is %.17g; exact ε about %.17g (%s)", b, delta, found.Upper,
				b.delta(found.Upper), eps, found.Method)
		}
		if math.IsInf(found.Lower, 1) || found.Lower > 0 && b.delta(found.Lower).Cmp(at) < 0 {
			t.Errorf("%v at δ = %g: ε ≥ %.17g, exact about %.17g (%s)", b, delta, found.Lower, eps, found.Method)
		}
		t.Logf("%v at δ = %.3g: ε in [%.10g, %.10g], about %.10g (%s)", b, delta, found.Lower, found.Upper, eps,
			found.Method)
		if eps > 0 {
			widest = math.Max(widest, (found.Upper-eps)/eps)
		}
	}
	return widest
}

// The k-fold composition of a guarantee of which nothing more is known, against the exact binomial law: tiny losses
// composed often, where δ next to 1 loses its digits.
func TestPureGuaranteesAgainstTheBinomial(t *testing.T) {
	testscale.InTurn(t)
	for _, c := range []struct {
		eps0, delta0 float64
		k            int
		quantiles    []float64
		width        float64 // of the upper bound of ε from the exact one
	}{
		{1.16e-12, 0, 5869631, []float64{1}, 3e-4},
		{1.16e-12, 1e-20, 5869631, []float64{0.3}, 3e-3},
		{1e-7, 0, 40000, []float64{0.3, 3}, 3e-4},
		{0.01, 1e-9, 10000, []float64{0.3, 3}, 3e-4},
		{1.5, 0, 3, []float64{0.3, 1, 1.7}, 1e-4}, // the last next to the largest loss
	} {
		if !testscale.Full() && c.delta0 > 0 {
			continue
		}
		p := must.Get(privacy.Approx{Epsilon: c.eps0, Delta: c.delta0, Adj: privacy.AddRemove}.Profile(
			privacy.AddRemove))
		b := newBinomial(c.eps0, c.delta0, c.k)
		width := b.check(t, p, c.quantiles...)
		if width > c.width {
			t.Errorf("%v: ε a relative %.2g too large", b, width)
		}
	}
	if !testscale.Full() {
		return
	}
	// The same guarantee by another door.
	l := must.Get(privacy.IsotropicLaplace{Scale: 1, Sensitivity: 1.16e-12}.Profile(privacy.AddRemove))
	newBinomial(1.16e-12, 0, 5869631).check(t, l, 1)
}

// DPNB_FUZZ=20 go test -run FuzzedBinomials ./dpnb/privacy/pld
func TestFuzzedBinomials(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("DPNB_FUZZ"))
	if err != nil {
		t.Skip("set DPNB_FUZZ to a number of trials")
	}
	r := rand.New(rand.NewPCG(11, uint64(n)))
	between := func(a, b float64) float64 { return math.Exp(math.Log(a) + r.Float64()*math.Log(b/a)) }
	for range n {
		delta0 := 0.0
		k := int(between(2, 3e6))
		if r.IntN(3) == 0 {
			delta0 = between(1e-30, 1e-3) / float64(k)
		}
		b := newBinomial(between(1e-15, 3), delta0, k)
		p := must.Get(privacy.Approx{Epsilon: b.eps0, Delta: delta0, Adj: privacy.AddRemove}.Profile(privacy.AddRemove))
		width := b.check(t, p, between(1e-3, 1), between(1, 6))
		t.Logf("%v: ε within %.2g", b, width)
	}
}
