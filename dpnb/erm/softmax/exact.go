package softmax

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/kernel"
)

// maxExact is the largest number K·d of coefficients for which the Hessian
// itself is factored, where the search turns out to be hard.
const maxExact = 1500

// preconditioner approximates the Hessian: by its diagonal blocks over a sample
// (metric), or not at all approximately (exact).
type preconditioner interface {
	// refresh moves it to θ.
	refresh(theta []float64)
	// solve overwrites v, whose sum over the classes is 0, by its inverse times v.
	solve(v []float64)
}

// exact is the whole Hessian, Σ (diag(p) − ppᵀ) ⊗ xxᵀ + λI, of order K·d.
type exact struct {
	m *metric // over all records: margins, probabilities and working space
	// hessian has order K·d, its upper triangle is used.
	hessian []float64
	gram    []float64
	chol    mat.Cholesky
	ok      bool
}

func newExact(p *Problem, workers int) *exact {
	m := newMetric(p, 1, p.Lambda, workers)
	return &exact{m: m, hessian: make([]float64, m.k*m.d*m.k*m.d), gram: make([]float64, m.pad*m.pad)}
}

func (x *exact) refresh(theta []float64) {
	m := x.m
	m.probabilities(theta)
	size := m.k * m.d
	clear(x.hessian)
	pack := make([]float64, gramRows*m.pad)
	for a := range m.k {
		for b := a; b < m.k; b++ {
			clear(x.gram)
			for lo := 0; lo < m.n; lo += gramRows {
				hi := min(lo+gramRows, m.n)
				for i := lo; i < hi; i++ {
					row := pack[(i-lo)*m.pad : (i-lo)*m.pad+m.d]
					m.s.Rows.Row(row, i)
					w := m.weight[a*m.n+i] * m.weight[b*m.n+i]
					if a == b {
						w = m.weight[a*m.n+i] * (1 - m.weight[a*m.n+i])
					}
					floats.Scale(math.Sqrt(w), row)
				}
				kernel.AddGram(x.gram, pack, hi-lo, m.pad)
			}
			sign := -1.0
			if a == b {
				sign = 1
			}
			for i := range m.d {
				for j := range m.d {
					// The Gram matrix is there above its diagonal only.
					x.hessian[(a*m.d+i)*size+b*m.d+j] = sign * x.gram[min(i, j)*m.pad+max(i, j)]
				}
			}
		}
	}
	for j := range size {
		x.hessian[j*size+j] += m.ridge
	}
	var s mat.SymDense
	s.SetRawSymmetric(blas64.Symmetric{N: size, Stride: size, Data: x.hessian, Uplo: blas.Upper})
	x.ok = x.chol.Factorize(&s)
}

func (x *exact) solve(v []float64) {
	u := mat.NewVecDense(len(v), v)
	if !x.ok || x.chol.SolveVecTo(u, u) != nil || math.IsNaN(floats.Sum(v)) {
		x.ok = false // too ill-conditioned to steer by
		floats.Scale(1/(x.m.ridge+0.5*float64(x.m.n)), v)
	}
	Center(v, x.m.k)
}
