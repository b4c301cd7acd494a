package loss

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/diff/fd"

	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/internal/weight"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// entry is a loss with labels and predictors to try it on.
type entry struct {
	loss   Loss
	labels []float64
	// kinks of f′, where differences of the slope say nothing.
	kinks func(y float64) []float64
	// lo, hi is the range of t in which the constants are reached.
	lo, hi float64
	// outside is a label that it must refuse.
	outside []float64
}

func atMargins(m ...float64) func(y float64) []float64 {
	return func(y float64) []float64 {
		var out []float64
		for _, v := range m {
			out = append(out, y*v)
		}
		return out
	}
}

func atResiduals(v float64) func(y float64) []float64 {
	return func(y float64) []float64 { return []float64{y - v, y + v} }
}

func smooth(float64) []float64 { return nil }

// foreign hides what a loss knows of its clip points, as a loss of another package would.
type foreign struct{ Loss }

// losses is every loss, and every loss clipped, with the clip points written out by hand as kinks.
func losses() []entry {
	signs, reals, counts := []float64{-1, 1}, []float64{-3, 0, 0.7, 12}, []float64{0, 1, 2, 7}
	notSign, notReal := []float64{0, 2, math.NaN(), math.Inf(1)}, []float64{math.NaN(), math.Inf(1), math.Inf(-1)}
	notCount := []float64{-1, 0.5, 8, math.NaN(), math.Inf(1)}
	poissonKinks := func(c float64) func(float64) []float64 {
		return func(y float64) []float64 { return []float64{math.Log(y + c), math.Log(math.Max(1e-300, y-c))} }
	}
	// h(v) = 0.7 and h(v) = 3, from the defining equation.
	probitAt := func(c float64) float64 {
		_, v := univariate.Bisect(func(v float64) bool {
			return math.Exp(-v*v/2)/math.Sqrt(2*math.Pi)/(0.5*math.Erfc(v/math.Sqrt2)) >= c
		}, -9, 9, univariate.Arithmetic, 0)
		return v
	}
	return []entry{
		{Logistic{}, signs, smooth, -40, 40, notSign},
		{Softplus{Width: 0.5}, signs, smooth, -40, 40, notSign},
		{Softplus{Width: 0.5, Margin: 1.7}, signs, smooth, -40, 40, notSign},
		{SquaredHinge{}, signs, atMargins(1), -40, 40, notSign},
		{SmoothedHinge{0.5}, signs, atMargins(1, 0.5), -40, 40, notSign},
		{Probit{}, signs, smooth, -40, 40, notSign},
		{Squared{}, reals, smooth, -40, 40, notReal},
		{Huber{1.5}, reals, atResiduals(1.5), -40, 40, notReal},
		{PseudoHuber{1.5}, reals, smooth, -40, 40, notReal},
		{SmoothPinball{0.3, 0.7}, reals, smooth, -40, 40, notReal},
		{Clipped(SmoothPinball{0.5, 0.7}, 0.3), reals, atResiduals(0.7 * math.Log(4)), -40, 40, notReal},
		{Absolute(smoothing.Logistic{}, 0.7), reals, smooth, -40, 40, notReal},
		{Absolute(smoothing.Uniform{}, 0.7), reals, atResiduals(0.7), -40, 40, notReal},
		{Absolute(smoothing.Free{Epsilon: 0.8}, 0.7), reals, atResiduals(0), -40, 40, notReal},
		{convolvedPinball(0.3, smoothing.Laplacian{}, 0.7), reals, atResiduals(0), -40, 40, notReal},
		{convolvedPinball(0.3, smoothing.Gaussian{}, 0.7), reals, smooth, -40, 40, notReal},
		{convolvedPinball(0.8, smoothing.Cosine{}, 0.7), reals, atResiduals(0.35 * math.Pi), -40, 40, notReal},
		{Convolved{smoothing.Gaussian{}, 0.7, -1, 0}, reals, smooth, -40, 40, notReal},
		{Clipped(Absolute(smoothing.Laplacian{}, 0.7), 0.5), reals,
			func(y float64) []float64 { return []float64{y, y - 0.7*math.Ln2, y + 0.7*math.Ln2} }, -40, 40, notReal},
		{Poisson{7}, counts, smooth, -40, 5, notCount},

		{Clipped(Logistic{}, 0.3), signs, atMargins(math.Log(0.7 / 0.3)), -40, 40, notSign},
		{Clipped(Logistic{}, 0.8), signs, atMargins(-math.Log(4)), -40, 40, notSign},
		{Clipped(Softplus{Width: 0.5}, 0.8), signs, atMargins(1 - 0.5*math.Log(4)), -40, 40, notSign},
		{Clipped(SquaredHinge{}, 2.5), signs, atMargins(1, -1.5), -40, 40, notSign},
		{Clipped(SmoothedHinge{0.5}, 0.6), signs, atMargins(1, 0.7), -40, 40, notSign},
		{Clipped(Probit{}, 0.7), signs, atMargins(-probitAt(0.7)), -40, 40, notSign},
		{Clipped(Probit{}, 3), signs, atMargins(-probitAt(3)), -40, 40, notSign},
		{Clipped(Squared{}, 2), reals, atResiduals(2), -40, 40, notReal},
		{Clipped(Huber{1.5}, 0.5), reals, atResiduals(0.5), -40, 40, notReal},
		{Clipped(PseudoHuber{1.5}, 1.2), reals, atResiduals(1.5 * 0.8 / 0.6), -40, 40, notReal},
		{Clipped(Poisson{7}, 1.5), counts, poissonKinks(1.5), -40, 40, notCount},
		{Clipped(foreign{PseudoHuber{1.5}}, 1.2), reals, atResiduals(1.5 * 0.8 / 0.6), -40, 40, notReal},
		{Weighted{Logistic{}}, []float64{weight.With(-1, 1), weight.With(1, 1), weight.With(1, 0.3)}, smooth, -40, 40,
			[]float64{weight.With(2, 1), weight.With(0.5, 0.5), math.Nextafter(weight.With(1, 1), 2), math.NaN()}},
		{Clipped(Weighted{Squared{}}, 2), []float64{weight.With(0.7, 1), weight.With(-3, 0.5)}, atResiduals(2), -40, 40,
			notReal},
		{Clipped(foreign{Logistic{}}, 0.8), signs, atMargins(-math.Log(4)), -40, 40, notSign},
	}
}

