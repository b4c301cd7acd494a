package erm

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/kernel"
	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

const (
	// maxWhole is the largest number of coefficients for which the metric of a sample has the blocks off the diagonal.
	maxWhole = 100
	// maxFactor is the largest order of a matrix that is factored.
	maxFactor = 2500
	// gramParts is the number of partial Gram matrices, whatever the workers.
	gramParts = 2
	// gramRows records are packed at a time.
	gramRows = 64
)

// metric approximates the Hessian of J. It only steers the search; the certificate does not depend on it.
type metric interface {
	// refresh moves the metric to θ.
	refresh(theta []float64)
	// solve overwrites v by an approximation of (∇²J)⁻¹v.
	solve(v []float64)
}

// primalMetric is the Hessian over the records of a problem s, times a scale, plus that of the penalty, factored. With
// s = p and scale 1 it is the Hessian of p.
//
// Of forms that are apart it may have only the blocks on the diagonal, one for each form. Where the forms are coupled
// κΣc = 1, so that ∇²f·(1, …, 1) = 0: along equal θ_k the Hessian is that of the penalty, and the blocks are for what
// is left without the mean.
type primalMetric struct {
	s       *Problem
	f       loss.Joint
	forms   []form
	scale   float64
	rest    *penalty
	workers int
	// source makes the Hessian where the records are not here; nil where they are.
	source Source
	// The records are those from the given one on, n of them.
	from, n, size int
	// One block of the Hessian is made at a time, of the d coefficients of one form by those of another; pad is its
	// stride. Where all forms see the same there is one block.
	d, pad, blocks int
	// whole says that the blocks off the diagonal are there, too.
	whole bool
	// c is that of the loss, of all records: kept where they are in memory and several blocks want it. Else there is
	// few, of gramRows records at a time.
	c    []float64
	few  [gramParts][]float64
	t    [gramParts][]float64
	gram [gramParts][]float64
	pack [gramParts][]float64
	// room is for gramRows rows of each form of a block.
	room [gramParts][]float64
	// h has, one after another, the upper triangles that are factored, each of the given order and stride.
	h             []float64
	order, stride int
	factors       []mat.Cholesky
	ok            bool
	// mean is room for that of a vector over the blocks, where it is apart.
	mean []float64
}

func newPrimalMetric(s *Problem, scale float64, rest *penalty, workers int, whole bool) *primalMetric {
	all := s.forms()
	n, d := all[0].rows.Dims()
	m := &primalMetric{s: s, f: s.joint(), forms: all, scale: scale, rest: rest, workers: workers, n: n,
		size: size(all)}
	m.d, m.pad, m.blocks = d, kernel.Padded(d), m.size/d
	m.whole = whole || m.blocks == 1
	m.source, _ = s.Rows.(Source)
	if m.blocks > 1 && inMemory(all) {
		m.c = make([]float64, n*len(all))
	}
	for k := range m.gram {
		m.few[k] = make([]float64, gramRows*len(all))
		m.t[k] = make([]float64, gramRows*len(all))
		m.gram[k] = make([]float64, m.pad*m.pad)
		m.pack[k] = make([]float64, gramRows*m.perBlock()*m.pad)
		m.room[k] = make([]float64, gramRows*m.perBlock()*m.d)
	}
	switch m.h, m.order, m.stride = m.gram[0], d, m.pad; {
	case !m.whole:
		m.h = make([]float64, m.size*m.pad)
	case m.blocks > 1:
		m.h, m.order, m.stride = make([]float64, m.size*m.size), m.size, m.size
	}
	m.factors = make([]mat.Cholesky, m.size/m.order)
	if !m.whole && m.f.Coupling() != 0 {
		m.mean = make([]float64, d)
	}
	return m
}

// perBlock returns how many rows a record has in one block.
func (m *primalMetric) perBlock() int { return len(m.forms) / m.blocks }

func (m *primalMetric) refresh(theta []float64) {
	m.hessian(theta)
	m.rest.addHessian(m.h, m.order, m.stride)
	m.ok = true
	for k := range m.factors {
		var s mat.SymDense
		s.SetRawSymmetric(blas64.Symmetric{N: m.order, Stride: m.stride, Data: m.h[k*m.order*m.stride:],
			Uplo: blas.Upper})
		m.ok = m.factors[k].Factorize(&s) && m.factors[k].Cond() <= mat.ConditionTolerance && m.ok
	}
}

