package kernel

import (
	"math"
	"testing"
)

// TestMarginsAlone: the margin of a row has the same bits at every place of matrices of every number of rows, with and
// without assembly. Rows are orthogonal to theta, so that any other order of summation shows.
func TestMarginsAlone(t *testing.T) {
	defer func(was bool) { fast = was }(fast)
	for _, with := range []bool{fast, false} {
		fast = with
		shown := false
		for d := 1; d < 40; d++ {
			theta, row := filled(d, 2), filled(d, 1)
			row[0] -= dot(row, theta) / theta[0]
			alone := make([]float64, 1)
			MarginsAlone(alone, row, theta)
			if want := dot(row, theta); !(math.Abs(alone[0]-want) <= 1e-13) {
				t.Fatalf("d=%d: %v, want %v", d, alone[0], want)
			}
			long := make([]float64, 1)
			MarginsAlone(long, theta, theta)
			if want := dot(theta, theta); !(math.Abs(long[0]-want) <= 1e-13*want) {
				t.Fatalf("d=%d: %v, want %v", d, long[0], want)
			}
			for n := 1; n < 10; n++ {
				for at := range n {
					x, dst := filled(n*d, float64(n+at)), make([]float64, n)
					copy(x[at*d:], row)
					MarginsAlone(dst, x, theta)
					if dst[at] != alone[0] {
						t.Fatalf("d=%d: %v in place %d of %d, %v alone", d, dst[at], at, n, alone[0])
					}
					Margins(dst, x, theta)
					shown = shown || dst[at] != alone[0]
				}
			}
		}
		if !shown {
			t.Error("margins in groups and the rest never differ: nothing is tested")
		}
	}
}
