package wishart

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	. "github.com/dpnb/notebooks/dpnb/internal/testing/bigref"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// logChi is ln P(χ²_ν ≤ x).
func logChi(nu int64, x float64) F {
	return Sub(LowerGamma(nu, Product(New(0.5), New(x))), LogGamma(nu))
}

// The law of χ² within its slack, from x = 1e-300 to the far side of the mean.
func TestChiSquareWithinItsSlack(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	n := 150
	if !testscale.Full() {
		n = 40
	}
	worst := 0.0
	for range n {
		nu := int64(math.Exp(r.Float64() * math.Log(5000)))
		nu = max(2, nu)
		f := float64(nu)
		x := f + 4*math.Sqrt(2*f)*r.NormFloat64()
		if r.IntN(2) == 0 || x <= 0 {
			x = f * math.Exp(-600*r.Float64()*r.Float64())
		}
		exact := logChi(nu, x)
		got := logChiBelow(f, x)
		off, slack := math.Abs(Float(Sub(New(got), exact))), chiSlack(f, got)
		if off > slack {
			t.Errorf("ν = %d, x = %g: ln P = %.17g, off by %.2g, slack %.2g", nu, x, got, off, slack)
		}
		worst = math.Max(worst, off/slack)
		if above := Neg(Expm1(exact)); Float(above) > 1e-270 && Float(above) < 1 {
			got, _ := logChiAbove(f, x)
			if off := math.Abs(Float(Sub(New(got), Log(above)))); off > 1e-11 {
				t.Errorf("ν = %d, x = %g: ln P above off by %.2g", nu, x, off)
			}
		}
		logDelta := -700 * r.Float64() * r.Float64()
		if r.IntN(4) == 0 {
			nu, f = 2, 2
		}
		c := chiLowerQuantile(f, logDelta)
		if !Below(Float(logChi(nu, c)), New(logDelta)) {
			t.Errorf("ν = %d: P(χ² < %.17g) = e^%.17g above e^%.17g", nu, c, Float(logChi(nu, c)), logDelta)
		}
		if low := Float(logChi(nu, c*(1+1e-9))); low < logDelta && logDelta < -1e-3 {
			t.Errorf("ν = %d: the quantile at e^%g is a relative 1e-9 too small", nu, logDelta)
		}
	}
	t.Logf("largest error %.2g of its slack", worst)
}

func TestLogRestIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	for range 200 {
		x := math.Exp(-40*r.Float64()) * 0.999
		if r.IntN(2) == 0 {
			x = -x
		}
		exact := Sub(New(x), Log1p(New(x)))
		if e := math.Abs(Float(Quo(New(logRest(x)), exact)) - 1); e > 1e-14 {
			t.Errorf("x = %g: relative error %.2g", x, e)
		}
	}
}

// TestWhereTailsBecomeBounds: δ is never below the exact one where the probabilities that it is the difference of pass
// from computed ones to Chernoff's bounds, which are larger and may not be subtracted.
func TestWhereTailsBecomeBounds(t *testing.T) {
	above := func(nu, x float64) F { // e^{−x/2} Σ (x/2)^j/j!, j < ν/2, for even ν
		term, sum := Int(1), Int(1)
		for j := 1; j < int(nu/2); j++ {
			term = Quo(Product(term, New(x/2)), Int(int64(j)))
			sum = Sum(sum, term)
		}
		return Product(Exp(New(-x/2)), sum)
	}
	for _, nu := range []float64{40, 400, 1620} {
		c := nu
		for l := 0.0; l > -639; c *= 1.001 {
			l, _ = logChiAbove(nu, c)
		}
		for range 12 {
			c *= 1.0005
			s := 0x1p-11 // c − s is exact, or nearly
			eps := 0.5*s + (nu/2-1)*math.Log1p(-s/c)
			exact := Sub(above(nu, c-s), Product(Exp(New(eps)), above(nu, c)))
			if got := (shift{nu, s}).LogDeltaUpper(privacy.Remove, eps); !Above(got, Log(exact)) {
				t.Errorf("ν = %g, ε = %g: ln δ = %.17g, exact %.17g", nu, eps, got, Float(Log(exact)))
			}
		}
	}
}

// For ν = 2, χ² has the density e^{−x/2}/2: without the record the other side has no mass below s, and its density is
// e^{−s/2} of the one with the record above. δ is never below what follows, and hardly above.
func TestTwoDegreesAreExact(t *testing.T) {
	for _, s := range []float64{1e-6, 0.1, 1, 7, 60} {
		for _, eps := range []float64{math.Inf(-1), -40, -1, -1e-3, 0, 1e-3, 0.4, 3, 29, math.Inf(1)} {
			below := Neg(Expm1(New(-s / 2)))
			for _, d := range privacy.Directions {
				exact := Int(0)
				switch e := max(-700, min(700, eps)); {
				case d == privacy.Add && eps > -s/2: // (e^{−s/2} − e^{−s/2}·e^ε·e^{s/2})₊ is nothing above s
					exact = below
				case d == privacy.Add:
					exact = Sub(Int(1), Exp(New(e)))
				case eps < s/2:
					exact = Neg(Expm1(New(e - s/2)))
				}
				got := (shift{2, s}).LogDeltaUpper(d, eps)
				if exact.Sign() == 0 {
					if got > -600 {
						t.Errorf("s = %g, ε = %g, %v: ln δ = %g, exact −∞", s, eps, d, got)
					}
					continue
				}
				room := 3e-10 / Float(exact) // a difference of two that are known to 1e-10
				if d == privacy.Add && eps >= 0 {
					room = 1e-11
				}
				if want := Log(exact); !Above(got, want) || Float(Sub(New(got), want)) > room {
					t.Errorf("s = %g, ε = %g, %v: ln δ = %.17g, exact %.17g", s, eps, d, got, Float(want))
				}
			}
		}
	}
}

// A quantile below the range of float64 is 0, which is one rounded down: γ itself may be any logarithm.
func TestQuantilesBelowTheRange(t *testing.T) {
	for _, p := range []float64{0.5, 1, 7.5} {
		for _, y := range []float64{-746 * (p + 1), -1e4, -1e300} {
			if x := inverseLowerGamma(y, p); x != 0 {
				t.Errorf("γ⁻¹(%g, %g) = %g, want 0", y, p, x)
			}
		}
	}
	for _, w := range []Wishart{{1000, 1001}, {40000, 40001}} {
		c, err := w.Constants(1e-322, 1e-322, 0.1)
		if err != nil || !(c.Alpha >= 0 && c.Alpha < 1e-300 && c.Alpha1 >= 0) {
			t.Errorf("%v: α = %g, α₁ = %g, %v", w, c.Alpha, c.Alpha1, err)
		}
		s := Setting{Wishart: w, Smoothness: 1, Rank: 1, Accounting: Theorem31}
		n, err := s.Noise(Split{Epsilon1: 1, Delta1: 1e-322, Delta3: 1e-322})
		if !errors.Is(err, privacy.ErrUnsupported) {
			t.Errorf("%v: noise of %g, %v", w, n.Sigma2, err)
		}
	}
}