func value(l Loss, t, y float64) float64 {
	return l.ValueSlope(make([]float64, 1), []float64{t}, []float64{y})
}

func slope(l Loss, t, y float64) float64 {
	s := make([]float64, 1)
	l.ValueSlope(s, []float64{t}, []float64{y})
	return s[0]
}

func curvature(l Loss, t, y float64) float64 {
	c := make([]float64, 1)
	l.Curvature(c, []float64{t}, []float64{y})
	return c[0]
}

// faults compares slope and curvature with differences, looks for convexity, and holds the constants against the
// largest values seen.
func faults(c entry) []string {
	var out []string
	say := func(format string, a ...any) {
		out = append(out, c.loss.Name()+": "+fmt.Sprintf(format, a...))
	}
	var maxSlope, maxCurv float64
	for _, y := range c.labels {
		kinks := c.kinks(y)
		for _, k := range kinks {
			for _, x := range []float64{k - 1e-3, k + 1e-3} {
				maxSlope, maxCurv = math.Max(maxSlope, math.Abs(slope(c.loss, x, y))),
					math.Max(maxCurv, curvature(c.loss, x, y))
			}
		}
		last := math.Inf(-1)
		for x := c.lo; x <= c.hi; x += 0.053 {
			near := false
			for _, k := range kinks {
				near = near || math.Abs(x-k) < 1e-4
			}
			s, h := slope(c.loss, x, y), curvature(c.loss, x, y)
			ds := fd.Derivative(func(u float64) float64 { return value(c.loss, u, y) }, x,
				&fd.Settings{Formula: fd.Central})
			if !near && math.Abs(s-ds) > 1e-6*(1+math.Abs(s)) {
				say("slope at %v, y=%v is %v, differences say %v", x, y, s, ds)
			}
			dh := fd.Derivative(func(u float64) float64 { return slope(c.loss, u, y) }, x,
				&fd.Settings{Formula: fd.Central})
			if !near && math.Abs(h-dh) > 1e-6*(1+math.Abs(h)) {
				say("curvature at %v, y=%v is %v, differences say %v", x, y, h, dh)
			}
			if h < 0 || s < last {
				say("not convex at %v, y=%v", x, y)
			}
			last = s
			maxSlope, maxCurv = math.Max(maxSlope, math.Abs(s)), math.Max(maxCurv, h)
		}
	}
	check := func(name string, seen, constant float64) {
		if seen > constant || !math.IsInf(constant, 1) && seen < 0.99*constant || math.IsNaN(constant) {
			say("largest %s seen %v, the constant is %v", name, seen, constant)
		}
	}
	check("slope", maxSlope, c.loss.Lipschitz())
	check("curvature", maxCurv, c.loss.Smoothness())
	return out
}

func TestDerivativesAndConstants(t *testing.T) {
	testscale.Slow(t)
	for _, c := range losses() {
		for _, f := range faults(c) {
			t.Error(f)
		}
	}
}

// wrong is a loss with one thing about it falsified.
type wrong struct {
	Loss
	value, slope, curvature, lipschitz, smoothness float64
}

