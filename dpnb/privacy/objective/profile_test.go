package objective

import (
	"errors"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

func testCurves(t testing.TB) []Curve {
	t.Helper()
	var out []Curve
	for _, f := range []func() (Curve, error){
		func() (Curve, error) { return Logistic(1) },
		func() (Curve, error) { return Huber(1, 1) },
		func() (Curve, error) { return PseudoHuber(1, 1) },
		func() (Curve, error) { return ClippedProbit(1, 1) },
		func() (Curve, error) { return ClippedSquaredHinge(1, 1) },
		func() (Curve, error) { return Softplus(0.5, 2) },
		func() (Curve, error) { return ClippedPoisson(3, 1.5, 1) },
	} {
		c := must.Get(f())
		out = append(out, c)
	}
	l, _ := Logistic(1)
	c := must.Get(Clipped(l, 0.5))
	h, _ := PseudoHuber(1, 1)
	d := must.Get(Clipped(h, 0.7))
	return append(out, c, d)
}

// Each bound is at most the one before it, and the lower value is below all.
func TestBoundsAreOrdered(t *testing.T) {
	testscale.InTurn(t)
	for i, c := range testCurves(t) {
		s := c.Max()
		for _, set := range [][2]float64{{1.5 * s, 2}, {0.2 * s, 3}} {
			for _, eps := range []float64{0, 0.2, 1} {
				if i > 1 && (set[0] < s || eps == 0) {
					continue // slow to no purpose
				}
				for _, d := range privacy.Directions {
					prev, name := 0.0, "one"
					for _, b := range []Bound{KST12, RKW23, DTZ24, Pointwise, Integral, Tight} {
						if b == RKW23 && set[0] <= s {
							continue
						}
						p := profileOf(t, c, set[0], set[1], b)
						up, low := p.LogDeltaUpper(d, eps), p.LogDeltaLower(d, eps)
						// KST12 and RKW23 are different theorems; the rest is a chain. The slack is the quadrature's.
						slack := 1e-9
						if b == Integral || b == Tight {
							slack = 2e-3
						}
						if up > prev+slack && b != DTZ24 && b != RKW23 {
							t.Errorf("%v λ=%g σ=%g ε=%g %v: %v %g above %v %g", c, set[0], set[1], eps, d, b, up, name,
								prev)
						}
						if low > up {
							t.Errorf("%v %v: lower %g above upper %g", c, b, low, up)
						}
						if b == Tight && up-low > 0.006 {
							t.Errorf("%v λ=%g σ=%g ε=%g %v: gap %g", c, set[0], set[1], eps, d, up-low)
						}
						prev, name = up, b.String()
						if b == KST12 || b == RKW23 {
							prev = 0
						}
					}
				}
			}
		}
	}
}

// No NaN, nothing above 0, monotone in ε up to the gap, at every extreme.
func TestExtremes(t *testing.T) {
	testscale.Slow(t)
	grid := []float64{-1e3, -1, -1e-3, 0, 1e-3, 0.3, 3, 30, 1e3}
	curves := testCurves(t)
	if !testscale.Full() {
		curves, grid = curves[:2], []float64{-50, -1e-3, 0.1, 1, 1e3}
	}
	for i, c := range curves {
		for _, set := range [][2]float64{{5, 5}, {1e-3, 1}, {1e6, 1e-2}, {1, 1e4}} {
			for _, b := range Bounds {
				if i > 1 && b >= Pointwise && b <= Tight || b == Tight && set[0] < 1 {
					continue // slow to no purpose
				}
				p, err := New(Config{Curve: c, Lambda: set[0], Sigma: set[1], Bound: b})
				if err != nil {
					if b == RKW23 {
						continue
					}
					t.Fatal(err)
				}
				for _, d := range privacy.Directions {
					prev := 0.0
					for _, eps := range grid {
						up, low := p.LogDeltaUpper(d, eps), p.LogDeltaLower(d, eps)
						if math.IsNaN(up) || math.IsNaN(low) || up > 0 || low > up {
							t.Fatalf("%v λ=%g σ=%g %v %v ε=%g: [%g, %g]", c, set[0], set[1], b, d, eps, low, up)
						}
						if eps > 0 && b != Integral && up > prev+0.008+1e-9*math.Abs(prev) {
							t.Errorf("%v λ=%g σ=%g %v %v ε=%g: ln δ rises from %g to %g", c, set[0], set[1], b, d, eps,
								prev, up)
						}
						prev = up
					}
				}
			}
		}
	}
}

func TestNamesAndErrors(t *testing.T) {
	for _, b := range Bounds {
		if got, err := ParseBound(b.String()); err != nil || got != b {
			t.Errorf("%v: %v, %v", b, got, err)
		}
	}
	if _, err := ParseBound("best"); err == nil {
		t.Error("no error for an unknown bound")
	}
	l, _ := Logistic(1)
	for i, c := range []Config{
		{},
		{Curve: l, Sigma: 1, Bound: Tight},
		{Curve: l, Lambda: 1, Bound: Tight},
		{Curve: l, Lambda: 1, Sigma: 1},
		{Curve: l, Lambda: 0.25, Sigma: 1, Bound: RKW23},
		{Curve: l, Lambda: math.NaN(), Sigma: 1, Bound: Tight},
	} {
		var pe *privacy.ParamError
		if _, err := New(c); !errors.As(err, &pe) {
			t.Errorf("case %d: %v", i, err)
		}
	}
}

// A list computed in parallel is what one by one gives, bit by bit.
func TestParallelIsTheSame(t *testing.T) {
	l, _ := Logistic(1)
	eps := []float64{0.05, 0.1, 0.2, 0.4, 0.8, 1.6}
	a, b := profileOf(t, l, 0.1, 2, Tight), profileOf(t, l, 0.1, 2, Tight)
	b.answers = new(answers) // computed, not remembered
	low, up := make([]float64, len(eps)), make([]float64, len(eps))
	parallel.Each(len(eps), 0, func(i int) {
		low[i], up[i] = a.LogDeltaLower(privacy.Remove, eps[i]), a.LogDeltaUpper(privacy.Remove, eps[i])
	})
	for i := len(eps) - 1; i >= 0; i-- {
		if b.LogDeltaUpper(privacy.Remove, eps[i]) != up[i] || b.LogDeltaLower(privacy.Remove, eps[i]) != low[i] {
			t.Errorf("ε = %g differs", eps[i])
		}
	}
}

func benchmarkProfile(b *testing.B, c Curve, lambda, sigma, top float64) {
	eps := make([]float64, 200)
	for i := range eps {
		eps[i] = top * float64(i+1) / float64(len(eps))
	}
	for b.Loop() {
		p := profileOf(b, c, lambda, sigma, Tight)
		p.answers = new(answers)
		parallel.Each(2*len(eps), 0, func(i int) { p.LogDeltaUpper(privacy.Directions[i%2], eps[i/2]) })
	}
}

// 200 values of ε in both directions.
func BenchmarkProfile(b *testing.B) {
	l, _ := Logistic(1)
	h, _ := Huber(1, 1)
	b.Run("logistic/gaussian-case", func(b *testing.B) { benchmarkProfile(b, l, 2, 2, 4) })
	b.Run("logistic/lambda=0.25,sigma=2", func(b *testing.B) { benchmarkProfile(b, l, 0.25, 2, 4) })
	b.Run("logistic/lambda=0.1,sigma=4", func(b *testing.B) { benchmarkProfile(b, l, 0.1, 4, 3) })
	b.Run("huber/lambda=5,sigma=5", func(b *testing.B) { benchmarkProfile(b, h, 5, 5, 1) })
	b.Run("huber/lambda=1,sigma=2", func(b *testing.B) { benchmarkProfile(b, h, 1, 2, 2) })
}

// What a program changes in a curve is another curve, for which nothing is remembered, and changes no other's.
func TestChangedCurves(t *testing.T) {
	delta := func(c *loss.Curve) float64 {
		p := must.Get(New(Config{Curve: c, Lambda: 1, Sigma: 3, Bound: Tight}))
		return math.Exp(p.LogDeltaUpper(privacy.Remove, 0.5))
	}
	curve := func(radius float64) *loss.Curve { return must.Get(loss.CurveOf(loss.Huber{Threshold: 1}, radius)) }
	own := curve(1)
	first := delta(own)
	if again := curve(1); again == own || again.Same() == nil || again.Same() != own.Same() || delta(again) != first {
		t.Error("a curve that is made again is not the same")
	}
	own.Lo, own.Hi = -2, 2
	wide := delta(&loss.Curve{Name: "by hand", Lo: -2, Hi: 2, Sup: own.Sup, Antiderivative: own.Antiderivative})
	if got := delta(own); !(math.Abs(got/wide-1) <= 1e-3 && wide > 1.5*first) {
		t.Errorf("changed: δ = %v, want %v, not %v", got, wide, first)
	}
	own = curve(1)
	own.Sup = curve(2).Sup
	if own.Same() != nil || curve(1).Same() == nil || delta(curve(1)) != first {
		t.Error("a curve that was changed is taken for what it was, or changes others")
	}
}