// hessian writes that of the scaled sum over the records to h.
func (m *primalMetric) hessian(theta []float64) {
	if m.source != nil {
		all := ask(m.source, m.f, Query{Kind: Hessian, At: theta}).Vector
		for i := range m.size {
			copy(m.h[i*m.stride:i*m.stride+m.size], all[i*m.size:(i+1)*m.size])
		}
		return
	}
	for a := range m.blocks {
		for b := a; b < m.blocks && (m.whole || a == b); b++ {
			m.each(func(k, lo, hi int) { m.part(k, lo, hi, a, b, theta) })
			total := m.gram[0]
			for _, g := range m.gram[1:] {
				floats.Add(total, g)
			}
			if m.blocks > 1 {
				m.place(total, a, b)
			}
		}
	}
}

// place copies block (a, b) to h: it is made up to its sign, and symmetric.
func (m *primalMetric) place(block []float64, a, b int) {
	sign := -1.0
	if a == b {
		sign = 1
	}
	row, column := a*m.d, b*m.d%m.order
	for i := range m.d {
		for j := i; j < m.d; j++ {
			v := sign * block[i*m.pad+j]
			m.h[(row+i)*m.stride+column+j], m.h[(row+j)*m.stride+column+i] = v, v
		}
	}
}

// each runs f over the parts of the records, side by side if there are workers.
func (m *primalMetric) each(f func(k, lo, hi int)) {
	parallel.Each(gramParts, m.workers, func(k int) { f(k, m.from+k*m.n/gramParts, m.from+(k+1)*m.n/gramParts) })
}

// part makes the share of block (a, b) of the records from … to−1, and their c first unless that of block (0, 0) was
// kept.
func (m *primalMetric) part(part, from, to, a, b int, theta []float64) {
	clear(m.gram[part])
	per := m.perBlock()
	for lo := from; lo < to; lo += gramRows {
		hi := min(lo+gramRows, to)
		count := hi - lo
		for k := range per {
			matrix.Block(m.forms[k].rows, m.room[part][k*gramRows*m.d:], lo, hi)
		}
		t, c := m.t[part][:count*len(m.forms)], m.few[part][:count*len(m.forms)]
		if m.c != nil {
			c = m.c[lo*len(m.forms) : hi*len(m.forms)]
		}
		if m.c == nil || a == 0 && b == 0 {
			for k, f := range m.forms { // of forms that are apart the rows are the same
				own := m.room[part][k%per*gramRows*m.d:]
				kernel.Margins(t[k*count:(k+1)*count], own[:count*m.d], theta[f.lo:f.hi])
			}
			m.f.Derivatives(nil, c, t, m.s.Labels[lo:hi])
		}
		for i := range count {
			m.packRecord(m.pack[part][i*per*m.pad:(i+1)*per*m.pad], m.room[part][i*m.d:], c[i:], count, a, b)
		}
		kernel.AddGram(m.gram[part], m.pack[part], count*per, m.pad)
	}
}

// packRecord writes the rows whose outer products, summed, are ± block (a, b) of a record. Its own rows are gramRows
// apart in of. With c at every count-th place they are √(c_a − κc_a²)·x or √(κc_ac_b)·x, and where all forms see the
// same the √c_k(a_k − κΣc_la_l), for κΣc is 0 or 1.
func (m *primalMetric) packRecord(rows, of, c []float64, count, a, b int) {
	kappa, per := m.f.Coupling(), m.perBlock()
	for k := range per {
		copy(rows[k*m.pad:k*m.pad+m.d], of[k*gramRows*m.d:])
	}
	switch {
	case m.blocks > 1 || per == 1:
		w := kappa * c[a*count] * c[b*count]
		if a == b {
			w = c[a*count] - w
		}
		floats.Scale(math.Sqrt(m.scale*math.Max(0, w)), rows[:m.d])
		return
	case kappa != 0:
		mean := make([]float64, m.d)
		for k := range per {
			floats.AddScaled(mean, kappa*c[k*count], rows[k*m.pad:k*m.pad+m.d])
		}
		for k := range per {
			floats.Sub(rows[k*m.pad:k*m.pad+m.d], mean)
		}
	}
	for k := range per {
		floats.Scale(math.Sqrt(m.scale*c[k*count]), rows[k*m.pad:k*m.pad+m.d])
	}
}

