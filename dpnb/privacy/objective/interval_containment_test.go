package objective

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

// The result of each operation contains the exact one, computed with 200 bits, at random points of random arguments.
func TestContainment(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	random := func() interval {
		a, b := rng.NormFloat64()*math.Exp(4*rng.NormFloat64()), rng.NormFloat64()
		if rng.IntN(2) == 0 {
			b = a + math.Abs(b)*1e-9
		}
		return interval{min(a, b), max(a, b)}
	}
	pick := func(a interval) float64 {
		switch rng.IntN(4) {
		case 0:
			return a.Lo
		case 1:
			return a.Hi
		}
		return min(a.Hi, max(a.Lo, a.Lo+rng.Float64()*(a.Hi-a.Lo)))
	}
	bf := func(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }
	in := func(a interval, x *big.Float) bool {
		return bf(a.Lo).Cmp(x) <= 0 && x.Cmp(bf(a.Hi)) <= 0
	}
	for range 100000 {
		a, b := random(), random()
		x, y := pick(a), pick(b)
		n := func() *big.Float { return new(big.Float).SetPrec(300) }
		if !in(a.Add(b), n().Add(bf(x), bf(y))) {
			t.Fatalf("%v + %v at %v, %v", a, b, x, y)
		}
		if !in(a.Sub(b), n().Sub(bf(x), bf(y))) {
			t.Fatalf("%v − %v at %v, %v", a, b, x, y)
		}
		if !in(a.Mul(b), n().Mul(bf(x), bf(y))) {
			t.Fatalf("%v · %v at %v, %v: %v", a, b, x, y, a.Mul(b))
		}
		if !in(a.Sqr(), n().Mul(bf(x), bf(x))) {
			t.Fatalf("%v² at %v", a, x)
		}
		if b.Lo > 0 && !in(a.Div(b), n().Quo(bf(x), bf(y))) {
			t.Fatalf("%v / %v at %v, %v: %v", a, b, x, y, a.Div(b))
		}
	}
}

// e^x against its Taylor series with 300 bits.
func TestExp(t *testing.T) {
	testscale.Slow(t)
	rng := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		x := rng.Float64()*80 - 60
		b := new(big.Float).SetPrec(400).SetFloat64(x)
		sum, term := new(big.Float).SetPrec(400).SetInt64(1), new(big.Float).SetPrec(400).SetInt64(1)
		for k := int64(1); k < 400; k++ {
			term.Mul(term, b)
			term.Quo(term, new(big.Float).SetPrec(400).SetInt64(k))
			sum.Add(sum, term)
		}
		lo, hi := new(big.Float).SetFloat64(expDown(x)), new(big.Float).SetFloat64(expUp(x))
		if lo.Cmp(sum) > 0 || hi.Cmp(sum) < 0 {
			t.Fatalf("e^%v outside [%v, %v]", x, lo, hi)
		}
		if expUp(x) > expDown(x)*(1+1e-13) {
			t.Fatalf("e^%v: too wide", x)
		}
	}
	if p := point(0).PDF(); !p.Contains(0.3989422804014327) || p.Hi-p.Lo > 1e-14 {
		t.Fatalf("φ(0) = %v", p)
	}
}
