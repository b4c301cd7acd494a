package objective

import (
	"math"
	"testing"

	ref "github.com/dpnb/notebooks/dpnb/internal/testing/bigref"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// For k = 1 and 2 the tails of χ are 2P(N > x) and e^{−x²/2}, and all is known by the normal law: with x₀ = max(0,
// b/a), b = ε − a²/2,
//
//	E(1 − e^{b−aχ})₊ = 2P(N > x₀) − 2e^ε·P(N > x₀ + a),  (1 − e^b)₊ + a√(2π)·e^ε·P(N > x₀ + a),
//	E e^{sχ} = 2e^{s²/2}·P(N > −s),  1 + s√(2π)·e^{s²/2}·P(N > −s).
//
// The bounds are never below, however far out, and above by what they say: δ by 1e-4 of it, and the moment by w²/6 of
// what it has beyond 1, w the bins of (√k + s + 12)/8000; by four times that for k = 1, whose hazard at 0 is taken for
// 0.
func TestSmallRanksAreExact(t *testing.T) {
	two, half, one := ref.Int(2), ref.New(0.5), ref.Int(1)
	root := ref.Sqrt(ref.Product(two, ref.Pi()))
	delta := func(k int, a, eps ref.F) ref.F {
		b, x := ref.Sub(eps, ref.Product(half, a, a)), ref.Int(0)
		if b.Sign() > 0 {
			x = ref.Quo(b, a)
		}
		tail := ref.Product(ref.Exp(eps), ref.Survival(ref.Sum(x, a)))
		switch {
		case k == 1:
			return ref.Product(two, ref.Sub(ref.Survival(x), tail))
		case b.Sign() > 0:
			return ref.Product(a, root, tail)
		}
		return ref.Sub(ref.Product(a, root, tail), ref.Expm1(b))
	}
	beyond := func(k int, s ref.F) ref.F {
		v := ref.Product(ref.Exp(ref.Product(half, s, s)), ref.Sub(one, ref.Survival(s)))
		if k == 1 {
			return ref.Sub(ref.Product(two, v), one)
		}
		return ref.Product(s, root, v)
	}
	for k := 1; k <= 2; k++ {
		for _, a := range []float64{1.0 / 64, 0.25, 1, 8} {
			r := RankK{Rank: k, Smoothness: 1e-300, Slope: a, Lambda: 1, Sigma: 1}
			p := must.Get(r.Profile(privacy.AddRemove))
			for _, eps := range []float64{-3, 0, 0.1, 1, 20, 300} {
				exact, got := ref.Log(delta(k, ref.New(a), ref.New(eps))), p.LogDeltaUpper(privacy.Add, eps)
				if over := ref.Float(ref.Sub(ref.New(got), exact)); !ref.Above(got, exact) || over > 1e-4-3e-14*got {
					t.Errorf("k = %d, a = %g, ε = %g: ln δ ≤ %.17g, exact %.17g", k, a, eps, got, ref.Float(exact))
				}
			}
			for _, alpha := range []float64{1.01, 2, 8, 65} {
				s := ref.Product(ref.New(a), ref.New(alpha-1))
				more := beyond(k, s)
				moment := ref.Sum(one, more)
				exact := ref.Sum(ref.New(a*a/2), ref.Quo(ref.Log(moment), ref.New(alpha-1)))
				w := (math.Sqrt(float64(k)) + ref.Float(s) + 12) / 8000
				room := w*w/6*ref.Float(ref.Quo(more, moment))*1.03*[]float64{1: 4, 2: 1}[k] + 2e-11
				got := must.Get(r.RDP(alpha))
				over := ref.Float(ref.Sub(ref.New(got), exact))
				if !ref.Above(got, exact) || over > room/(alpha-1)+4e-14*got {
					t.Errorf("k = %d, a = %g, α = %g: %.17g, exact %.17g", k, a, alpha, got, ref.Float(exact))
				}
			}
		}
	}
}