func (w wrong) ValueSlope(slope, t, y []float64) float64 {
	v := w.Loss.ValueSlope(slope, t, y)
	for i := range slope {
		slope[i] *= w.slope
	}
	return v * w.value
}

func (w wrong) Curvature(curv, t, y []float64) {
	w.Loss.Curvature(curv, t, y)
	for i := range curv {
		curv[i] *= w.curvature
	}
}

func (w wrong) Lipschitz() float64  { return w.Loss.Lipschitz() * w.lipschitz }
func (w wrong) Smoothness() float64 { return w.Loss.Smoothness() * w.smoothness }

// Whatever is falsified by two parts in a hundred is found out, for every loss.
func TestFalsificationsAreFound(t *testing.T) {
	testscale.InTurn(t)
	for _, c := range losses() {
		for which := range 5 {
			if which == 3 && math.IsInf(c.loss.Lipschitz(), 1) || which == 4 && math.IsInf(c.loss.Smoothness(), 1) {
				continue // there is no constant to falsify
			}
			for _, factor := range testscale.Some(0.98, 1.02) {
				f := [5]float64{1, 1, 1, 1, 1}
				f[which] = factor
				w := c
				w.loss = wrong{c.loss, f[0], f[1], f[2], f[3], f[4]}
				if which < 3 {
					w.lo, w.hi = -3, 3 // enough for derivatives
				}
				if len(faults(w)) == 0 {
					t.Errorf("%s with the factors %v passes", c.loss.Name(), f)
				}
			}
		}
	}
}

// A constant that is called infinite must be: the slope, or the curvature, passes every bound.
func TestUnboundedConstants(t *testing.T) {
	for _, c := range losses() {
		var s, h float64
		for _, y := range c.labels {
			for _, x := range []float64{-600, 600} {
				s = math.Max(s, math.Abs(slope(c.loss, x, y)))
				h = math.Max(h, curvature(c.loss, x, y))
			}
		}
		if math.IsInf(c.loss.Lipschitz(), 1) != (s > 500) {
			t.Errorf("%s: Lipschitz() = %v, slope %v far out", c.loss.Name(), c.loss.Lipschitz(), s)
		}
		if math.IsInf(c.loss.Smoothness(), 1) != (h > 500) {
			t.Errorf("%s: Smoothness() = %v, curvature %v far out", c.loss.Name(), c.loss.Smoothness(), h)
		}
	}
}

// Batches: the sum of the single values, the same slopes, and an output slice that may be the input.
func TestBatchesAndAliases(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range losses() {
		const n = 37
		x, y := make([]float64, n), make([]float64, n)
		want, sum, scale := make([]float64, n), 0.0, 0.0
		for i := range x {
			x[i], y[i] = 4*rng.NormFloat64(), c.labels[rng.IntN(len(c.labels))]
			v := value(c.loss, x[i], y[i])
			sum, scale, want[i] = sum+v, scale+math.Abs(v), slope(c.loss, x[i], y[i])
		}
		got := make([]float64, n)
		if v := c.loss.ValueSlope(got, x, y); !(math.Abs(v-sum) <= 1e-13*scale) {
			t.Errorf("%s: batch value %v, sum %v", c.loss.Name(), v, sum)
		}
		curv := make([]float64, n)
		c.loss.Curvature(curv, x, y)
		same := append([]float64(nil), x...)
		c.loss.ValueSlope(same, same, y)
		sameCurv := append([]float64(nil), x...)
		c.loss.Curvature(sameCurv, sameCurv, y)
		for i := range x {
			if got[i] != want[i] || same[i] != want[i] || curv[i] != sameCurv[i] || curv[i] != curvature(c.loss, x[i],
				y[i]) {
				t.Errorf("%s: record %d depends on the others or on the slices", c.loss.Name(), i)
			}
		}
	}
}

// Far out nothing is NaN, slopes stay within their bound, and the values go on as they must.
func TestExtremes(t *testing.T) {
	for _, c := range losses() {
		for _, y := range c.labels {
			for _, x := range []float64{0, 1e-300, -1e-300, 30, -30, 700, -700, 1e4, -1e4, 1e150, -1e150} {
				s, h, v := slope(c.loss, x, y), curvature(c.loss, x, y), value(c.loss, x, y)
				if math.IsNaN(s) || math.IsNaN(h) || math.IsNaN(v) || !(math.Abs(s) <= c.loss.Lipschitz()) ||
					h > c.loss.Smoothness() {
					t.Errorf("%s: at %v, y=%v: value %v slope %v curvature %v", c.loss.Name(), x, y, v, s, h)
				}
				if l := c.loss.Lipschitz(); !math.IsInf(l, 1) && !(math.Abs(v) <= l*(math.Abs(x)+math.Abs(y))+50) {
					t.Errorf("%s: value %v at %v grows faster than the slope allows", c.loss.Name(), v, x)
				}
			}
		}
	}
}

