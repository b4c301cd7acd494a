package erm

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// maxFactor is the largest d for which a d×d matrix is factored.
const maxFactor = 1500

// metric approximates the Hessian of J by that over an evenly spaced sample of
// m records, scaled by n/m, plus λI. It only steers the search; the
// certificate does not depend on it.
type metric struct {
	p      *Problem
	n, d   int
	index  []int
	labels []float64
	block  []float64
	t, c   []float64
	gram   blas64.Symmetric
	chol   mat.Cholesky
	ok     bool
	builds int
	diag   []float64
}

func newMetric(p *Problem, e *evaluator) *metric {
	m := &metric{p: p, n: e.n, d: e.d}
	size := max(2000, 8*e.d)
	if e.d > maxFactor {
		size = 2000
	}
	m.sample(min(e.n, size))
	m.block = make([]float64, blockRows*e.d)
	if e.d <= maxFactor {
		m.gram = blas64.Symmetric{N: e.d, Stride: e.d, Data: make([]float64, e.d*e.d), Uplo: blas.Upper}
	} else {
		m.diag = make([]float64, e.d)
	}
	return m
}

// sample takes size records, evenly spaced.
func (m *metric) sample(size int) {
	m.index = make([]int, size)
	m.labels = make([]float64, size)
	for k := range m.index {
		m.index[k] = int((int64(k)*2 + 1) * int64(m.n) / int64(2*size))
		m.labels[k] = m.p.Labels[m.index[k]]
	}
	m.t, m.c = make([]float64, size), make([]float64, size)
}

// exact reports whether the metric is the Hessian itself, and makes it so from
// the next refresh on if a d×d matrix can be factored. A sample can miss what
// only few records have, which then looks free when λ is small.
func (m *metric) exact() bool {
	if m.diag != nil {
		return false
	}
	if len(m.index) < m.n {
		m.sample(m.n)
	}
	return true
}

// refresh builds the metric at θ.
func (m *metric) refresh(theta []float64) {
	m.builds++
	d, size := m.d, len(m.index)
	for k, i := range m.index {
		m.p.Rows.Margins(m.t[k:k+1], theta, i, i+1)
	}
	m.p.Loss.Curvature(m.c, m.t, m.labels)
	scale := float64(m.n) / float64(size)
	clear(m.gram.Data)
	clear(m.diag)
	for lo := 0; lo < size; lo += blockRows {
		hi := min(lo+blockRows, size)
		for k := lo; k < hi; k++ {
			row := m.block[(k-lo)*d : (k-lo+1)*d]
			m.p.Rows.Row(row, m.index[k])
			floats.Scale(math.Sqrt(scale*m.c[k]), row)
			for j := range m.diag {
				m.diag[j] += row[j] * row[j]
			}
		}
		if m.diag == nil {
			a := blas64.General{Rows: hi - lo, Cols: d, Stride: d, Data: m.block[:(hi-lo)*d]}
			blas64.Syrk(blas.Trans, 1, a, 1, m.gram)
		}
	}
	for j := range m.diag {
		m.diag[j] += m.p.Ridge
	}
	if m.diag != nil {
		return
	}
	for j := range d {
		m.gram.Data[j*d+j] += m.p.Ridge
	}
	var s mat.SymDense
	s.SetRawSymmetric(m.gram)
	m.ok = m.chol.Factorize(&s)
}

// solve overwrites v by an approximation of (∇²J)⁻¹v.
func (m *metric) solve(v []float64) {
	switch {
	case m.diag != nil:
		floats.Div(v, m.diag)
	case m.ok:
		x := mat.NewVecDense(len(v), v)
		if err := m.chol.SolveVecTo(x, x); err != nil {
			m.ok = false // too ill-conditioned to steer by
		}
	default:
		floats.Scale(1/(m.p.Ridge+float64(m.n)*m.p.Loss.Smoothness()), v)
	}
}
