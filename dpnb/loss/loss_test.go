package loss

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
)

// problems has every loss with labels and predictors to try it on.
var losses = []struct {
	loss   Loss
	labels []float64
}{
	{Logistic{}, []float64{-1, 1}},
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

func TestDerivativesAndConstants(t *testing.T) {
	for _, c := range losses {
		var maxSlope, maxCurv float64
		for _, y := range c.labels {
			for x := -40.0; x <= 40; x += 0.13 {
				s, h := slope(c.loss, x, y), curvature(c.loss, x, y)
				ds := fd.Derivative(func(u float64) float64 { return value(c.loss, u, y) }, x, &fd.Settings{Formula: fd.Central})
				if math.Abs(s-ds) > 1e-6*(1+math.Abs(s)) {
					t.Errorf("%s: slope at %v, y=%v is %v, differences say %v", c.loss.Name(), x, y, s, ds)
				}
				dh := fd.Derivative(func(u float64) float64 { return slope(c.loss, u, y) }, x, &fd.Settings{Formula: fd.Central})
				if math.Abs(h-dh) > 1e-6*(1+math.Abs(h)) {
					t.Errorf("%s: curvature at %v, y=%v is %v, differences say %v", c.loss.Name(), x, y, h, dh)
				}
				if h < 0 {
					t.Errorf("%s: not convex at %v", c.loss.Name(), x)
				}
				maxSlope, maxCurv = math.Max(maxSlope, math.Abs(s)), math.Max(maxCurv, h)
			}
		}
		if l := c.loss.Lipschitz(); maxSlope > l || maxSlope < 0.99*l {
			t.Errorf("%s: largest slope seen %v, Lipschitz() = %v", c.loss.Name(), maxSlope, l)
		}
		if s := c.loss.Smoothness(); maxCurv > s || maxCurv < 0.99*s {
			t.Errorf("%s: largest curvature seen %v, Smoothness() = %v", c.loss.Name(), maxCurv, s)
		}
	}
}

func TestLogisticExtremes(t *testing.T) {
	l := Logistic{}
	for _, c := range []struct{ t, y, value, slope float64 }{
		{0, 1, math.Ln2, -0.5},
		{1e4, 1, 0, 0},
		{-1e4, 1, 1e4, -1},
		{1e4, -1, 1e4, 1},
		{-700, 1, 700, -1},
	} {
		if v, s := value(l, c.t, c.y), slope(l, c.t, c.y); math.Abs(v-c.value) > 1e-15*c.value || s != c.slope {
			t.Errorf("t=%v y=%v: value %v slope %v, want %v %v", c.t, c.y, v, s, c.value, c.slope)
		}
	}
	if v := value(l, 40, 1); math.Abs(v-math.Exp(-40)) > 1e-15*v {
		t.Errorf("the tail lost its digits: %v", v)
	}
	for _, y := range []float64{0, 2, math.NaN()} {
		if l.ValidLabel(y) {
			t.Errorf("label %v accepted", y)
		}
	}
}

func BenchmarkLogistic(b *testing.B) {
	n := 1024
	t, y, s := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range t {
		t[i], y[i] = math.Sin(float64(i))*5, float64(2*(i%2)-1)
	}
	for b.Loop() {
		Logistic{}.ValueSlope(s, t, y)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/record")
}
