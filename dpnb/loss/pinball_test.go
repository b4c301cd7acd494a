package loss

import (
	"math"
	"testing"
)

// The pinball loss is least, over constants, at the quantile; its slope is the difference
// quotient on both sides of the kink.
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
			if got, want := slope(l, 1-r, 1), (value(l, 1-r+1e-6, 1)-value(l, 1-r, 1))*1e6; math.Abs(got-want) > 1e-9 {
				t.Errorf("τ = %g, residual %g: slope %g, difference quotient %g", tau, r, got, want)
			}
		}
	}
}

// Smoothing lifts the loss by h·log 2 at the kink, by less than h·e^{−|v|} elsewhere, and
// never lowers it.
func TestSmoothPinballIsNear(t *testing.T) {
	for _, p := range []SmoothPinball{{0.5, 1}, {0.1, 0.3}, {0.8, 1e-3}} {
		for _, v := range []float64{-30, -3, -0.1, 0, 0.2, 5} {
			gap := value(p, p.Width*v, 0) - value(p.Pinball(), p.Width*v, 0)
			if gap < -1e-15 || gap > p.Width*math.Exp(-math.Abs(v))+1e-15 {
				t.Errorf("%s at v = %g: the gap is %g", p.Name(), v, gap)
			}
			if v == 0 && math.Abs(gap/p.Width-math.Ln2) > 1e-14 {
				t.Errorf("%s: %g at the kink, want %g", p.Name(), gap, p.Width*math.Ln2)
			}
		}
	}
}
