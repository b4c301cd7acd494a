package logspace

import (
	"math"
	"testing"
)

func TestAdd(t *testing.T) {
	zero := math.Inf(-1)
	for _, c := range []struct{ a, b, want float64 }{
		{0, 0, math.Ln2}, {-700, -700, math.Ln2 - 700}, {-3, zero, -3}, {zero, -3, -3}, {zero, zero, zero},
		{0, -50, math.Exp(-50)}, {math.Log(3), math.Log(4), math.Log(7)},
	} {
		for _, got := range []float64{Add(c.a, c.b), Add(c.b, c.a)} {
			if got != c.want && !(math.Abs(got-c.want) <= 1e-15*math.Abs(c.want)) {
				t.Errorf("Add(%g, %g) = %v, want %v", c.a, c.b, got, c.want)
			}
		}
	}
}
