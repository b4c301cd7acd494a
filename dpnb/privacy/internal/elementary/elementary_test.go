package elementary

import (
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	ref "github.com/dpnb/notebooks/dpnb/internal/testing/bigref"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

// ulps returns how many units in the last place of exact got is off.
func ulps(got float64, exact ref.F) float64 {
	x := math.Abs(ref.Float(exact))
	unit := math.Nextafter(x, math.Inf(1)) - x
	d := ref.Sub(ref.New(got), exact)
	return math.Abs(ref.Float(ref.Quo(d, ref.New(unit))))
}

// erfc returns erfc x, x ≥ 0, and erf x without cancellation.
func erfc(x ref.F) ref.F {
	return ref.Product(ref.Int(2), ref.Survival(ref.Product(x, ref.Sqrt(ref.Int(2)))))
}

func erf(x ref.F) ref.F {
	if ref.Float(x) > 1 {
		return ref.Sub(ref.Int(1), erfc(x))
	}
	// 2φ(z) Σ z^{2n+1}/(1·3·…), z = x√2
	z := ref.Product(x, ref.Sqrt(ref.Int(2)))
	term, sum := ref.Sum(z), ref.Sum(z)
	for n := int64(3); n < 400; n += 2 {
		term = ref.Quo(ref.Product(term, z, z), ref.Int(n))
		sum = ref.Sum(sum, term)
	}
	return ref.Product(ref.Int(2), ref.PDF(z), sum)
}

func TestErrorsOfTheElementaryFunctions(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	between := func(a, b float64) float64 { x := Log(a); return math.Exp(x + r.Float64()*(Log(b)-x)) }
	half := ref.New(0.5)
	sinh := func(x ref.F) ref.F { return ref.Product(half, ref.Sub(ref.Expm1(x), ref.Expm1(ref.Neg(x)))) }
	cosh := func(x ref.F) ref.F { return ref.Product(half, ref.Sum(ref.Exp(x), ref.Exp(ref.Neg(x)))) }
	n := 100
	if !testscale.Full() {
		n = 25
	}
	if factor, err := strconv.Atoi(os.Getenv("DPNB_FUZZ")); err == nil {
		n *= factor
	}
	for _, c := range []struct {
		name  string
		f     func(float64) float64
		exact func(ref.F) ref.F
		draw  func() float64
		limit float64
	}{
		{"exp of x < 0", math.Exp, ref.Exp, func() float64 { return -between(1e-20, 707) }, expUlps},
		{"exp of x > 0", math.Exp, ref.Exp, func() float64 { return between(1e-20, 709) }, expUlps},
		{"expm1 of x < 0", math.Expm1, ref.Expm1, func() float64 { return -between(1e-300, 60) }, 1},
		{"expm1 of x > 0", math.Expm1, ref.Expm1, func() float64 { return between(1e-300, 700) }, 1},
		{"log1p of x < 0", math.Log1p, ref.Log1p, func() float64 { return -between(1e-300, 1) }, 1},
		{"log1p of x > 0", math.Log1p, ref.Log1p, func() float64 { return between(1e-300, 1e300) }, 1},
		{"log", Log, ref.Log, func() float64 { return between(1e-307, 1e307) }, 1},
		{"log near 1", Log, ref.Log, func() float64 { return 1 + 0.3*(2*r.Float64()-1)*r.Float64() }, 1},
		{"log of subnormals", Log, ref.Log, func() float64 { return math.Max(5e-324, between(5e-324, 2.2e-308)) }, 1},
		{"sinh", math.Sinh, sinh, func() float64 { return between(1e-300, 700) }, Ulps},
		{"cosh", math.Cosh, cosh, func() float64 { return between(1e-12, 700) }, Ulps},
		{"tanh", math.Tanh, func(x ref.F) ref.F { return ref.Quo(sinh(x), cosh(x)) },
			func() float64 { return between(1e-300, 40) }, Ulps},
		{"erf", math.Erf, erf, func() float64 { return between(1e-300, 5) }, 1},
		{"erfc", math.Erfc, erfc, func() float64 { return between(1e-9, 26) }, Ulps},
	} {
		worst, at := 0.0, 0.0
		for range n {
			x := c.draw()
			if e := ulps(c.f(x), c.exact(ref.New(x))); !(e <= worst) {
				worst, at = e, x
			}
		}
		t.Logf("%-18s %.2f ulp at %g", c.name, worst, at)
		if !(worst <= c.limit) {
			t.Errorf("%s: %.2f units in the last place at %g, allowed %g", c.name, worst, at, c.limit)
		}
	}
}

// ExpUp is above e^x, by no more than what it and math.Exp may add.
func TestExpUpIsAbove(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 2))
	for range 300 {
		x := (2*r.Float64() - 1) * 700
		exact, got := ref.Exp(ref.New(x)), ExpUp(x)
		if ref.New(got).Cmp(exact) < 0 || !(ulps(got, exact) <= 2*expUlps) {
			t.Errorf("ExpUp(%v) = %v, of e^x %v", x, got, ref.Float(exact))
		}
	}
	if ExpUp(0) <= 1 || ExpUp(math.Inf(-1)) <= 0 || !math.IsInf(ExpUp(1000), 1) {
		t.Errorf("of 0, −∞ and 1000: %v, %v, %v", ExpUp(0), ExpUp(math.Inf(-1)), ExpUp(1000))
	}
}
