package dd

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/bigref"
)

const prec = 400

func wide(x float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(x) }

func exactly(a Number) *big.Float { return new(big.Float).Add(wide(a.Hi), wide(a.Lo)) }

// relative returns |a/want − 1|.
func relative(a Number, want *big.Float) float64 {
	d := new(big.Float).Sub(exactly(a), want)
	v, _ := d.Quo(d, want).Float64()
	return math.Abs(v)
}

func random(rng *rand.Rand) Number {
	hi := math.Ldexp(rng.Float64()*2-1, rng.IntN(60)-30)
	return quickTwoSum(hi, hi*0x1p-53*(rng.Float64()*2-1))
}

// Every operation is as exact as stated, and not much more: the bounds are seen to within a factor of eight, so that an
// operation that loses four bits fails.
func TestOperations(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const u2 = 0x1p-106
	f := func(x *big.Float) *big.Float { return x.SetPrec(prec) }
	for _, c := range []struct {
		name  string
		bound float64
		got   func(a, b Number) Number
		want  func(a, b *big.Float) *big.Float
	}{
		{"add", 3.1 * u2, Number.Add, func(a, b *big.Float) *big.Float { return f(new(big.Float)).Add(a, b) }},
		{"multiply", 5 * u2, Number.Mul, func(a, b *big.Float) *big.Float { return f(new(big.Float)).Mul(a, b) }},
		{"divide", 16 * u2, Number.Div, func(a, b *big.Float) *big.Float { return f(new(big.Float)).Quo(a, b) }},
		{"root", 4 * u2, func(a, _ Number) Number {
			return Number{math.Abs(a.Hi), math.Copysign(1, a.Hi) * a.Lo}.Sqrt()
		},
			func(a, _ *big.Float) *big.Float { return f(new(big.Float)).Sqrt(new(big.Float).Abs(a)) }},
	} {
		var worst float64
		for range 20_000 {
			a, b := random(rng), random(rng)
			want := c.want(exactly(a), exactly(b))
			if want.Sign() == 0 {
				continue
			}
			worst = math.Max(worst, relative(c.got(a, b), want))
		}
		if !(worst <= c.bound) || worst < c.bound/8 {
			t.Errorf("%s: %.2f u² at worst, bound %.2f u²", c.name, worst/u2, c.bound/u2)
		}
	}
	for range 20_000 {
		a, x := random(rng), math.Ldexp(rng.Float64()*2-1, rng.IntN(60)-30)
		if e := relative(a.MulFloat(x), f(new(big.Float)).Mul(exactly(a), wide(x))); !(e <= 2*u2) {
			t.Fatalf("product with a float64 off by %v u²", e/u2)
		}
		if e := relative(a.AddFloat(x), f(new(big.Float)).Add(exactly(a), wide(x))); !(e <= 2*u2) {
			t.Fatalf("sum with a float64 off by %v u²", e/u2)
		}
	}
}

// Exp to what is stated of it, over its whole range; it is seen to within 2⁻¹⁰³.
func TestExp(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var worst float64
	for i := range 4000 {
		x := Number{Hi: -40 * rng.Float64()}
		switch i % 4 {
		case 1:
			x.Hi = 660 * (2*rng.Float64() - 1)
		case 2:
			x.Hi = math.Ldexp(rng.Float64()-0.5, -rng.IntN(120))
		case 3:
			x.Hi = (float64(rng.IntN(100)) + 0.5) * -math.Ln2 // where r is largest
		}
		x = quickTwoSum(x.Hi, x.Hi*0x1p-54*rng.Float64())
		worst = math.Max(worst, relative(Exp(x), bigref.Exp(exactly(x))))
	}
	if !(worst <= ExpError) || worst < 0x1p-106 {
		t.Errorf("2^%.1f at worst", math.Log2(worst))
	}
	t.Logf("2^%.1f at worst", math.Log2(worst))
	for _, x := range []float64{-665, -690, -707.99, -708.01, -745, -1e300, math.Inf(-1)} {
		e, _ := new(big.Float).Sub(exactly(Exp(From(x))), bigref.Exp(wide(math.Max(x, -5000)))).Float64()
		if !(math.Abs(e) <= ExpUnderflow) {
			t.Errorf("e^%v is off by %v", x, e)
		}
	}
	if off := relative(Exp(From(709)), bigref.Exp(wide(709))); !(off <= ExpError) {
		t.Errorf("e^709 is off by 2^%.1f", math.Log2(off))
	}
	if !math.IsNaN(Exp(From(math.NaN())).Hi) || !math.IsInf(Exp(From(800)).Hi, 1) || Exp(From(0)) != From(1) {
		t.Errorf("e^NaN = %v, e^800 = %v, e^0 = %v", Exp(From(math.NaN())), Exp(From(800)), Exp(From(0)))
	}
}

// Numbers are ordered by their lower parts where the upper ones are equal, signs change in both parts, and vectors hold
// what is put into them, each for itself.
func TestOrderAndVectors(t *testing.T) {
	rising := []Number{{-2, 0}, {-1, -0x1p-60}, {-1, 0}, {-1, 0x1p-60}, {0, 0}, {1, -0x1p-55}, {1, 0}, {1, 0x1p-60}}
	v, w := NewVector(len(rising)), NewVector(len(rising))
	for i, a := range rising {
		for j, b := range rising {
			if a.Less(b) != (i < j) {
				t.Errorf("%v < %v is %v", a, b, a.Less(b))
			}
		}
		if n := a.Neg(); n != (Number{-a.Hi, -a.Lo}) || a.Add(n) != (Number{}) {
			t.Errorf("−%v is %v", a, n)
		}
		v.Set(i, a)
	}
	w.Copy(v)
	v.Set(0, Number{})
	for i, a := range rising {
		if w.At(i) != a || i > 0 && v.At(i) != a {
			t.Errorf("entry %d is %v, its copy %v, want %v", i, v.At(i), w.At(i), a)
		}
	}
	if v.At(0) != (Number{}) || cap(v.Hi) != len(rising) || len(v.Lo) != len(rising) {
		t.Errorf("%v after it was changed, with room for %d", v, cap(v.Hi))
	}
}

func TestTwoSumAndProductAreExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 10_000 {
		a, b := math.Ldexp(rng.Float64()-0.5, rng.IntN(200)-100), math.Ldexp(rng.Float64()-0.5, rng.IntN(200)-100)
		s, e := TwoSum(a, b)
		if new(big.Float).SetPrec(prec).Add(wide(a), wide(b)).Cmp(exactly(Number{s, e})) != 0 {
			t.Fatalf("%v + %v", a, b)
		}
		p, q := TwoProd(a, b)
		if new(big.Float).SetPrec(prec).Mul(wide(a), wide(b)).Cmp(exactly(Number{p, q})) != 0 {
			t.Fatalf("%v · %v", a, b)
		}
	}
}

func BenchmarkExp(b *testing.B) {
	for b.Loop() {
		Exp(Number{-3.3, 1e-17})
	}
}
