package loss

import (
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// curved is a loss, cut at a level where there is one, of rows up to a radius, and a label: of counts the one with the
// most curvature; others are in TestPoissonCurve.
type curved struct {
	loss          Loss
	label         float64
	level, radius float64
}

func curvedLosses() []curved {
	var out []curved
	for _, r := range []float64{1, math.Sqrt2, 0.3} {
		for _, l := range []curved{
			{loss: SmoothPinball{Tau: 0.3, Width: 0.25}}, {loss: Huber{1.5}}, {loss: PseudoHuber{0.7}},
			{loss: convolvedPinball(0.3, smoothing.Uniform{}, 0.5)},
			{loss: convolvedPinball(0.3, smoothing.Cosine{}, 0.5)},
			{loss: convolvedPinball(0.8, smoothing.Gaussian{}, 0.5)},
			{loss: convolvedPinball(0.3, smoothing.Logistic{}, 0.5)},
			{loss: convolvedPinball(0.3, smoothing.Laplacian{}, 0.5)},
			{loss: Absolute(smoothing.Free{Epsilon: 1}, 0.5)}, {loss: Absolute(smoothing.Logistic{}, 0.5)},
			{loss: Convolved{smoothing.Laplacian{}, 0.5, -1, 0}},
			{loss: Convolved{smoothing.Gaussian{}, 0.5, 0, 2}},
			{loss: Logistic{}, label: -1}, {loss: Logistic{}, label: -1, level: 0.6},
			{loss: Softplus{Width: 0.25}, label: -1}, {loss: SmoothedHinge{0.5}, label: -1},
			{loss: SquaredHinge{}, label: -1, level: 0.8 / r}, {loss: Probit{}, label: -1, level: 1.2 / r},
			{loss: Poisson{3}, label: 3, level: 0.8}, {loss: Poisson{3}, label: 3, level: 2},
			{loss: Poisson{3}, label: 3, level: 5},
		} {
			l.radius = r
			out = append(out, l)
		}
	}
	return out
}

// S̄ against a search over ‖x‖, t, and both against Bounds and Clock.
func TestCurveBruteForce(t *testing.T) {
	testscale.Slow(t)
	for _, l := range curvedLosses() {
		of, name := l.loss, l.loss.Name()
		if l.level > 0 {
			of = Clipped(of, l.level)
		}
		curve, err := CurveOf(of, l.radius)
		if err != nil {
			t.Fatal(name, err)
		}
		lo, hi := curve.Range()
		at := floats.Span(make([]float64, 4801), -12, 12)
		labels := slices.Repeat([]float64{l.label}, len(at))
		slopes, curvatures := make([]float64, len(at)), make([]float64, len(at))
		l.loss.ValueSlope(slopes, at, labels)
		l.loss.Curvature(curvatures, at, labels)
		worst := make([]float64, 60)
		bin := func(g float64) int { return int((g - lo) / (hi - lo) * float64(len(worst))) }
		largest := 0.0
		for i := 1; i <= 16; i++ {
			rho := l.radius * float64(i) / 16
			for j := range at {
				g, s := rho*slopes[j], rho*rho*curvatures[j]
				if l.level > 0 && math.Abs(g) >= l.level*l.radius {
					continue
				}
				if lo == 0 { // slopes of one sign: |f′|
					g = math.Abs(g)
				}
				if g < lo-1e-12 || g > hi+1e-12 {
					t.Fatalf("%s: slope %g outside [%g, %g]", name, g, lo, hi)
				}
				g = max(lo, min(hi, g))
				if up := curve.SBar(g); s > up*(1+1e-9)+1e-12 {
					t.Fatalf("%s R=%g: S = %g above S̄(%g) = %g", name, l.radius, s, g, up)
				}
				if b := bin(g); b < len(worst) {
					worst[b] = max(worst[b], s/math.Max(curve.SBar(g), 1e-12))
				}
				largest = max(largest, s)
			}
		}
		if m := curve.Max(); largest > m*(1+1e-9) || largest < 0.97*m {
			t.Errorf("%s: largest S %g, Max %g", name, largest, m)
		}
		for b, r := range worst {
			// Reached, but for the ends of the range.
			if b > 2 && b < len(worst)-3 && r < 0.98 {
				t.Errorf("%s R=%g: S̄ is not reached in bin %d: %g", name, l.radius, b, r)
			}
		}
		for i := 0; i < 40; i++ {
			g0 := lo + (hi-lo)*float64(i)/41
			g1 := g0 + (hi-lo)/41
			low, up := curve.Bounds(g0, g1)
			sum := 0.0
			const n = 400
			for j := 0; j < n; j++ {
				s := curve.SBar(g0 + (g1-g0)*(float64(j)+0.5)/n)
				if s < low || s > up {
					t.Fatalf("%s: S̄ outside Bounds", name)
				}
				if k, g := curve.Falls(), g0+(g1-g0)*(float64(j)+0.5)/n; k > 0 &&
					s > k*math.Min(hi-g, g-lo)*(1+1e-12) {
					t.Fatalf("%s: S̄ = %g at %g, which falls faster than Falls says", name, s, g)
				}
				sum += (g1 - g0) / n / s
			}
			if d := curve.Clock(g1) - curve.Clock(g0); i > 0 && i < 39 && !(math.Abs(d/sum-1) <= 1e-4) {
				t.Errorf("%s: clock difference %g, ∫1/S̄ = %g", name, d, sum)
			}
		}
	}
}

func TestCurveErrors(t *testing.T) {
	for _, c := range []struct {
		l      Loss
		radius float64
	}{
		{Logistic{}, -1}, {Huber{}, 1}, {PseudoHuber{Threshold: 1}, math.NaN()}, {Clipped(Probit{}, math.Inf(1)), 1},
		{Clipped(Logistic{}, 0), 1}, {Clipped(Poisson{}, 1), 1}, {Clipped(Poisson{MaxCount: 3}, math.NaN()), 1},
		{Clipped(Poisson{MaxCount: 3}, 1), -1}, {Clipped(Poisson{MaxCount: 1e200}, 1e-200), 1e200}, {Squared{}, 1},
	} {
		if curve, err := CurveOf(c.l, c.radius); !errors.Is(err, ErrNoCurve) {
			t.Errorf("%s, R = %v: %v, %v", c.l.Name(), c.radius, curve, err)
		}
	}
	l, _ := CurveOf(Logistic{}, 1)
	if l.Clip(5) != l {
		t.Error("clipping above the largest slope changes nothing")
	}
}

// A curve that was made again is the same, and one of which anything was changed is not, be it a function for another
// that agrees with it wherever one looks.
func TestSameCurves(t *testing.T) {
	make := func() *Curve {
		c := must.Get(CurveOf(SmoothPinball{Tau: 0.3, Width: 0.5}, 2))
		return c
	}
	first := make()
	if again := make(); again == first || first.Same() == nil || again.Same() != first.Same() {
		t.Error("a curve that is made again is another")
	}
	sup, anti := first.Sup, first.Antiderivative
	for name, change := range map[string]func(c *Curve){
		"name": func(c *Curve) { c.Name += "!" }, "lower": func(c *Curve) { c.Lo *= 2 },
		"upper": func(c *Curve) { c.Hi *= 2 }, "peak": func(c *Curve) { c.Peak++ },
		"quadratic": func(c *Curve) { c.Quadratic++ }, "fall": func(c *Curve) { c.Fall++ },
		"symmetric": func(c *Curve) { c.Symmetric = !c.Symmetric }, "cut": func(c *Curve) { c.cut++ },
		"supremum":       func(c *Curve) { c.Sup = func(g float64) float64 { return sup(g) } },
		"antiderivative": func(c *Curve) { c.Antiderivative = func(g float64) float64 { return anti(g) } },
		"none":           func(c *Curve) { c.Sup = nil },
		"by hand":        func(c *Curve) { c.of = nil },
	} {
		c := make()
		if change(c); c.Same() != nil {
			t.Errorf("%s changed: taken for what it was", name)
		}
	}
}
