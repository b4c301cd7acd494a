package matrix

import (
	"math"
	"testing"
)

// Norms that a sum of squares gets too small: a long record whose squares are all rounded down, and one so short that
// its squares are zero.
func TestNormsAreNotTooSmall(t *testing.T) {
	const d = 4 * 131_071
	long := NewDense(1, d, nil)
	const v = 1 - 0x1p-38 - 0x1p-45
	for j := range long.Data {
		long.Data[j] = v
	}
	want := v * math.Sqrt(d)
	for _, rows := range []Rows{long, long.Sparse()} {
		if got := MaxNorm(rows); math.Abs(got/want-1) > 2e-13 {
			t.Errorf("%T: the norm is off by %.3g of itself", rows, got/want-1)
		}
	}
	short := NewDense(2, 3, []float64{1e-163, 1e-163, 1e-163, 0, 0, 0})
	for _, rows := range []Rows{short, short.Sparse()} {
		if got := MaxNorm(rows); got < 1.7e-163 || got > 1e-160 {
			t.Errorf("%T: norm %g of a record of norm 1.7e-163", rows, got)
		}
	}
}
