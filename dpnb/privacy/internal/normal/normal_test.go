package normal

import (
	"math"
	"testing"
)

// Values: Laplace's continued fraction, 3,000 terms in 60-digit decimal
// arithmetic (Python's decimal module).
func TestLogSurvival(t *testing.T) {
	for _, c := range []struct{ x, want float64 }{
		{0, -0.693147180559945309417232121458},
		{10, -53.2312851505124683131126},
		{40, -804.608442013754219},
	} {
		if got := LogSurvival(c.x); math.Abs(got-c.want) > 1e-13*math.Abs(c.want) {
			t.Errorf("LogSurvival(%v) = %.17g, want %.17g", c.x, got, c.want)
		}
	}
}

func TestMillsIsContinuousAndSolvesItsEquation(t *testing.T) {
	if got := Mills(0); math.Abs(got-SqrtHalfPi) > 1e-15 {
		t.Errorf("Mills(0) = %v", got)
	}
	a, b := Mills(math.Nextafter(6, 0)), Mills(6)
	if math.Abs(a-b) > 1e-14*a {
		t.Errorf("jump at the switch: %v %v", a, b)
	}
	for _, x := range []float64{-3, -1, 0.5, 2, 5.5, 7, 20} {
		h := 1e-5
		d := (Mills(x+h) - Mills(x-h)) / (2 * h)
		want := x*Mills(x) - 1
		if math.Abs(d-want) > 1e-8*math.Max(1, math.Abs(Mills(x))) {
			t.Errorf("R'(%v) = %v, want %v", x, d, want)
		}
	}
}
