package loss

import (
	"errors"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/normal"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// scalarLoss is |f′| (or f′) and f″ as functions of t, by their definitions.
type scalarLoss struct {
	name          string
	curve         *Curve
	err           error
	radius, clip  float64
	slope, second func(t float64) float64
}

func scalarLosses() []scalarLoss {
	mk := func(name string, c *Curve, err error, radius, clip float64, slope, second func(float64) float64) scalarLoss {
		return scalarLoss{name, c, err, radius, clip, slope, second}
	}
	sig := func(t float64) float64 { return 1 / (1 + math.Exp(-t)) }
	var out []scalarLoss
	for _, r := range []float64{1, math.Sqrt2, 0.3} {
		c, err := CurveOf(Logistic{}, r)
		out = append(out, mk("logistic", c, err, r, 0, sig, func(t float64) float64 { return sig(t) * sig(-t) }))
		c, err = CurveOf(Softplus{Width: 0.25}, r)
		out = append(out, mk("softplus", c, err, r, 0, func(t float64) float64 { return sig(t / 0.25) },
			func(t float64) float64 { return sig(t/0.25) * sig(-t/0.25) / 0.25 }))
		c, err = CurveOf(Huber{Threshold: 1.5}, r)
		out = append(out, mk("huber", c, err, r, 0, func(t float64) float64 { return max(-1.5, min(1.5, t)) },
			func(t float64) float64 {
				if math.Abs(t) <= 1.5 {
					return 1
				}
				return 0
			}))
		c, err = CurveOf(PseudoHuber{Threshold: 0.7}, r)
		out = append(out, mk("pseudo-huber", c, err, r, 0,
			func(t float64) float64 { return t / math.Sqrt(1+t*t/0.49) },
			func(t float64) float64 { return math.Pow(1+t*t/0.49, -1.5) }))
		c, err = CurveOf(SmoothPinball{Tau: 0.3, Width: 0.25}, r)
		out = append(out, mk("smooth pinball", c, err, r, 0, func(t float64) float64 { return sig(t/0.25) - 0.3 },
			func(t float64) float64 { return sig(t/0.25) * sig(-t/0.25) / 0.25 }))
		for _, l := range []Convolved{
			convolvedPinball(0.3, smoothing.Uniform{}, 0.5), convolvedPinball(0.3, smoothing.Cosine{}, 0.5),
			convolvedPinball(0.8, smoothing.Gaussian{}, 0.5),
			convolvedPinball(0.3, smoothing.Logistic{}, 0.5), convolvedPinball(0.3, smoothing.Laplacian{}, 0.5),
			Absolute(smoothing.Free{Epsilon: 1}, 0.5),
			Absolute(smoothing.Logistic{}, 0.5), {smoothing.Laplacian{}, 0.5, -1, 0}, {smoothing.Gaussian{}, 0.5, 0, 2},
		} {
			sign := 1.0
			if l.Above == 0 {
				sign = -1
			}
			c, err = CurveOf(l, r)
			out = append(out, mk(l.Name(), c, err, r, 0, func(t float64) float64 { return sign * slope(l, t, 0) },
				func(t float64) float64 { return curvature(l, t, 0) }))
		}
		c, err = CurveOf(SmoothedHinge{Width: 0.5}, r)
		out = append(out, mk("smoothed hinge", c, err, r, 0, func(t float64) float64 { return max(0, min(1, t/0.5)) },
			func(t float64) float64 {
				if t >= 0 && t <= 0.5 {
					return 2
				}
				return 0
			}))
		c, err = CurveOf(Clipped(SquaredHinge{}, 0.8/r), r)
		out = append(out, mk("squared hinge", c, err, r, 0.8, func(t float64) float64 { return max(0, t) },
			func(t float64) float64 {
				if t >= 0 {
					return 1
				}
				return 0
			}))
		hazard := func(v float64) float64 { return 1 / normal.Mills(v) }
		c, err = CurveOf(Clipped(Probit{}, 1.2/r), r)
		out = append(out, mk("probit", c, err, r, 1.2, hazard,
			func(v float64) float64 { return hazard(v) * (hazard(v) - v) }))
		for _, level := range []float64{0.8, 2, 5} {
			// The label with the most curvature; others are in TestPoissonCurve.
			c, err = CurveOf(Clipped(Poisson{MaxCount: 3}, level), r)
			out = append(out, mk("poisson", c, err, r, level*r, func(t float64) float64 { return math.Exp(t) - 3 },
				math.Exp))
		}
		c, err = CurveOf(Clipped(Logistic{}, 0.6), r)
		out = append(out, mk("clipped logistic", c, err, r, 0.6*r, sig,
			func(t float64) float64 { return sig(t) * sig(-t) }))
	}
	return out
}

// S̄ against a search over ‖x‖, t, and both against Bounds and Clock.
func TestCurveBruteForce(t *testing.T) {
	for _, l := range scalarLosses() {
		if l.err != nil {
			t.Fatal(l.name, l.err)
		}
		lo, hi := l.curve.Range()
		worst := make([]float64, 60)
		bin := func(g float64) int { return int((g - lo) / (hi - lo) * float64(len(worst))) }
		largest := 0.0
		for i := 1; i <= 16; i++ {
			rho := l.radius * float64(i) / 16
			for tt := -12.0; tt <= 12; tt += 0.005 {
				g, s := rho*l.slope(tt), rho*rho*l.second(tt)
				if l.clip > 0 && math.Abs(g) >= l.clip {
					continue
				}
				if g < lo-1e-12 || g > hi+1e-12 {
					t.Fatalf("%s: slope %g outside [%g, %g]", l.name, g, lo, hi)
				}
				g = max(lo, min(hi, g))
				if up := l.curve.SBar(g); s > up*(1+1e-9)+1e-12 {
					t.Fatalf("%s R=%g: S = %g above S̄(%g) = %g", l.name, l.radius, s, g, up)
				}
				if b := bin(g); b < len(worst) {
					worst[b] = max(worst[b], s/math.Max(l.curve.SBar(g), 1e-12))
				}
				largest = max(largest, s)
			}
		}
		if m := l.curve.Max(); largest > m*(1+1e-9) || largest < 0.97*m {
			t.Errorf("%s: largest S %g, Max %g", l.name, largest, m)
		}
		for b, r := range worst {
			// Reached, but for the ends of the range.
			if b > 2 && b < len(worst)-3 && r < 0.98 {
				t.Errorf("%s R=%g: S̄ is not reached in bin %d: %g", l.name, l.radius, b, r)
			}
		}
		for i := 0; i < 40; i++ {
			g0 := lo + (hi-lo)*float64(i)/41
			g1 := g0 + (hi-lo)/41
			low, up := l.curve.Bounds(g0, g1)
			sum := 0.0
			const n = 400
			for j := 0; j < n; j++ {
				s := l.curve.SBar(g0 + (g1-g0)*(float64(j)+0.5)/n)
				if s < low || s > up {
					t.Fatalf("%s: S̄ outside Bounds", l.name)
				}
				if k, g := l.curve.Falls(), g0+(g1-g0)*(float64(j)+0.5)/n; k > 0 &&
					s > k*math.Min(hi-g, g-lo)*(1+1e-12) {
					t.Fatalf("%s: S̄ = %g at %g, which falls faster than Falls says", l.name, s, g)
				}
				sum += (g1 - g0) / n / s
			}
			if d := l.curve.Clock(g1) - l.curve.Clock(g0); i > 0 && i < 39 && !(math.Abs(d/sum-1) <= 1e-4) {
				t.Errorf("%s: clock difference %g, ∫1/S̄ = %g", l.name, d, sum)
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
		c, err := CurveOf(SmoothPinball{Tau: 0.3, Width: 0.5}, 2)
		if err != nil {
			t.Fatal(err)
		}
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
