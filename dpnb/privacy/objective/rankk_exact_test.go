package objective

import (
	"math"
	"testing"

	ref "github.com/dpnb/notebooks/dpnb/internal/testing/bigref"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// For k = 2 the tail of χ is e^{−x²/2}, and all is known by the normal law:
//
//	E(1 − e^{b−aχ})₊ = (1 − e^b)₊ + a√(2π)·e^{b+a²/2}·P(N > x₀ + a),  x₀ = max(0, b/a),
//	E e^{sχ} = 1 + s√(2π)·e^{s²/2}·P(N > −s).
//
// The bounds are never below, however far out, and above by what they say: δ by 1e-4 of it, and the moment by w²/6 of
// what it has beyond 1, w the bins of (√k + s + 12)/8000.
func TestRankTwoIsExact(t *testing.T) {
	root, half, one := ref.Sqrt(ref.Product(ref.Int(2), ref.Pi())), ref.New(0.5), ref.Int(1)
	for _, slope := range []float64{1.0 / 64, 0.25, 1, 8} {
		a := ref.New(slope)
		r := RankK{Rank: 2, Smoothness: 1e-300, Slope: slope, Lambda: 1, Sigma: 1}
		p := must.Get(r.Profile(privacy.AddRemove))
		for _, eps := range []float64{-3, 0, 0.1, 1, 20, 300} {
			b := ref.Sub(ref.New(eps), ref.Product(half, a, a))
			x, sum := a, ref.Int(0)
			if b.Sign() > 0 {
				x = ref.Sum(x, ref.Quo(b, a))
			} else {
				sum = ref.Neg(ref.Expm1(b))
			}
			exact := ref.Log(ref.Sum(sum, ref.Product(a, root, ref.Exp(ref.New(eps)), ref.Survival(x))))
			got := p.LogDeltaUpper(privacy.Add, eps)
			if over := ref.Float(ref.Sub(ref.New(got), exact)); !ref.Above(got, exact) || over > 1e-4-3e-14*got {
				t.Errorf("a = %g, ε = %g: ln δ ≤ %.17g, exact %.17g", slope, eps, got, ref.Float(exact))
			}
		}
		for _, alpha := range []float64{1.01, 2, 8, 65} {
			m := ref.New(alpha - 1)
			s := ref.Product(a, m)
			beyond := ref.Product(s, root, ref.Exp(ref.Product(half, s, s)), ref.Sub(one, ref.Survival(s)))
			moment := ref.Sum(one, beyond)
			exact := ref.Sum(ref.Product(half, a, a), ref.Quo(ref.Log(moment), m))
			w := (math.Sqrt2 + ref.Float(s) + 12) / 8000
			room := w*w/6*ref.Float(ref.Quo(beyond, moment))*1.03 + 2e-11
			got := must.Get(r.RDP(alpha))
			over := ref.Float(ref.Sub(ref.New(got), exact))
			if !ref.Above(got, exact) || over > room/(alpha-1)+4e-14*got {
				t.Errorf("a = %g, α = %g: Rényi bound %.17g, exact %.17g", slope, alpha, got, ref.Float(exact))
			}
		}
	}
}