func TestLabels(t *testing.T) {
	for _, c := range losses() {
		for _, y := range c.labels {
			if !c.loss.ValidLabel(y) {
				t.Errorf("%s: label %v refused", c.loss.Name(), y)
			}
		}
		for _, y := range c.outside {
			if c.loss.ValidLabel(y) {
				t.Errorf("%s: label %v accepted", c.loss.Name(), y)
			}
		}
		if c.loss.Labels() == "" || c.loss.Name() == "" {
			t.Errorf("%T: no words", c.loss)
		}
	}
}

// A parameter out of range: no label is valid, no constant is a number.
func TestBadParameters(t *testing.T) {
	for _, p := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		for _, l := range []Loss{
			Huber{p}, PseudoHuber{p}, SmoothedHinge{p}, Softplus{Width: p}, Poisson{p},
			Absolute(smoothing.Gaussian{}, p), Absolute(nil, 1), Absolute(smoothing.Free{Epsilon: p}, 1),
			convolvedPinball(0.3, smoothing.Free{Epsilon: 1}, 1),
			convolvedPinball(-0.1, smoothing.Uniform{}, 1), convolvedPinball(1.1, smoothing.Uniform{}, 1),
			Convolved{smoothing.Uniform{}, 1, 0, 0}, Convolved{smoothing.Uniform{}, 1, -1, math.Inf(1)},
			Clipped(Absolute(smoothing.Gaussian{}, p), 0.5),
			Pinball{p}, Pinball{1}, Pinball{1 + p}, SmoothPinball{p, 1}, SmoothPinball{0.5, p},
			Clipped(Huber{p}, 1), Clipped(Poisson{p}, 1), Clipped(Clipped(Poisson{p}, 2), 1),
			Clipped(Logistic{}, negative(p)), Clipped(Squared{}, p), Clipped(Clipped(Squared{}, 2), negative(p)),
		} {
			if l.ValidLabel(1) || !math.IsNaN(l.Lipschitz()) || !math.IsNaN(l.Smoothness()) {
				t.Errorf("%s is accepted: Lipschitz %v, smoothness %v", l.Name(), l.Lipschitz(), l.Smoothness())
			}
			if !strings.Contains(l.Labels(), "first") {
				t.Errorf("%s: %q does not say what to do", l.Name(), l.Labels())
			}
		}
	}
}

// negative keeps +Inf, a fine level for a loss of bounded slope, out of the way.
func negative(p float64) float64 {
	if math.IsInf(p, 1) {
		return -1
	}
	return p
}

func BenchmarkValueSlope(b *testing.B) {
	n := 1024
	t, s := make([]float64, n), make([]float64, n)
	for _, c := range losses() {
		y := make([]float64, n)
		for i := range t {
			t[i], y[i] = math.Sin(float64(i))*5, c.labels[i%len(c.labels)]
		}
		b.Run(c.loss.Name(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.loss.ValueSlope(s, t, y)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/record")
		})
	}
}

// The first label that a loss is not made for is found wherever it is, whatever labels are beside it: what was looked
// at is known to the last bit, and nothing is taken for known before.
func TestInvalid(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		of     Joint
		labels []float64
		want   int
	}{
		{Sum(Logistic{}), []float64{1, -1, 1, 1, -1}, -1},
		{Sum(Logistic{}), []float64{1, -1, 0, 1}, 2},
		{Sum(Logistic{}), []float64{0}, 0},
		{Sum(Logistic{}), []float64{1, 0}, 1},
		{Sum(Logistic{}), []float64{-1, -1, math.Copysign(0, -1)}, 2},
		{Sum(Squared{}), []float64{nan, nan}, 0},
		{Sum(Squared{}), []float64{math.Float64frombits(1<<64 - 1)}, 0},
		{Sum(Squared{}), []float64{3, 4, 5, 3, 4, nan}, 5},
		{Sum(Squared{}, Logistic{}), []float64{1, 2}, 1},
		{Softmax{Classes: 3}, []float64{0, 1, 2, 0, 3}, 4},
	} {
		if got := Invalid(c.of, c.labels); got != c.want {
			t.Errorf("%s: of %v it is %d, want %d", c.of.Name(), c.labels, got, c.want)
		}
	}
}

// Losses of lines have no curvature, whatever was there before.
func TestLinesHaveNoCurvature(t *testing.T) {
	for _, l := range []Loss{Pinball{Tau: 0.3}, Linear{}} {
		curv := []float64{3, math.NaN(), 7}
		if l.Curvature(curv, []float64{-1, 2}, []float64{1, 1}); curv[0] != 0 || curv[1] != 0 || curv[2] != 7 {
			t.Errorf("%s: %v", l.Name(), curv)
		}
	}
}
