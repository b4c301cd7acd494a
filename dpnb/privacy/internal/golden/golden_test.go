package golden

import (
	"math"
	"testing"
)

func TestSection(t *testing.T) {
	least := math.Inf(1)
	f := func(x float64) float64 {
		v := math.Cosh(x - 0.3)
		least = math.Min(least, v)
		return v
	}
	x1, f1, x2, f2 := Section(f, -2, 5, 45)
	if math.Abs(x1-0.3) > 1e-6 || math.Abs(x2-0.3) > 1e-6 {
		t.Errorf("the minimum at 0.3 is looked for at %v and %v", x1, x2)
	}
	if math.Min(f1, f2) != least {
		t.Errorf("%v and %v are returned, but %v was met", f1, f2, least)
	}
}
