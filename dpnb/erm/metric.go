package erm

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/kernel"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

const (
	// maxFactor is the largest order of a matrix that is factored.
	maxFactor = 2500
	// gramParts is the number of partial Gram matrices, whatever the workers.
	gramParts = 2
	// gramRows records are packed at a time.
	gramRows = 64
)

// metric approximates the Hessian of J. It only steers the search; the
// certificate does not depend on it.
type metric interface {
	// refresh moves the metric to θ.
	refresh(theta []float64)
	// solve overwrites v by an approximation of (∇²J)⁻¹v.
	solve(v []float64)
}

// primalMetric is the Hessian over the records of a problem s, times a scale,
// plus the penalty's λ + ω on the diagonal, factored. With s = p and scale 1 it is the Hessian of p.
type primalMetric struct {
	s       *Problem
	scale   float64
	ridge   []float64
	workers int
	d, pad  int
	t, c    []float64
	gram    [gramParts][]float64
	pack    [gramParts][]float64
	chol    mat.Cholesky
	ok      bool
}

func newPrimalMetric(s *Problem, scale float64, ridge []float64, workers int) *primalMetric {
	n, d := s.Rows.Dims()
	m := &primalMetric{s: s, scale: scale, ridge: ridge, workers: workers, d: d, pad: kernel.Padded(d)}
	m.t, m.c = make([]float64, n), make([]float64, n)
	for k := range m.gram {
		m.gram[k] = make([]float64, m.pad*m.pad)
		m.pack[k] = make([]float64, gramRows*m.pad)
	}
	return m
}

func (m *primalMetric) refresh(theta []float64) {
	m.each(func(k, lo, hi int) { m.part(k, lo, hi, theta) })
	total := m.gram[0]
	for _, g := range m.gram[1:] {
		floats.Add(total, g)
	}
	for j := range m.d {
		total[j*m.pad+j] += m.ridge[j]
	}
	var s mat.SymDense
	s.SetRawSymmetric(blas64.Symmetric{N: m.d, Stride: m.pad, Data: total, Uplo: blas.Upper})
	m.ok = m.chol.Factorize(&s)
}

// each runs f over the parts of the records, side by side if there are workers.
func (m *primalMetric) each(f func(k, lo, hi int)) {
	n := len(m.t)
	var wg sync.WaitGroup
	for k := range gramParts {
		lo, hi := k*n/gramParts, (k+1)*n/gramParts
		if m.workers == 1 {
			f(k, lo, hi)
			continue
		}
		wg.Go(func() { f(k, lo, hi) })
	}
	wg.Wait()
}

func (m *primalMetric) part(k, from, to int, theta []float64) {
	clear(m.gram[k])
	for lo := from; lo < to; lo += gramRows {
		hi := min(lo+gramRows, to)
		t, c := m.t[lo:hi], m.c[lo:hi]
		m.s.Rows.Margins(t, theta, lo, hi)
		m.s.Loss.Curvature(c, t, m.s.Labels[lo:hi])
		for i := lo; i < hi; i++ {
			row := m.pack[k][(i-lo)*m.pad : (i-lo)*m.pad+m.d]
			m.s.Rows.Row(row, i)
			floats.Scale(math.Sqrt(m.scale*c[i-lo]), row)
		}
		kernel.AddGram(m.gram[k], m.pack[k], hi-lo, m.pad)
	}
}

func (m *primalMetric) solve(v []float64) {
	x := mat.NewVecDense(len(v), v)
	if !m.ok || m.chol.SolveVecTo(x, x) != nil || math.IsNaN(floats.Sum(v)) {
		n := float64(len(m.t))
		m.ok = false // too ill-conditioned to steer by
		for j := range v {
			v[j] /= m.ridge[j] + m.scale*n*m.s.Loss.Smoothness()
		}
	}
}

