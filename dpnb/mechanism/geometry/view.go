package geometry

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/matrix"
)

// view is rows in a frame that are made block by block as they are asked for.
type view struct {
	of   matrix.Rows
	f    *Bought
	n, d int
	from int    // columns of of
	in   *space // what rows are given in coordinates of; nil is all features
}

func (b *Bought) view(rows matrix.Rows) view {
	n, from := rows.Dims()
	return view{rows, b, n, b.Width(), from, nil}
}

// Blocks calls use with the rows lo ≤ i < hi, no more than MaxBlock at a time, of which the first is record from.
func (v view) Blocks(lo, hi int, use func(b *matrix.Dense, from int)) {
	row := make([]float64, v.from)
	data := make([]float64, min(hi-lo, matrix.MaxBlock)*v.d)
	for ; lo < hi; lo += matrix.MaxBlock {
		end := min(lo+matrix.MaxBlock, hi)
		if v.f.detail() {
			index := make([]int, end-lo)
			for i := range index {
				index[i] = lo + i
			}
			use(matrix.Densed(v.f.detailed(matrix.Select(v.of, index), 1)), lo)
			continue
		}
		for i := lo; i < end; i++ {
			v.of.Row(row, i)
			v.centred(data[(i-lo)*v.d:(i-lo+1)*v.d], row)
		}
		use(matrix.NewDense(end-lo, v.d, data[:(end-lo)*v.d]), lo)
	}
}

// centred writes the centred row to dst.
func (v view) centred(dst, row []float64) {
	if v.in == nil {
		v.f.centred(dst, row)
		return
	}
	x := make([]float64, len(v.f.Mean)+1)
	v.f.centred(x, row)
	copy(dst, v.in.to(x))
}

// Dims implements matrix.Rows.
func (v view) Dims() (n, d int) { return v.n, v.d }

// MaxNorm is that of every row there can be.
func (v view) MaxNorm() float64 { return math.Hypot(1, v.f.Bias) }

// Margins implements matrix.Rows.
func (v view) Margins(dst, theta []float64, lo, hi int) {
	v.Blocks(lo, hi, func(b *matrix.Dense, from int) { b.Margins(dst[from-lo:], theta, 0, b.N) })
}

// AddScaled implements matrix.Rows.
func (v view) AddScaled(dst, w []float64, lo, hi int) {
	v.Blocks(lo, hi, func(b *matrix.Dense, from int) { b.AddScaled(dst, w[from-lo:], 0, b.N) })
}

// Norms implements matrix.Rows.
func (v view) Norms(dst []float64, lo, hi int) {
	v.Blocks(lo, hi, func(b *matrix.Dense, from int) { b.Norms(dst[from-lo:], 0, b.N) })
}

// Row implements matrix.Rows.
func (v view) Row(dst []float64, i int) {
	v.Blocks(i, i+1, func(b *matrix.Dense, _ int) { copy(dst, b.Data) })
}

// blank is n rows with nothing but the bias.
type blank struct {
	n, d int
	bias float64
}

// The methods of matrix.Rows.
func (b blank) Dims() (n, d int)                     { return b.n, b.d }
func (b blank) MaxNorm() float64                     { return b.bias }
func (b blank) Row(dst []float64, _ int)             { clear(dst[:b.d]); dst[b.d-1] = b.bias }
func (b blank) Norms(dst []float64, lo, hi int)      { fill(dst[:hi-lo], b.bias) }
func (b blank) Margins(dst, t []float64, lo, hi int) { fill(dst[:hi-lo], b.bias*t[b.d-1]) }
func (b blank) AddScaled(dst, w []float64, lo, hi int) {
	for _, v := range w[:hi-lo] {
		dst[b.d-1] += b.bias * v
	}
}

func fill(dst []float64, v float64) {
	for i := range dst {
		dst[i] = v
	}
}