func (m *primalMetric) solve(v []float64) {
	if m.mean != nil {
		m.centre(v, m.mean)
	}
	for k := range m.factors {
		if m.ok {
			x := mat.NewVecDense(m.order, v[k*m.order:(k+1)*m.order])
			_ = m.factors[k].SolveVecTo(x, x) // the condition was looked at
		}
	}
	if !m.ok || math.IsNaN(floats.Sum(v)) {
		m.ok = false // too ill-conditioned to steer by
		for j, r := range m.rest.diagonal() {
			v[j] /= r + m.scale*float64(m.n)*m.f.Smoothness()
		}
	}
	if m.mean != nil {
		m.centre(v, m.pack[0][:m.d])
		for i := range v {
			v[i] += m.mean[i%m.d] / m.rest.ridge[i]
		}
	}
}

// centre takes their mean from the blocks of v and leaves it in mean.
func (m *primalMetric) centre(v, mean []float64) {
	clear(mean)
	for i, x := range v {
		mean[i%m.d] += x / float64(m.blocks)
	}
	for i := range v {
		v[i] -= mean[i%m.d]
	}
}

// dualMetric is the Hessian of a problem of one form with fewer records than features,
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

func newDualMetric(p *Problem, ridge []float64) *dualMetric {
	n, d := p.Rows.Dims()
	m := &dualMetric{p: p, n: n, ridge: ridge, gram: mat.NewSymDense(n, nil), scaled: mat.NewSymDense(n, nil)}
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
	m.ok = m.chol.Factorize(m.scaled) && m.chol.Cond() <= mat.ConditionTolerance
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
	_ = m.chol.SolveVecTo(x, x) // the condition was looked at
	floats.Mul(m.u, m.c)
	floats.Scale(-1, m.u)
	clear(m.back)
	m.p.Rows.AddScaled(m.back, m.u, 0, m.n)
	floats.Div(m.back, m.ridge)
	floats.Add(v, m.back)
}

// columnMetric keeps of the Hessian over an evenly spaced sample what belongs to one column of the records at a time.
// Of forms that are apart and coupled these are, with g_k = Σcᵢ_kx², the K×K matrices
//
//	diag(λ + g) − ggᵀ/Σg,
//
// exact where the cᵢ are alike; of others the diagonal Σ_k g_k.
type columnMetric struct {
	s     *Problem
	f     loss.Joint
	forms []form
	scale float64
	// ridge is λ + ω and the diagonal of Q, diag that and g, by coefficients.
	ridge     []float64
	diag, row []float64
	t, c      []float64
	coupled   bool
}

func newColumnMetric(s *Problem, scale float64, rest *penalty) *columnMetric {
	all := s.forms()
	n, d := all[0].rows.Dims()
	m := &columnMetric{s: s, f: s.joint(), forms: all, scale: scale, ridge: rest.diagonal()}
	m.diag, m.row = make([]float64, size(all)), make([]float64, d)
	m.t, m.c = make([]float64, n*len(all)), make([]float64, n*len(all))
	m.coupled = apart(all) && m.f.Coupling() != 0
	return m
}

func (m *columnMetric) refresh(theta []float64) {
	n := len(m.s.Labels)
	for k, f := range m.forms {
		f.rows.Margins(m.t[k*n:(k+1)*n], theta[f.lo:f.hi], 0, n)
	}
	m.f.Derivatives(nil, m.c, m.t, m.s.Labels)
	copy(m.diag, m.ridge)
	for k, f := range m.forms {
		diag := m.diag[f.lo:f.hi]
		for i, c := range m.c[k*n : (k+1)*n] {
			columns, values := entries(f.rows, m.row, i)
			if columns == nil {
				for j, v := range values {
					diag[j] += m.scale * c * v * v
				}
				continue
			}
			for e, j := range columns {
				diag[j] += m.scale * c * values[e] * values[e]
			}
		}
	}
}

func (m *columnMetric) solve(v []float64) {
	if m.coupled {
		m.couple(v)
	}
	floats.Div(v, m.diag)
}

// couple adds to v what makes the division by diag the inverse with the coupling (Sherman and Morrison): B = A − ggᵀ/s
// with A = diag(λ + g), s = Σg has AB⁻¹v = v + g·(gᵀA⁻¹v)/(s − gᵀA⁻¹g), and s − gᵀA⁻¹g = Σ λg/(λ + g).
func (m *columnMetric) couple(v []float64) {
	d := len(m.row)
	for j := range d {
		var along, rest float64
		for i := j; i < len(v); i += d {
			g := m.diag[i] - m.ridge[i]
			along += g * v[i] / m.diag[i]
			rest += g * m.ridge[i] / m.diag[i]
		}
		if !(rest > 0) {
			continue
		}
		for i := j; i < len(v); i += d {
			v[i] += (m.diag[i] - m.ridge[i]) * along / rest
		}
	}
}
