package exact

import (
	"math"
	"testing"
)

// What rounding adds is at most what is granted, and not much less than that where the number of features decides.
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

// Columns that are zero in all rows of a call are skipped, to the same sum.
func TestOuterOfFewColumns(t *testing.T) {
	const d, k = 9, 7
	x := make([]float64, k*d)
	for i := range x {
		if j := i % d; j == 2 || j == 3 || j == 8 {
			x[i] = -math.Sqrt(float64(i))
		}
	}
	o := NewOuter(d, 1000)
	o.Add(x, k)
	got, want := o.Matrix(), make([]float64, d*d)
	AddOuter(want, x, k, d, o.step)
	for i := range d {
		for j := i; j < d; j++ {
			if got.At(i, j) != want[i*d+j] {
				t.Errorf("%d, %d: %v, want %v", i, j, got.At(i, j), want[i*d+j])
			}
		}
	}
	if got.At(2, 8) == 0 {
		t.Error("there is nothing to compare")
	}
}

// No more matrices are summed in float64 than it has exactly, each of the largest entries.
func TestOuterIsMovedToIntegers(t *testing.T) {
	o, x := NewOuter(1, 1), make([]float64, outerFlush/16)
	for range 40 {
		if o.Add(x, len(x)); o.held > outerFlush {
			t.Fatalf("%d matrices are in a sum of float64", o.held)
		}
	}
	for d := 1; d <= 1<<16; d = d*9/8 + 1 {
		if most := outerFlush / outerStep(1, d); most > 1<<53 {
			t.Errorf("d = %d: a sum may have %g steps", d, most)
		}
	}
}

// What was added is in the sum once, however often that is looked at and whatever follows.
func TestOuterCountsOnce(t *testing.T) {
	o := NewOuter(2, 1)
	for n := 1; n <= 4; n++ {
		o.Add([]float64{0.5, 0.25}, 1)
		for range 2 {
			if m := o.Matrix(); m.At(0, 0) != 0.25*float64(n) || m.At(0, 1) != 0.125*float64(n) {
				t.Errorf("%d records: %v and %v", n, m.At(0, 0), m.At(0, 1))
			}
		}
	}
}
