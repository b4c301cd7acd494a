// Package kernel has the inner loops of a pass over dense records: margins, weighted sums of rows and weighted Gram
// matrices. On amd64 with AVX2 and FMA they are in assembly (four rows at a time, so that θ and the sum are read once
// for four records); elsewhere they rest on gonum's BLAS. Which of the two runs depends on the processor alone, so a
// rerun agrees exactly.
package kernel

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Margins writes xᵢᵀθ to dst[i] for the len(dst) rows of x, which is row-major with d = len(theta) columns.
func Margins(dst, x, theta []float64) {
	d := len(theta)
	if d == 0 {
		clear(dst)
		return
	}
	_ = x[:len(dst)*d]
	k := 0
	if fast {
		k = len(dst) &^ 3
		if k > 0 {
			dots4(&dst[0], &x[0], &theta[0], k/4, d)
		}
	}
	if k < len(dst) {
		a := blas64.General{Rows: len(dst) - k, Cols: d, Stride: d, Data: x[k*d:]}
		blas64.Gemv(blas.NoTrans, 1, a, vec(theta), 0, vec(dst[k:]))
	}
}

// AddScaled adds Σ wᵢ·xᵢ over the len(w) rows of x to dst, which has d entries.
func AddScaled(dst, x, w []float64) {
	d := len(dst)
	if d == 0 {
		return
	}
	_ = x[:len(w)*d]
	k := 0
	if fast {
		k = len(w) &^ 3
		if k > 0 {
			axpys4(&dst[0], &x[0], &w[0], k/4, d)
		}
	}
	if k < len(w) {
		a := blas64.General{Rows: len(w) - k, Cols: d, Stride: d, Data: x[k*d:]}
		blas64.Gemv(blas.Trans, 1, a, vec(w[k:]), 1, vec(dst))
	}
}

// Padded returns the least multiple of 8 that is at least d: the stride that AddGram wants.
func Padded(d int) int { return (d + 7) &^ 7 }

// AddGram adds AᵀA to the upper triangle of c (what it does below the diagonal is not defined). A has k rows and stride
// d, c is d×d; d is a multiple of 8.
func AddGram(c, a []float64, k, d int) {
	if d%8 != 0 {
		panic("kernel: d is not a multiple of 8")
	}
	if k == 0 || d == 0 {
		return
	}
	_, _ = c[:d*d], a[:k*d]
	if !fast {
		m := blas64.General{Rows: k, Cols: d, Stride: d, Data: a}
		blas64.Syrk(blas.Trans, 1, m, 1, blas64.Symmetric{N: d, Stride: d, Data: c, Uplo: blas.Upper})
		return
	}
	for j := 0; j < d; j += 8 {
		for i := 0; i < j+8; i += 4 {
			gram4x8(&c[i*d+j], &a[i], &a[j], k, d)
		}
	}
}

// Mirror copies the upper triangle of a d×d matrix to the lower, tile by tile.
func Mirror(a []float64, d int) {
	const tile = 32
	for ib := 0; ib < d; ib += tile {
		for jb := ib; jb < d; jb += tile {
			for i := ib; i < min(ib+tile, d); i++ {
				for j := max(jb, i+1); j < min(jb+tile, d); j++ {
					a[j*d+i] = a[i*d+j]
				}
			}
		}
	}
}

func vec(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }
