package exact

import "testing"

// What rounding adds is at most what is granted, and not much less than that where the number of
// features decides.
func TestOuterStep(t *testing.T) {
	for _, s := range []float64{0.25, 2, 1e-50, 1e60} {
		for d := 1; d < 1<<20; d = d*3/2 + 1 {
			if h := outerStep(s, d); h*float64(d)/2 > OuterRounding*s || h > 0x1p-26*s || d > 1000 &&
				h*float64(d) < 0.9*OuterRounding*s {
				t.Errorf("s = %g, d = %d: h = %g", s, d, h)
			}
		}
	}
}
