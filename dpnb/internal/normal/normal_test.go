package normal

import (
	"math"
	"testing"
)

// Values: Laplace's continued fraction, 3,000 terms in 60-digit decimal arithmetic (Python's decimal module).
func TestLogSurvival(t *testing.T) {
	for _, c := range []struct{ x, want float64 }{
		{0, -0.693147180559945309417232121458},
		{10, -53.2312851505124683131126},
		{40, -804.608442013754219},
	} {
		if got := LogSurvival(c.x); !(math.Abs(got-c.want) <= 1e-13*math.Abs(c.want)) {
			t.Errorf("LogSurvival(%v) = %.17g, want %.17g", c.x, got, c.want)
		}
	}
}

func TestMillsIsContinuousAndSolvesItsEquation(t *testing.T) {
	if got := Mills(0); !(math.Abs(got-sqrtHalfPi) <= 1e-15) {
		t.Errorf("Mills(0) = %v", got)
	}
	a, b := Mills(math.Nextafter(6, 0)), Mills(6)
	if !(math.Abs(a-b) <= 1e-14*a) {
		t.Errorf("jump at the switch: %v %v", a, b)
	}
	for _, x := range []float64{-3, -1, 0.5, 2, 5.5, 7, 20} {
		h := 1e-5
		d := (Mills(x+h) - Mills(x-h)) / (2 * h)
		want := x*Mills(x) - 1
		if !(math.Abs(d-want) <= 1e-8*math.Max(1, math.Abs(Mills(x)))) {
			t.Errorf("R'(%v) = %v, want %v", x, d, want)
		}
	}
}

// A cell far out keeps its digits, and the cells of a line sum to one.
func TestMass(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct{ a, b, want float64 }{
		{-inf, inf, 1}, {-inf, 0, 0.5}, {0, inf, 0.5}, {7, 7, 0},
		{20, 21, Survival(20) - Survival(21)}, {-21, -20, Survival(20) - Survival(21)},
		{-1, 2, CDF(2) - CDF(-1)}, {10, 10 + 1e-9, PDF(10) * 1e-9},
	} {
		if got := Mass(c.a, c.b); !(math.Abs(got-c.want) <= 1e-6*c.want) || !(math.Abs(got-c.want) <= 1e-15) {
			t.Errorf("P(%v < N ≤ %v) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
	for _, x := range []float64{-5, -0.3, 0, 1, 8} {
		if !(math.Abs(Density(x)/PDF(x)-1) <= 2e-14) {
			t.Errorf("φ(%v) = %v and %v", x, Density(x), PDF(x))
		}
	}
}