// dualMetric is the Hessian of a problem with fewer records than features,
//
//	(Λ + XᵀCX)⁻¹ = Λ⁻¹ − Λ⁻¹XᵀS(I + S·XΛ⁻¹Xᵀ·S)⁻¹SXΛ⁻¹,  S = √C, Λ = diag(λ + ω),
//
// with an n×n matrix to be factored in place of a d×d one.
type dualMetric struct {
	p       *Problem
	n       int
	ridge   []float64
	gram    *mat.SymDense // XΛ⁻¹Xᵀ
	scaled  *mat.SymDense
	chol    mat.Cholesky
	t, c, u []float64
	back    []float64 // length d
	ok      bool
}

func newDualMetric(p *Problem) *dualMetric {
	n, d := p.Rows.Dims()
	m := &dualMetric{p: p, n: n, ridge: p.ridges(d), gram: mat.NewSymDense(n, nil), scaled: mat.NewSymDense(n, nil)}
	m.t, m.c, m.u = make([]float64, n), make([]float64, n), make([]float64, n)
	m.back = make([]float64, d)
	row := make([]float64, d)
	for i := range n {
		p.Rows.Row(row, i)
		floats.Div(row, m.ridge)
		p.Rows.Margins(m.u[i:], row, i, n)
		for j := i; j < n; j++ {
			m.gram.SetSym(i, j, m.u[j])
		}
	}
	return m
}

func (m *dualMetric) refresh(theta []float64) {
	m.p.Rows.Margins(m.t, theta, 0, m.n)
	m.p.Loss.Curvature(m.c, m.t, m.p.Labels)
	for i, c := range m.c {
		m.c[i] = math.Sqrt(c)
	}
	for i := range m.n {
		for j := i; j < m.n; j++ {
			m.scaled.SetSym(i, j, m.c[i]*m.c[j]*m.gram.At(i, j))
		}
		m.scaled.SetSym(i, i, m.scaled.At(i, i)+1)
	}
	m.ok = m.chol.Factorize(m.scaled)
}

func (m *dualMetric) solve(v []float64) {
	if !m.ok {
		for j := range v {
			v[j] /= m.ridge[j] + float64(m.n)*m.p.Loss.Smoothness()
		}
		return
	}
	floats.Div(v, m.ridge)
	m.p.Rows.Margins(m.u, v, 0, m.n)
	floats.Mul(m.u, m.c)
	x := mat.NewVecDense(m.n, m.u)
	if m.chol.SolveVecTo(x, x) != nil {
		m.ok = false
		floats.Mul(v, m.ridge)
		m.solve(v)
		return
	}
	floats.Mul(m.u, m.c)
	floats.Scale(-1, m.u)
	clear(m.back)
	m.p.Rows.AddScaled(m.back, m.u, 0, m.n)
	floats.Div(m.back, m.ridge)
	floats.Add(v, m.back)
}

// diagonalMetric is the diagonal of the Hessian over an evenly spaced sample.
type diagonalMetric struct {
	s         *Problem
	scale     float64
	ridge     []float64
	diag, row []float64
	t, c      []float64
}

func newDiagonalMetric(s *Problem, scale float64, ridge []float64) *diagonalMetric {
	n, d := s.Rows.Dims()
	return &diagonalMetric{s: s, scale: scale, ridge: ridge, diag: make([]float64, d), row: make([]float64, d), t: make([]float64, n), c: make([]float64, n)}
}

func (m *diagonalMetric) refresh(theta []float64) {
	n := len(m.t)
	m.s.Rows.Margins(m.t, theta, 0, n)
	m.s.Loss.Curvature(m.c, m.t, m.s.Labels)
	copy(m.diag, m.ridge)
	for i, c := range m.c {
		if sparse, ok := m.s.Rows.(*matrix.CSR); ok {
			cols, values := sparse.Entries(i)
			for k, j := range cols {
				m.diag[j] += m.scale * c * values[k] * values[k]
			}
			continue
		}
		m.s.Rows.Row(m.row, i)
		for j, v := range m.row {
			m.diag[j] += m.scale * c * v * v
		}
	}
}

func (m *diagonalMetric) solve(v []float64) { floats.Div(v, m.diag) }
