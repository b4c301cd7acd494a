package normal

import (
	"math"
	"math/rand/v2"
	"testing"

	ref "github.com/dpnb/notebooks/dpnb/internal/testing/bigref"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

// The functions of the normal law against 512 binary digits over their whole range. The limits are what slacks above
// allow for.
func TestErrorsOfTheNormalLaw(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	between := func(a, b float64) float64 { return math.Exp(math.Log(a) + r.Float64()*(math.Log(b)-math.Log(a))) }
	relative := func(got float64, exact ref.F) float64 {
		return math.Abs(ref.Float(ref.Sub(ref.Quo(ref.New(got), exact), ref.Int(1))))
	}
	absolute := func(got float64, exact ref.F) float64 {
		return math.Abs(ref.Float(ref.Sub(ref.New(got), exact))) / (1 + math.Abs(got))
	}
	anywhere := func() float64 { return []float64{10*r.Float64() - 5, between(1e-20, 5), between(5, 40)}[r.IntN(3)] }
	n := 60
	if !testscale.Full() {
		n = 15
	}
	for _, c := range []struct {
		name  string
		limit float64
		error func() (float64, float64)
	}{
		{"PDF, relative, |x| < 37", 3e-15, func() (float64, float64) {
			x := 74*r.Float64() - 37
			return x, relative(PDF(x), ref.PDF(ref.New(x)))
		}},
		{"Mills, relative", 1e-14, func() (float64, float64) {
			x := anywhere()
			if r.IntN(4) == 0 {
				x = between(40, 1e12)
			}
			return x, relative(Mills(x), ref.Mills(ref.New(x)))
		}},
		{"Survival, relative to 1 + x²", 1e-15, func() (float64, float64) {
			x := math.Min(anywhere(), 37)
			return x, relative(Survival(x), ref.Survival(ref.New(x))) / (1 + x*x)
		}},
		{"LogSurvival, relative to 1 + |ln Φ̄|", 2e-15, func() (float64, float64) {
			x := anywhere()
			if r.IntN(4) == 0 {
				x = between(40, 1e4)
			}
			return x, absolute(LogSurvival(x), ref.Log(ref.Survival(ref.New(x))))
		}},
		{"millsDiff, relative", 2e-14, func() (float64, float64) {
			m, h := between(1e-12, 1e3), between(1e-30, 30)
			if r.IntN(3) == 0 {
				m = between(0.5, 8) // where the three ways meet
				h = m * between(0.1, 2)
			}
			if m-h < -4 {
				h = m + 4*r.Float64()
			}
			exact := ref.Sub(ref.Mills(ref.Sub(ref.New(m), ref.New(h))), ref.Mills(ref.Sum(ref.New(m), ref.New(h))))
			return m, relative(millsDiff(m, h), exact)
		}},
		{"LogMillsDiff, relative to 1 + its size", 1e-14, func() (float64, float64) {
			m, h := between(1e3, 1e60), between(1e-80, 1)
			// 2h/m² but for relative terms of 3/m² and (h/m)²
			y := ref.Quo(ref.Int(1), ref.Product(ref.New(m), ref.New(m)))
			exact := ref.Log(ref.Product(ref.Int(2), ref.New(h), y))
			return m, math.Max(0, absolute(LogMillsDiff(m, h), exact)-4/(m*m)-h/m*h/m)
		}},
	} {
		worst, at := 0.0, 0.0
		for range n {
			if x, e := c.error(); !(e <= worst) {
				worst, at = e, x
			}
		}
		t.Logf("%-40s %.2g at %g", c.name, worst, at)
		if !(worst <= c.limit) {
			t.Errorf("%s: %.2g at %g, allowed %.2g", c.name, worst, at, c.limit)
		}
	}
	// Beyond the range of float64: 2h/m².
	for _, h := range []float64{1e-100, 1} {
		got, want := LogMillsDiff(1e150, h), math.Log(2*h)-300*math.Ln10
		if !(math.Abs(got/want-1) <= 1e-14) {
			t.Errorf("LogMillsDiff(1e150, %g) = %v, want %v", h, got, want)
		}
	}
}
