package matrix

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/parallel"
)

// shorter makes a computed direction no longer than 1: norms of up to 10⁶ entries err by less.
const shorter = 1 - 0x1p-39

// Directions returns the rows of r divided by their norms, and the norms: each as a function of its own record alone,
// to the last bit. No direction is longer than 1, all its roundings included, and none is shorter than 1 by 2⁻³⁸, or by
// 2⁻²² if r is dense: then directions are float32, which take half the memory of r. A row with an entry that is not
// finite becomes one of zeros, and so do a row of zeros and one whose columns do not rise (CSR); their norm is 0. No
// number overflows, and a norm that would is the largest float64. workers is the number of goroutines; zero means one
// for each processor.
func Directions(r Rows, workers int) (Rows, []float64) {
	n, d := r.Dims()
	norms := make([]float64, n)
	if sparse, ok := r.(*CSR); ok {
		out := *sparse
		out.Values = append([]float64(nil), sparse.Values...)
		for i := range n {
			columns, values := out.Entries(i)
			if norms[i] = Direct(values); !out.rise(columns) {
				clear(values)
				norms[i] = 0
			}
		}
		return &out, norms
	}
	out := newSingle(n, d)
	parallel.Each((n+MaxBlock-1)/MaxBlock, workers, func(b int) {
		row := make([]float64, d)
		for i := b * MaxBlock; i < min(n, (b+1)*MaxBlock); i++ {
			r.Row(row, i)
			norms[i] = Direct(row)
			out.set(i, row)
		}
	})
	return out, norms
}

// Direct divides x by its norm, which it returns: a direction of Directions, before it is rounded to float32.
func Direct(x []float64) (norm float64) {
	square := SumSquares(x)
	scale := 1.0
	if !(square > 0x1p-900 && square < 0x1p900) { // under- or overflow, NaN, or zeros
		var top float64
		for _, v := range x {
			top = max(top, math.Abs(v)) // NaN stays NaN
		}
		if !(top > 0) || math.IsInf(top, 1) {
			clear(x)
			return 0
		}
		// The power of two takes all squares into range.
		_, e := math.Frexp(top)
		scale = math.Ldexp(1, min(e, 1023))
		for j := range x {
			x[j] /= scale
		}
		square = SumSquares(x)
	}
	root := math.Sqrt(square)
	for j := range x {
		x[j] = x[j] / root * shorter
	}
	return min(root*scale, math.MaxFloat64)
}
