package matrix

import (
	"math"
	"slices"
)

// CSR is a sparse n×d matrix of records by rows: row i has the values Values[Starts[i]:Starts[i+1]] in the columns
// Columns[Starts[i]:Starts[i+1]], each at most once and in rising order. A row with others has an infinite norm, which
// no mechanism admits: of a column that stands there twice the entries would be taken apart here, and added in Margins.
type CSR struct {
	N, D    int
	Starts  []int
	Columns []int32
	Values  []float64
}

// Sparse returns the entries of m that are not zero.
func (m *Dense) Sparse() *CSR {
	s := &CSR{N: m.N, D: m.D, Starts: make([]int, 1, m.N+1)}
	for i := range m.N {
		for j, v := range m.Data[i*m.D : (i+1)*m.D] {
			if v != 0 {
				s.Columns = append(s.Columns, int32(j))
				s.Values = append(s.Values, v)
			}
		}
		s.Starts = append(s.Starts, len(s.Values))
	}
	return s
}

// Dims returns n and d.
func (m *CSR) Dims() (n, d int) { return m.N, m.D }

// Entry returns the entry of row i in column j, and whether there is one.
func (m *CSR) Entry(i, j int) (v float64, ok bool) {
	columns, values := m.Entries(i)
	k, ok := slices.BinarySearch(columns, int32(j))
	if ok {
		v = values[k]
	}
	return v, ok
}

// Nonzeros returns the number of entries that are stored.
func (m *CSR) Nonzeros() int { return len(m.Values) }

// Entries returns the columns and values of row i, which the caller does not change.
func (m *CSR) Entries(i int) ([]int32, []float64) {
	lo, hi := m.Starts[i], m.Starts[i+1]
	return m.Columns[lo:hi], m.Values[lo:hi]
}

// Margins implements Rows.
func (m *CSR) Margins(dst, theta []float64, lo, hi int) {
	for i := lo; i < hi; i++ {
		cols, values := m.Entries(i)
		var a, b, c, d float64 // four chains hide the latency of the addition
		for len(cols) >= 4 && len(values) >= 4 {
			a += values[0] * theta[cols[0]]
			b += values[1] * theta[cols[1]]
			c += values[2] * theta[cols[2]]
			d += values[3] * theta[cols[3]]
			cols, values = cols[4:], values[4:]
		}
		for k, j := range cols {
			a += values[k] * theta[j]
		}
		dst[i-lo] = (a + b) + (c + d)
	}
}

// AddScaled implements Rows.
func (m *CSR) AddScaled(dst, w []float64, lo, hi int) {
	for i := lo; i < hi; i++ {
		cols, values := m.Entries(i)
		values = values[:len(cols)]
		wi := w[i-lo]
		for k, j := range cols {
			dst[j] += wi * values[k]
		}
	}
}

// Norms implements Rows.
func (m *CSR) Norms(dst []float64, lo, hi int) {
	for i := lo; i < hi; i++ {
		columns, values := m.Entries(i)
		if dst[i-lo] = math.Sqrt(SumSquares(values)); !m.rise(columns) {
			dst[i-lo] = math.Inf(1)
		}
	}
}

// rise reports whether columns rise, and are some of m.
func (m *CSR) rise(columns []int32) bool {
	last := int32(-1)
	for _, j := range columns {
		if j <= last {
			return false
		}
		last = j
	}
	return int(last) < m.D
}

// Row implements Rows.
func (m *CSR) Row(dst []float64, i int) { m.Block(dst[:m.D], i, i+1) }

// Block is Block of m.
func (m *CSR) Block(dst []float64, lo, hi int) {
	clear(dst[:(hi-lo)*m.D])
	for ; lo < hi; lo, dst = lo+1, dst[m.D:] {
		row := dst[:m.D]
		columns, values := m.Entries(lo)
		values = values[:len(columns)]
		for k, j := range columns {
			row[j] = values[k]
		}
	}
}

// nonzeros returns the number of stored entries of r: n·d unless r knows better.
func Nonzeros(r Rows) int {
	if s, ok := r.(interface{ Nonzeros() int }); ok {
		return s.Nonzeros()
	}
	n, d := r.Dims()
	return n * d
}

// Select returns a new matrix with the given rows, in the given order.
func (m *CSR) Select(index []int) *CSR {
	s := &CSR{N: len(index), D: m.D, Starts: make([]int, 1, len(index)+1)}
	for _, i := range index {
		cols, values := m.Entries(i)
		s.Columns = append(s.Columns, cols...)
		s.Values = append(s.Values, values...)
		s.Starts = append(s.Starts, len(s.Values))
	}
	return s
}
