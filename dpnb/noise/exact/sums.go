package exact

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/kernel"
)

// Add adds to dst the multiples of h, a power of two of [2⁻⁹⁰⁰, 2⁹⁰⁰], that are nearest to the products w·xⱼ, |w·xⱼ| <
// 2⁵¹h; of two that are as near the even one. What is added is a function of w and x alone, so a sum of such has the
// same bits in any order, as long as the sums of absolute values stay below 2⁵³h, and a vector of k products becomes
// longer by at most ½h√k.
//
// Adding M = 1.5·2⁵²h leaves a float64 between 2⁵²h and 2⁵³h, whose last digit is worth h; taking M off again is exact.
//
// Proof: docs/theory/release.md.
func Add(dst []float64, w float64, x []float64, h float64) {
	m := 0x1.8p52 * h
	dst = dst[:len(x)]
	for j, v := range x {
		dst[j] += float64(float64(w*v)+m) - m
	}
}

// AddSparse is Add for the entries values in the columns of x.
func AddSparse(dst []float64, w float64, columns []int32, values []float64, h float64) {
	m := 0x1.8p52 * h
	values = values[:len(columns)]
	for k, j := range columns {
		dst[j] += float64(float64(w*values[k])+m) - m
	}
}

// AddRows is Add of every row of x, len(w) rows of len(dst) entries, with its own w. Sums of four are exact too, and
// save three accesses to dst.
func AddRows(dst, w, x []float64, h float64) {
	m, d := 0x1.8p52*h, len(dst)
	for ; len(w) >= 4; w, x = w[4:], x[4*d:] {
		w0, w1, w2, w3 := w[0], w[1], w[2], w[3]
		x0, x1, x2, x3 := x[:d], x[d:][:d], x[2*d:][:d], x[3*d:][:d]
		for j := kernel.AddRounded(dst, x, d, w, 1, m); j < d; j++ {
			a := float64(float64(w0*x0[j])+m) - m
			b := float64(float64(w1*x1[j])+m) - m
			c := float64(float64(w2*x2[j])+m) - m
			e := float64(float64(w3*x3[j])+m) - m
			dst[j] += (a + b) + (c + e)
		}
	}
	for i, v := range w {
		Add(dst, v, x[i*d:(i+1)*d], h)
	}
}

// AddOuter adds to the upper triangle of the d×d matrix dst, by rows, the multiples of h that are nearest to the
// products aⱼ·aₗ of each row a of x, k rows of d entries.
func AddOuter(dst, x []float64, k, d int, h float64) {
	m := 0x1.8p52 * h
	for ; k >= 4; k, x = k-4, x[4*d:] {
		for j := range d {
			a0, a1, a2, a3 := x[j], x[d+j], x[2*d+j], x[3*d+j]
			row := dst[j*d+j : j*d+d]
			x0, x1, x2, x3 := x[j:d][:len(row)], x[d+j : 2*d][:len(row)], x[2*d+j : 3*d][:len(row)],
				x[3*d+j : 4*d][:len(row)]
			for l := kernel.AddRounded(row, x[j:], d, x[j:], d, m); l < len(row); l++ {
				a := float64(float64(a0*x0[l])+m) - m
				b := float64(float64(a1*x1[l])+m) - m
				c := float64(float64(a2*x2[l])+m) - m
				e := float64(float64(a3*x3[l])+m) - m
				row[l] += (a + b) + (c + e)
			}
		}
	}
	for ; k > 0; k, x = k-1, x[d:] {
		for j, v := range x[:d] {
			Add(dst[j*d+j:j*d+d], v, x[j:d], h)
		}
	}
}

// Total has the sums of parts that are multiples of a step h, in integers: exact for any number of records that a
// memory holds.
type Total struct {
	step  float64
	count []int64
}

// NewTotal returns k sums of zero. h is a power of two of [2⁻⁹⁰⁰, 2⁹⁰⁰].
func NewTotal(k int, h float64) *Total {
	if f, _ := math.Frexp(h); f != 0.5 || h < 0x1p-900 || h > 0x1p900 {
		panic("exact: a Total wants a power of two")
	}
	return &Total{h, make([]int64, k)}
}

// Clear makes the sums zero.
func (t *Total) Clear() { clear(t.count) }

// Counts returns the sums in steps, of which the caller may change what it adds to.
func (t *Total) Counts() []int64 { return t.count }

// Add adds part, all of whose entries are multiples of h of at most 2⁵³h.
func (t *Total) Add(part []float64) {
	per := 1 / t.step
	for j, v := range part {
		t.count[j] += int64(v * per)
	}
}

// Write writes the sums to dst, each cut to ±2⁵³h, so that float64 has it exactly. To cut moves no two sums apart, so
// that neighbours still differ by at most what one record adds, entry by entry.
func (t *Total) Write(dst []float64) {
	for j, c := range t.count {
		dst[j] = float64(max(-1<<53, min(c, 1<<53))) * t.step
	}
}
