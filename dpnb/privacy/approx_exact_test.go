package privacy

import (
	"fmt"
	"math"
	"testing"

	. "github.com/dpnb/notebooks/dpnb/internal/testing/bigref"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// approxDelta is the profile of the pair that dominates (ε, δ)-DP.
func approxDelta(eps, delta, t F) F {
	one := Int(1)
	switch {
	case t.Cmp(eps) >= 0:
		return delta
	case t.Cmp(Neg(eps)) <= 0:
		return Sum(Neg(Expm1(t)), Product(delta, Exp(t)))
	}
	step := Quo(Neg(Expm1(Sub(t, eps))), Sum(one, Exp(Neg(eps))))
	return Sum(delta, Product(Sub(one, delta), step))
}

func TestApproxProfileIsExact(t *testing.T) {
	r := newRNG(1)
	b := bracket{t: t, allowed: 1e-14, scale: 10}
	for range trials(600) {
		a := Approx{Epsilon: r.between(1e-300, 1e3), Delta: r.pick(0, 0, 0, r.between(1e-300, 1), 1), Adj: AddRemove}
		x := a.Epsilon * r.pick(r.between(1e-12, 1), 1-r.between(1e-15, 0.1), 1, 1+r.between(1e-15, 0.1),
			r.between(1, 1e12))
		if r.IntN(2) == 0 {
			x = -x
		}
		if x > 1e6 || x < -1e6 {
			continue
		}
		exact := approxDelta(New(a.Epsilon), New(a.Delta), New(x))
		p := must.Get(a.Profile(AddRemove))
		low, up := profileAt(p, Remove, x)
		what := fmt.Sprintf("%v at %g", a, x)
		if exact.Sign() == 0 {
			if !math.IsInf(up, -1) {
				t.Errorf("%s: ln δ ≤ %v, want −Inf", what, up)
			}
			continue
		}
		b.check(low, up, Log(exact), what)
	}
	b.done()
}

// approxRenyi is ln[cosh((α − ½)ε)/cosh(ε/2)]/(α − 1), at α = 1 ε·tanh(ε/2).
func approxRenyi(eps, alpha F) F {
	half := New(0.5)
	cosh := func(x F) F { return Sum(Exp(x), Exp(Neg(x))) }
	if alpha.Cmp(Int(1)) == 0 {
		return Product(eps, Quo(Expm1(eps), Sum(Exp(eps), Int(1))))
	}
	// cosh a/cosh b − 1 = 2 sinh((a + b)/2) sinh((a − b)/2)/cosh b, with twice each
	sinh := func(x F) F { return Sum(Expm1(x), Neg(Expm1(Neg(x)))) }
	less := Sub(alpha, Int(1))
	y := Quo(Product(sinh(Product(half, alpha, eps)), sinh(Product(half, less, eps))), cosh(Product(half, eps)))
	return Quo(Log1p(y), less)
}

func TestApproxRDPIsExact(t *testing.T) {
	r := newRNG(2)
	worst := 0.0
	for i := range trials(400) {
		eps := r.between(1e-300, 1e3)
		alpha := 1 + r.between(1e-9, 1e9)
		if i%20 == 0 {
			alpha = 1
		}
		if alpha*eps > 1e8 {
			continue
		}
		c := must.Get(Pure(eps, AddRemove).RDP(AddRemove))
		got, exact := c.Epsilon(alpha), approxRenyi(New(eps), New(alpha))
		if !Above(got, exact) {
			t.Errorf("ε = %g, α = %g: ε(α) = %.17g below %.20g", eps, alpha, got, exact)
		}
		if x := Float(exact); x > 1e-300 {
			worst = math.Max(worst, got/x-1)
		}
	}
	t.Logf("largest relative excess %.2g", worst)
	if worst > 2e-14 {
		t.Errorf("relative excess %.2g", worst)
	}
}
