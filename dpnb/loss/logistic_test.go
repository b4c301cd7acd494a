package loss

import (
	"math"
	"testing"
)

func TestLogisticExtremes(t *testing.T) {
	l := Logistic{}
	for _, c := range []struct{ t, y, value, slope float64 }{
		{0, 1, math.Ln2, -0.5},
		{1e4, 1, 0, 0},
		{-1e4, 1, 1e4, -1},
		{1e4, -1, 1e4, 1},
		{-700, 1, 700, -1},
	} {
		if v, s := value(l, c.t, c.y), slope(l, c.t, c.y); !(math.Abs(v-c.value) <= 1e-15*c.value) || s != c.slope {
			t.Errorf("t=%v y=%v: value %v slope %v, want %v %v", c.t, c.y, v, s, c.value, c.slope)
		}
	}
	if v := value(l, 40, 1); !(math.Abs(v-math.Exp(-40)) <= 1e-15*v) {
		t.Errorf("the tail lost its digits: %v", v)
	}
}
