package univariate

import (
	"math"
	"testing"
)

func TestGolden(t *testing.T) {
	least := math.Inf(1)
	f := func(x float64) float64 {
		v := math.Cosh(x - 0.3)
		least = math.Min(least, v)
		return v
	}
	x, v := Golden(f, -2, 5, 45)
	if !(math.Abs(x-0.3) <= 1e-6) {
		t.Errorf("the minimum at 0.3 is looked for at %v", x)
	}
	if v != least {
		t.Errorf("%v is returned, but %v was met", v, least)
	}
	if v := Minimum(f, -2, 5, 9, 30); v != least {
		t.Errorf("by cells: %v is returned, but %v was met", v, least)
	}
}

// Where f is flat the left end is approached, and where it is +Inf left too: callers mean the smallest argument that
// does.
func TestGoldenLeft(t *testing.T) {
	for _, c := range []struct {
		f    func(float64) float64
		want float64
	}{
		{func(x float64) float64 { return math.Abs(x - 0.3) }, 0.3},
		{func(float64) float64 { return 1 }, -2},
		{func(float64) float64 { return math.Inf(1) }, -2},
		{func(x float64) float64 { return 1 + 1e-13*math.Abs(x-3) }, -2},
	} {
		if x, v := GoldenLeft(c.f, -2, 5, 45); !(math.Abs(x-c.want) <= 1e-6) || v != c.f(x) {
			t.Errorf("the minimum at %v is looked for at %v", c.want, x)
		}
	}
}
