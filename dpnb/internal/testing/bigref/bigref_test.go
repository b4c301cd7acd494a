package bigref

import (
	"math"
	"math/big"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

func parse(t *testing.T, s string) F {
	t.Helper()
	v, _ := must.Two(big.ParseFloat(s, 10, work, big.ToNearestEven))
	return v
}

// digits returns how many decimal digits of got and want agree.
func digits(got, want F) float64 {
	d := Sub(got, want)
	if d.Sign() == 0 {
		return math.Inf(1)
	}
	return -0.30103 * float64(d.MantExp(nil)-want.MantExp(nil))
}

// Values: mpmath 1.3.0, 60 digits, of the float64 arguments.
func TestAgainstMpmath(t *testing.T) {
	for _, c := range []struct {
		name string
		got  F
		want string
	}{
		{"expm1(1e-20)", Expm1(New(1e-20)), "9.99999999999999945158271454209571651181053083996154845329753e-21"},
		{"log 3", Log(Int(3)), "1.09861228866810969139524523692252570464749055782274945173469"},
		{"log1p(1e-30)", Log1p(New(1e-30)), "1.00000000000000008333642060758548535093133602678531808175692e-30"},
		{"survival(3)", Survival(Int(3)), "0.00134989803163009452665181476759497737782936815838064936422199"},
		{"survival(10)", Survival(Int(10)), "7.61985302416052606597334325159930836350403327795696057803536e-24"},
		{"ln Γ(2001/2)", LogGamma(2001), "5908.67417584867748868387473406262488049701546825861975468914"},
		{"ln Γ(3/2)", LogGamma(3), "-0.120782237635245222345518445781647212251852727902599468363868"},
		{"ln γ(7/2, 1.25)", LowerGamma(7, New(1.25)), "-1.41765277798470431093907486093640763926649023414175990679266"},
		{"δ(1e-6; 1e-3)", GaussianDelta(New(1e-6), New(1e-3)),
			"0.000398442662471268214385616660768183365221948532941915053665064"},
		{"δ(3; 0.25)", GaussianDelta(Int(3), New(0.25)),
			"1.62383287382396207047457864418416926725274519759468702123848e-34"},
		{"δ(0.5; 12)", GaussianDelta(New(0.5), Int(12)),
			"0.999999997468483227159359017405944159136269133066976962537115"},
		{"δ(−0.25; 0.5)", GaussianDelta(New(-0.25), New(0.5)),
			"0.307099692351467248201945649051917337720884537301525163433365"},
	} {
		if d := digits(c.got, parse(t, c.want)); d < 58 {
			t.Errorf("%s: %.1f digits agree: %.30g", c.name, d, c.got)
		}
	}
}

// Identities that hold to the last places wherever the parts come from.
func TestIdentities(t *testing.T) {
	const enough = 140 // digits; 2^−472
	check := func(name string, got, want F) {
		t.Helper()
		if d := digits(got, want); d < enough {
			t.Errorf("%s: %.1f digits agree", name, d)
		}
	}
	for _, x := range []float64{-700, -1, -1e-3, 3e-5, 0.1, 1, 2.5, 1e5} {
		check("log exp", Log(Exp(New(x))), New(x))
		check("exp(−x)", Product(Exp(New(x)), Exp(New(-x))), Int(1))
		if x > -1 && x != 0 {
			check("expm1 log1p", Expm1(Log1p(New(x))), New(x))
		}
	}
	for _, x := range []float64{1e-300, 1e-18, 0x1p-12, 0x1.8p-5} {
		check("log1p expm1", Log1p(Expm1(New(x))), New(x))
	}
	// The series and the continued fraction on both sides of where they meet: R(a) − R(b) = ∫(1 − xR) by R's Taylor
	// polynomial is what MillsDiff has; here the recurrence of the derivatives, R′ = xR − 1, to third order.
	x, h := New(5), Quo(Int(1), New(0x1p170))
	r := Mills(x)
	r1 := Sub(Product(x, r), Int(1))
	r2 := Sum(r, Product(x, r1))
	left := Sum(r, Neg(Product(h, r1)), Product(New(0.5), h, h, r2))
	if d := digits(Mills(Sub(x, h)), left); d < enough {
		t.Errorf("Mills at the switch: %.1f digits agree", d)
	}
	check("Γ(1/2) = √π", LogGamma(1), Product(New(0.5), Log(Pi())))
	check("Γ(200)/Γ(199)", Sub(LogGamma(400), LogGamma(398)), Log(Int(199)))
	check("γ(1, x)", LowerGamma(2, New(0.3)), Log(Neg(Expm1(New(-0.3)))))
}

func TestAboveAndBelow(t *testing.T) {
	x := Log(Int(2))
	low := math.Nextafter(math.Ln2, 0)
	high := math.Nextafter(math.Ln2, 1)
	if Above(low, x) || !Above(high, x) || !Below(low, x) || Below(high, x) {
		t.Error("a bound is on the wrong side")
	}
	if !Below(math.Inf(-1), x) || Above(math.Inf(-1), x) || !Above(math.Inf(1), x) || Below(math.Inf(1), x) {
		t.Error("an infinite bound is on the wrong side")
	}
	if !Above(0.5, New(0.5)) || !Below(0.5, New(0.5)) {
		t.Error("a bound that is attained is one")
	}
}

// k = 2 by hand, and a symmetric law at ε = 0 by the mean absolute deviation.
func TestRandomisedResponse(t *testing.T) {
	e := Exp(Int(1))
	p := Quo(e, Sum(e, Int(1)))
	r := NewRandomisedResponse(Int(1), 2, 600)
	// At ε = 1/2: P(J = 2)(1 − e^{1/2 − 2})
	want := Product(p, p, Neg(Expm1(New(-1.5))))
	if d := digits(r.Delta(New(0.5)), want); d < 140 {
		t.Errorf("two runs at ε = 1/2: %.1f digits agree", d)
	}
	// At ε = −1/2: + P(J = 1)(1 − e^{−1/2})
	q := Sub(Int(1), p)
	want = Sum(Product(p, p, Neg(Expm1(New(-2.5)))), Product(Int(2), p, q, Neg(Expm1(New(-0.5)))))
	if d := digits(r.Delta(New(-0.5)), want); d < 140 {
		t.Errorf("two runs at ε = −1/2: %.1f digits agree", d)
	}
	// Many runs of little: by the central limit theorem √(k/2π)·ε₀ at ε = 0.
	many := NewRandomisedResponse(New(1e-9), 10000, 300)
	if got, want := Float(many.Delta(Int(0))), math.Sqrt(10000/(2*math.Pi))*1e-9; !(math.Abs(got/want-1) <= 1e-4) {
		t.Errorf("δ(0) = %g, want about %g", got, want)
	}
}
