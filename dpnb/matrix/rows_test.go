package matrix

import (
	"math"
	"slices"
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
		if got := MaxNorm(rows); !(math.Abs(got/want-1) <= 2e-13) {
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

// halved are rows of half the length, of which the embedded matrix knows nothing.
type halved struct{ *Dense }

func (h halved) Row(dst []float64, i int) {
	h.Dense.Row(dst, i)
	for j := range dst {
		dst[j] /= 2
	}
}

// Blocks are of the rows that a type of its own writes: a mechanism that checks these and sums others keeps no promise.
func TestBlocksAreOfRows(t *testing.T) {
	got := make([]float64, 4)
	Block(halved{NewDense(3, 2, []float64{9, 9, 2, 4, 6, 8})}, got, 1, 3)
	if want := []float64{1, 2, 3, 4}; !slices.Equal(got, want) {
		t.Errorf("the rows are %v, want %v", got, want)
	}
}

// Margins of some of the records are written to as many places, and to no others, whatever the rows are made of.
func TestMarginsOfARange(t *testing.T) {
	m, theta := NewDense(9, 2, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9}), []float64{1, -2}
	for _, rows := range []Rows{m, m.Sparse(), halved{m}} {
		all, one := make([]float64, 9), make([]float64, 2)
		for i := range all {
			rows.Row(one, i)
			all[i] = one[0]*theta[0] + one[1]*theta[1]
		}
		for lo := range 9 {
			for hi := lo; hi <= 9; hi++ {
				dst := slices.Repeat([]float64{-99}, 20)
				MarginsAlone(rows, dst, theta, lo, hi)
				want := slices.Concat(all[lo:hi], slices.Repeat([]float64{-99}, 20-hi+lo))
				if !slices.Equal(dst, want) {
					t.Fatalf("%T, %d to %d: %v, want %v", rows, lo, hi, dst, want)
				}
			}
		}
	}
}

// TestSparseRowsHaveEachColumnOnce: a row with a column twice, out of order or beyond the last has no norm that a
// mechanism admits; for Margins the first of these is longer than its entries say.
func TestSparseRowsHaveEachColumnOnce(t *testing.T) {
	m := &CSR{N: 5, D: 3, Starts: []int{0, 2, 4, 6, 7, 7}, Columns: []int32{0, 2, 1, 1, 2, 0, 3},
		Values: []float64{3, 4, 0.6, 0.6, 3, 4, 1}}
	norms, margins := make([]float64, 5), make([]float64, 3)
	m.Norms(norms, 0, 5)
	if want := []float64{5, math.Inf(1), math.Inf(1), math.Inf(1), 0}; !slices.Equal(norms, want) {
		t.Errorf("norms %v, want %v", norms, want)
	}
	if m.Margins(margins, []float64{0, 1, 0}, 0, 3); margins[1] != 1.2 {
		t.Errorf("a margin of %v", margins[1])
	}
	if longest := MaxNorm(m); !math.IsInf(longest, 1) {
		t.Errorf("the longest row has norm %v", longest)
	}
}
