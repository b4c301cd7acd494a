package softmax

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/kernel"
	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// maxFactor is the largest number of features for which the blocks of the
// metric are factored; beyond it they are diagonal.
const maxFactor = 400

// gramRows records are packed at a time.
const gramRows = 64

// metric approximates the Hessian of J by its diagonal blocks, one for each
// class, over a sample of the records,
//
//	M_c = scale·Σ p_c(1 − p_c) x xᵀ + λI,
//
// between two projections on Σ_c θ_c = 0. It only steers the search; the
// certificate does not depend on it.
type metric struct {
	s            *Problem
	scale, ridge float64
	workers      int
	n, d, k, pad int
	// weight is p_c, then scale·p_c(1−p_c), class by class.
	weight []float64
	blocks []block
}

// block is the metric's part for one class: a factor, or a diagonal.
type block struct {
	gram, pack, diag []float64
	chol             mat.Cholesky
	ok               bool
}

// newMetric builds the metric of a problem with ridge λ from the records of s.
func newMetric(s *Problem, scale, ridge float64, workers int) *metric {
	n, d := s.Rows.Dims()
	m := &metric{s: s, scale: scale, ridge: ridge, workers: max(1, min(workers, s.Classes)), n: n, d: d, k: s.Classes, pad: kernel.Padded(d)}
	m.weight = make([]float64, n*m.k)
	m.blocks = make([]block, m.k)
	for c := range m.blocks {
		b := &m.blocks[c]
		if d <= maxFactor {
			b.gram, b.pack = make([]float64, m.pad*m.pad), make([]float64, gramRows*m.pad)
		} else {
			b.diag, b.pack = make([]float64, d), make([]float64, d)
		}
	}
	return m
}

// probabilities writes p_c at θ to weight.
func (m *metric) probabilities(theta []float64) {
	for c := range m.k {
		m.s.Rows.Margins(m.weight[c*m.n:(c+1)*m.n], theta[c*m.d:(c+1)*m.d], 0, m.n)
	}
	for i := range m.n {
		top, sum := math.Inf(-1), 0.0
		for c := range m.k {
			top = math.Max(top, m.weight[c*m.n+i])
		}
		for c := range m.k {
			w := &m.weight[c*m.n+i]
			*w = math.Exp(*w - top)
			sum += *w
		}
		for c := range m.k {
			m.weight[c*m.n+i] /= sum
		}
	}
}

// refresh moves the metric to θ.
func (m *metric) refresh(theta []float64) {
	m.probabilities(theta)
	for i, p := range m.weight {
		m.weight[i] = m.scale * p * (1 - p)
	}
	parallel.Each(m.k, m.workers, func(c int) { m.build(&m.blocks[c], m.weight[c*m.n:(c+1)*m.n]) })
}

func (m *metric) build(b *block, weight []float64) {
	if b.diag != nil {
		m.buildDiagonal(b, weight)
		return
	}
	clear(b.gram)
	for lo := 0; lo < m.n; lo += gramRows {
		hi := min(lo+gramRows, m.n)
		for i := lo; i < hi; i++ {
			row := b.pack[(i-lo)*m.pad : (i-lo)*m.pad+m.d]
			m.s.Rows.Row(row, i)
			floats.Scale(math.Sqrt(weight[i]), row)
		}
		kernel.AddGram(b.gram, b.pack, hi-lo, m.pad)
	}
	for j := range m.d {
		b.gram[j*m.pad+j] += m.ridge
	}
	var s mat.SymDense
	s.SetRawSymmetric(blas64.Symmetric{N: m.d, Stride: m.pad, Data: b.gram, Uplo: blas.Upper})
	b.ok = b.chol.Factorize(&s)
}

func (m *metric) buildDiagonal(b *block, weight []float64) {
	for j := range b.diag {
		b.diag[j] = m.ridge
	}
	for i, w := range weight {
		if sparse, ok := m.s.Rows.(*matrix.CSR); ok {
			for e := sparse.Starts[i]; e < sparse.Starts[i+1]; e++ {
				v := sparse.Values[e]
				b.diag[sparse.Columns[e]] += w * v * v
			}
			continue
		}
		m.s.Rows.Row(b.pack, i)
		for j, v := range b.pack {
			b.diag[j] += w * v * v
		}
	}
}

// solve overwrites v, whose sum over the classes is 0, by the inverse of the
// metric times v.
func (m *metric) solve(v []float64) {
	for c := range m.blocks {
		b, part := &m.blocks[c], v[c*m.d:(c+1)*m.d]
		if b.diag != nil {
			floats.Div(part, b.diag)
			continue
		}
		x := mat.NewVecDense(m.d, part)
		if !b.ok || b.chol.SolveVecTo(x, x) != nil || math.IsNaN(floats.Sum(part)) {
			b.ok = false // too ill-conditioned to steer by
			floats.Scale(1/(m.ridge+0.25*m.scale*float64(m.n)), part)
		}
	}
	Center(v, m.k)
}
