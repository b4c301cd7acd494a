package objective

import (
	"math"
	"math/rand/v2"
	"testing"

	ref "github.com/dpnb/notebooks/dpnb/internal/testing/bigref"
)

// The parameters of the law W are never below what 512 binary digits say, and above it by some last places only: also
// where λ is next to s, where ln(1 − s/λ) has all the rounding of s/λ many times over.
func TestLawIsRoundedUp(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	between := func(a, b float64) float64 { return a * math.Exp(r.Float64()*math.Log(b/a)) }
	for range 2000 {
		s := between(1e-12, 1e12)
		c := Config{Slope: between(1e-9, 1e9), Smoothness: s, Lambda: s * between(1e-9, 1e9), Sigma: between(1e-9, 1e9),
			Bound: DTZ24}
		tolerance := 7e-16
		sign := ref.Int(1)
		if r.IntN(2) == 0 {
			c.Bound, sign = RKW23, ref.Int(-1)
			gap := between(1e-9, 1e9)
			c.Lambda = s * (1 + gap)
			tolerance *= 1 + 1/gap
		}
		ratio := ref.Quo(ref.New(s), ref.New(c.Lambda))
		k := ref.Product(sign, ref.Log1p(ref.Product(sign, ratio)))
		w := c.Law()
		for _, v := range []struct {
			name  string
			got   float64
			exact ref.F
		}{{"k", w.K, k}, {"a", w.A, ref.Quo(ref.New(c.Slope), ref.New(c.Sigma))}} {
			over := ref.Float(ref.Sub(ref.Quo(ref.New(v.got), v.exact), ref.Int(1)))
			if !(over >= 0) || over > tolerance+2e-16 {
				t.Errorf("%+v: %s = %v is %g above the exact one", c, v.name, v.got, over)
			}
		}
	}
}

// The bounds of pure ε are not below what they are in exact arithmetic, and above it in the last places alone.
func TestPureBoundsAreRoundedUp(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 1))
	for range 300 {
		c, beta, s, lambda := math.Exp(3*r.NormFloat64()), math.Exp(3*r.NormFloat64()), math.Exp(3*r.NormFloat64()),
			math.Exp(3*r.NormFloat64())
		free := ref.Quo(ref.New(c), ref.New(beta))
		flat := ref.Sum(free, ref.Log1p(ref.Quo(ref.New(s), ref.New(lambda))))
		for name, b := range map[string]struct {
			got   float64
			exact ref.F
		}{"flat": {PureFlat(c, beta, s, lambda), flat}, "free": {PureFree(c, beta), free}} {
			if !ref.Above(b.got, b.exact) || b.got > ref.Float(b.exact)*(1+1e-13) {
				t.Errorf("%s, C = %g, β = %g, s = %g, Λ = %g: %.17g, exact %.17g", name, c, beta, s, lambda, b.got,
					b.exact)
			}
		}
		// At its best q the parabola has the largest of C/β·q + ln(1 + s/Λ·(1 − q²)).
		parabola, most := PureParabola(c, beta, s, lambda), 0.0
		for k := range 4000 {
			q := -math.Expm1(-0.01 * float64(k)) // finer towards 1
			most = math.Max(most, c/beta*q+math.Log1p(s/lambda*(1-q)*(1+q)))
		}
		if !(parabola >= most*(1-1e-15)) || parabola > most*(1+1e-4) {
			t.Errorf("parabola, C = %g, β = %g, s = %g, Λ = %g: %.17g, at least %.17g", c, beta, s, lambda, parabola,
				most)
		}
	}
}

// Bounds on one direction are bounds on the other one: of the exact value, whatever its size.
func TestMirrorEncloses(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 400 {
		eps, l := -math.Exp(8*r.Float64()-6), -math.Exp(7*r.Float64()-4)
		e := mirror(eps, enclosure{l, l})
		exact := ref.Log(ref.Sub(ref.Exp(ref.Sum(ref.New(eps), ref.New(l))),
			ref.Expm1(ref.New(eps))))
		if !ref.Below(e.lower, exact) || !ref.Above(e.upper, exact) || !(e.upper-e.lower <= 1e-13) {
			t.Errorf("ε = %v, ln δ = %v: %v to %v, exactly %v", eps, l, e.lower, e.upper, ref.Float(exact))
		}
	}
}
