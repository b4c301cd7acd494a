package loss

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// The pinball loss is least, over constants, at the quantile; its slope is the difference quotient on both sides of the
// kink.
func TestPinballIsLeastAtTheQuantile(t *testing.T) {
	y := make([]float64, 101)
	for i := range y {
		y[i] = math.Expm1(float64(i) / 20)
	}
	at := func(l Loss, c float64) float64 {
		all, slopes := make([]float64, len(y)), make([]float64, len(y))
		for i := range all {
			all[i] = c
		}
		return l.ValueSlope(slopes, all, y)
	}
	for _, tau := range []float64{0.05, 0.5, 0.9} {
		best, where := math.Inf(1), -1
		for i, c := range y {
			if v := at(Pinball{tau}, c); v < best {
				best, where = v, i
			}
		}
		if want := int(tau * 100); where < want || where > want+1 {
			t.Errorf("τ = %g: least at record %d of 101", tau, where)
		}
		for _, r := range []float64{-2, 0.5} {
			l := Pinball{tau}
			got, want := slope(l, 1-r, 1), (value(l, 1-r+1e-6, 1)-value(l, 1-r, 1))*1e6
			if !(math.Abs(got-want) <= 1e-9) {
				t.Errorf("τ = %g, residual %g: slope %g, difference quotient %g", tau, r, got, want)
			}
		}
	}
}

// Smoothing lifts the loss by h·log 2 at the kink, by less than h·e^{−|v|} elsewhere, and never lowers it.
func TestSmoothPinballIsNear(t *testing.T) {
	for _, p := range []SmoothPinball{{0.5, 1}, {0.1, 0.3}, {0.8, 1e-3}} {
		for _, v := range []float64{-30, -3, -0.1, 0, 0.2, 5} {
			gap := value(p, p.Width*v, 0) - value(p.Pinball(), p.Width*v, 0)
			if gap < -1e-15 || gap > p.Width*math.Exp(-math.Abs(v))+1e-15 {
				t.Errorf("%s at v = %g: the gap is %g", p.Name(), v, gap)
			}
			if v == 0 && !(math.Abs(gap/p.Width-math.Ln2) <= 1e-14) {
				t.Errorf("%s: %g at the kink, want %g", p.Name(), gap, p.Width*math.Ln2)
			}
		}
	}
}

// SmoothPinball is Convolved with the logistic kernel of twice its width.
func TestSmoothPinballIsConvolved(t *testing.T) {
	p := SmoothPinball{0.3, 0.7}
	c := convolvedPinball(0.3, smoothing.Logistic{}, 1.4)
	for x := -20.0; x < 20; x += 0.37 {
		for _, d := range []float64{value(p, x, 1) - value(c, x, 1), slope(p, x, 1) - slope(c, x, 1),
			curvature(p, x, 1) - curvature(c, x, 1)} {
			if !(math.Abs(d) <= 1e-14) {
				t.Errorf("they differ by %g at %g", d, x)
			}
		}
	}
	a, b := p.Curve(2, math.Inf(1)), c.Curve(2, math.Inf(1))
	for u := 0.01; u < 1; u += 0.01 {
		g := a.Lo + (a.Hi-a.Lo)*u
		if !(math.Abs(a.Sup(g)/b.Sup(g)-1) <= 1e-12) || !(math.Abs(a.Antiderivative(g)-b.Antiderivative(g)) <= 1e-12) ||
			a.Fall != b.Fall {
			t.Errorf("curves at %g: %g and %g, %g and %g", g, a.Sup(g), b.Sup(g), a.Antiderivative(g),
				b.Antiderivative(g))
		}
	}
}

// convolvedPinball is the pinball loss of level τ convolved with a kernel.
func convolvedPinball(tau float64, k smoothing.Kernel, width float64) Convolved {
	return Convolved{k, width, -tau, 1 - tau}
}

// The losses that say so are soft maxima t·ln(e^{av/t} + e^{bv/t}) of v = t − y, with the slope that this has.
func TestSoftMaximum(t *testing.T) {
	for _, l := range []interface {
		Loss
		SoftMaximum() (temperature, below, above float64, ok bool)
	}{SmoothPinball{Tau: 0.3, Width: 0.7}, Convolved{smoothing.Logistic{}, 0.7, -0.3, 2},
		Convolved{smoothing.Gaussian{}, 0.7, -0.3, 2}, Convolved{smoothing.Logistic{}, -0.7, -0.3, 2}} {
		temperature, a, b, ok := l.SoftMaximum()
		c, convolved := l.(Convolved)
		if ok != (!convolved || c.Width > 0 && c.Kernel == smoothing.Kernel(smoothing.Logistic{})) {
			t.Errorf("%s: %v", l.Name(), ok)
		}
		if !ok {
			continue
		}
		for _, v := range []float64{-3, -0.4, 0, 0.1, 2} {
			slope, below, above := []float64{0}, math.Exp(a*v/temperature), math.Exp(b*v/temperature)
			l.ValueSlope(slope, []float64{v + 1}, []float64{1})
			if want := (a*below + b*above) / (below + above); !(math.Abs(slope[0]-want) <= 1e-14) {
				t.Errorf("%s: slope %v at %v, want %v", l.Name(), slope[0], v, want)
			}
		}
	}
}

// The largest slope is attained, on the steeper side.
func TestPinballSlopes(t *testing.T) {
	for _, tau := range []float64{0.05, 0.5, 0.9} {
		l := Pinball{tau}
		if got := math.Max(math.Abs(slope(l, 0, 1)), math.Abs(slope(l, 2, 1))); got != l.Lipschitz() {
			t.Errorf("τ = %g: slopes of %g, and at most %g", tau, got, l.Lipschitz())
		}
	}
}
