// Package matrix has matrices of records, dense and sparse, one row a record, and what is computed of them block by
// block. Every room may enter; it enters none.
package matrix

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/kernel"
)

// DataError says what is wrong with records, or with what is asked of them.
type DataError struct{ Text string }

// Error implements error.
func (e *DataError) Error() string { return "records: " + e.Text }

// MaxBlock bounds the number of records in a block, and with it the depth of the sums within one.
const MaxBlock = 256

// Finite reports whether every number is.
func Finite(x ...float64) bool {
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// Span is a run of features.
type Span struct{ First, Len int }

// Roughen adds the matrix of w·Σ(θⱼ − 2θⱼ₊₁ + θⱼ₊₂)² over s, halved, to q.
func (s Span) Roughen(q *mat.SymDense, w float64) {
	bend := [3]float64{1, -2, 1}
	for j := s.First; j+2 < s.First+s.Len; j++ {
		for a, x := range bend {
			for b, y := range bend[a:] {
				q.SetSym(j+a, j+a+b, q.At(j+a, j+a+b)+w*x*y)
			}
		}
	}
}

// Eigen returns the eigenvalues, rising, and the eigenvectors of m, in columns; ok is false if the sum of a column
// is not finite or they were not found.
func Eigen(m *mat.SymDense) (values []float64, vectors *mat.Dense, ok bool) {
	if norm := mat.Norm(m, 1); math.IsNaN(norm) || math.IsInf(norm, 0) {
		return nil, nil, false
	}
	var e mat.EigenSym
	if !e.Factorize(m, true) {
		return nil, nil, false
	}
	vectors = new(mat.Dense)
	e.VectorsTo(vectors)
	return e.Values(nil), vectors, true
}

// Rising reports whether spans rise and do not overlap.
func Rising(spans []Span) bool {
	end := 0
	for _, s := range spans {
		if s.First < end || s.Len < 1 {
			return false
		}
		end = s.First + s.Len
	}
	return true
}

// Outside returns the features of d, rising, that are in none of the spans, which rise.
func Outside(spans []Span, d int) []int {
	out, next := []int{}, 0
	for _, s := range spans {
		for ; next < s.First; next++ {
			out = append(out, next)
		}
		next += s.Len
	}
	for ; next < d; next++ {
		out = append(out, next)
	}
	return out
}

// Direction is a vector over features that is zero but for the Weights from First on.
type Direction struct {
	First   int
	Weights []float64
}

// Along returns the part of x along v, which is of norm 1.
func (v Direction) Along(x []float64) float64 {
	var sum float64
	for k, w := range v.Weights {
		sum += w * x[v.First+k]
	}
	return sum
}

// Add adds a multiple of v to x.
func (v Direction) Add(x []float64, times float64) {
	for k, w := range v.Weights {
		x[v.First+k] += times * w
	}
}

// Rows is a matrix of records, one row a record, seen block by block. Implementations are safe for concurrent reads.
type Rows interface {
	// Dims returns the number of records n and of features d.
	Dims() (n, d int)
	// Margins writes xᵢᵀθ to dst[i−lo] for lo ≤ i < hi.
	Margins(dst, theta []float64, lo, hi int)
	// AddScaled adds Σ w[i−lo]·xᵢ over lo ≤ i < hi to dst (length d).
	AddScaled(dst, w []float64, lo, hi int)
	// Norms writes ‖xᵢ‖₂ to dst[i−lo] for lo ≤ i < hi.
	Norms(dst []float64, lo, hi int)
	// Row writes xᵢ to dst (length d).
	Row(dst []float64, i int)
}

// Dense is a dense row-major n×d matrix of records.
type Dense struct {
	N, D int
	// Data holds row i at Data[i*D : (i+1)*D].
	Data []float64
}

// NewDense returns the n×d matrix over data, which it keeps. If data is nil it is allocated. It panics if the length is
// not n·d.
func NewDense(n, d int, data []float64) *Dense {
	if n < 0 || d < 0 {
		panic("erm: negative dimension")
	}
	if data == nil {
		data = make([]float64, n*d)
	}
	if len(data) != n*d {
		panic("erm: length of data is not n·d")
	}
	return &Dense{N: n, D: d, Data: data}
}

// Dims returns n and d.
func (m *Dense) Dims() (n, d int) { return m.N, m.D }

// At returns the element of row i and column j.
func (m *Dense) At(i, j int) float64 { return m.Data[i*m.D+j] }

// Margins implements Rows.
func (m *Dense) Margins(dst, theta []float64, lo, hi int) {
	kernel.Margins(dst[:hi-lo], m.Data[lo*m.D:hi*m.D], theta)
}

// AddScaled implements Rows.
func (m *Dense) AddScaled(dst, w []float64, lo, hi int) {
	kernel.AddScaled(dst, m.Data[lo*m.D:hi*m.D], w[:hi-lo])
}

// Norms implements Rows.
func (m *Dense) Norms(dst []float64, lo, hi int) {
	for i := lo; i < hi; i++ {
		dst[i-lo] = math.Sqrt(SumSquares(m.Data[i*m.D : (i+1)*m.D]))
	}
}

// sumSquares returns Σxⱼ²; four chains hide the latency of the addition. Long sums are halved, so that they err by less
// than 3e-13 relatively: what mechanisms allow a computed norm to exceed its bound by has to pay for it.
func SumSquares(x []float64) float64 {
	if len(x) > 8192 {
		half := len(x) / 2
		return SumSquares(x[:half]) + SumSquares(x[half:])
	}
	var a, b, c, d float64
	for ; len(x) >= 4; x = x[4:] {
		a += x[0] * x[0]
		b += x[1] * x[1]
		c += x[2] * x[2]
		d += x[3] * x[3]
	}
	for _, v := range x {
		a += v * v
	}
	return a + b + (c + d)
}

// Row implements Rows.
func (m *Dense) Row(dst []float64, i int) { copy(dst, m.Data[i*m.D:(i+1)*m.D]) }

// Block is Block of m.
func (m *Dense) Block(dst []float64, lo, hi int) { copy(dst, m.Data[lo*m.D:hi*m.D]) }

// Select returns a new matrix with the given rows, in the given order.
func (m *Dense) Select(index []int) *Dense {
	return Copied(m, index)
}

// Block writes the rows lo ≤ i < hi of r to dst, one after another: those that Row writes. It does not ask for the
// method, which a type that embeds one of these and has a Row of its own has too.
func Block(r Rows, dst []float64, lo, hi int) {
	_, d := r.Dims()
	switch m := r.(type) {
	case *Dense:
		m.Block(dst, lo, hi)
	case *CSR:
		m.Block(dst, lo, hi)
	case *Affine:
		m.Block(dst, lo, hi)
	case HStack:
		m.Block(dst, lo, hi)
	case blocks:
		copyBlocks(m, dst, lo, hi)
	default:
		for i := lo; i < hi; i++ {
			r.Row(dst[(i-lo)*d:(i-lo+1)*d], i)
		}
	}
}

// copyBlocks is a function of its own so that nothing of Block is on the heap for its sake.
func copyBlocks(m blocks, dst []float64, lo, hi int) {
	m.Blocks(lo, hi, func(b *Dense, from int) { copy(dst[(from-lo)*b.D:], b.Data[:b.N*b.D]) })
}

// Densed returns r if it is dense, else a dense copy.
func Densed(r Rows) *Dense {
	if m, ok := r.(*Dense); ok {
		return m
	}
	n, d := r.Dims()
	m := NewDense(n, d, nil)
	for i := range n {
		r.Row(m.Data[i*d:(i+1)*d], i)
	}
	return m
}

// Select returns a new matrix with the given rows of r, in the given order: sparse if r is, or made as those of r are,
// else dense.
func Select(r Rows, index []int) Rows {
	switch m := r.(type) {
	case interface{ Select(index []int) Rows }:
		return m.Select(index)
	case *CSR:
		return m.Select(index)
	}
	return Copied(r, index)
}

// Copied returns a dense copy of the given rows of r, in the given order.
func Copied(r Rows, index []int) *Dense {
	_, d := r.Dims()
	s := NewDense(len(index), d, nil)
	for k, i := range index {
		r.Row(s.Data[k*d:(k+1)*d], i)
	}
	return s
}

// MaxNorm returns max ‖xᵢ‖₂, and NaN if an entry is NaN; rows may know it (MaxNorm). What the squares of the entries
// lose below the range of float64 is added, √d·2⁻⁵³⁷: tiny records are not taken for zero.
func MaxNorm(r Rows) float64 {
	_, d := r.Dims()
	if known, ok := r.(interface{ MaxNorm() float64 }); ok {
		return known.MaxNorm() + ShortNorm(d)
	}
	return longest(r, 0) + ShortNorm(d)
}

// longest is a bound that is known, or what Norms finds where that is 0; NaN if an entry is.
func longest(r Rows, known float64) float64 {
	if known > 0 {
		return known
	}
	n, _ := r.Dims()
	buf := make([]float64, MaxBlock)
	var m float64
	for lo := 0; lo < n; lo += MaxBlock {
		hi := min(lo+MaxBlock, n)
		r.Norms(buf, lo, hi)
		for _, v := range buf[:hi-lo] {
			m = math.Max(m, v) // NaN stays NaN
		}
	}
	return m
}

// ShortNorm bounds what the squares of d entries lose below the range of float64, as a norm.
func ShortNorm(d int) float64 { return math.Sqrt(float64(d)) * 0x1p-537 }

// NewLabels returns room for n labels of the rows: where these keep theirs (stored.Rows), else in memory. It is given
// back by free.
func NewLabels(r Rows, n int) (labels []float64, free func(), err error) {
	if own, ok := r.(interface {
		NewLabels() ([]float64, func(), error)
	}); ok {
		return own.NewLabels()
	}
	return make([]float64, n), func() {}, nil
}

// MarginsAlone writes xᵢᵀθ to dst[i−lo] for lo ≤ i < hi, each as a function of its record and of θ alone, to the last
// bit: Margins of dense rows sums those that are left over from groups of four in another order. A mechanism that pays
// for what one record does to a sum needs this. Rows of other types are read one by one.
func MarginsAlone(r Rows, dst, theta []float64, lo, hi int) {
	switch m := r.(type) {
	case *Dense:
		kernel.MarginsAlone(dst[:hi-lo], m.Data[lo*m.D:hi*m.D], theta)
	case *CSR:
		m.Margins(dst[:hi-lo], theta, lo, hi)
	case blocks:
		marginsOfBlocks(m, dst, theta, lo, hi)
	default:
		group := make([]float64, 4*len(theta))
		for ; lo < hi; lo += 4 {
			k := min(4, hi-lo)
			for i := range k {
				r.Row(group[i*len(theta):(i+1)*len(theta)], lo+i)
			}
			kernel.MarginsAlone(dst[:k], group, theta)
			dst = dst[k:]
		}
	}
}

// Made reports whether rows are computed whenever they are read. Block has such rows for several uses: their norms and
// what MarginsAlone writes of them are those of that copy, to the last bit.
func Made(r Rows) bool {
	switch r.(type) {
	case *Affine, HStack, blocks:
		return true
	}
	return false
}

// blocks are rows that are made block by block.
type blocks interface {
	Blocks(lo, hi int, use func(b *Dense, from int))
}

// marginsOfBlocks is a function of its own so that nothing of MarginsAlone is on the heap for its sake.
func marginsOfBlocks(m blocks, dst, theta []float64, lo, hi int) {
	m.Blocks(lo, hi, func(b *Dense, from int) { kernel.MarginsAlone(dst[from-lo:from-lo+b.N], b.Data, theta) })
}

// Complement returns orthonormal columns that span what is orthogonal to all of the directions, which are orthonormal,
// in d dimensions; nil if there are none.
func Complement(directions []Direction, d int) *mat.Dense {
	if len(directions) == 0 {
		return nil
	}
	n := mat.NewDense(d, len(directions), nil)
	for k, v := range directions {
		for j, w := range v.Weights {
			n.Set(v.First+j, k, w)
		}
	}
	var qr mat.QR
	qr.Factorize(n)
	var q mat.Dense
	qr.QTo(&q)
	return mat.DenseCopyOf(q.Slice(0, d, len(directions), d))
}
