package matrix

import (
	"fmt"
	"math"
	"slices"
)

// CSR is a sparse n×d matrix of records by rows: row i has the values Values[Starts[i]:Starts[i+1]] in the columns
// Columns[Starts[i]:Starts[i+1]].
type CSR struct {
	N, D    int
	Starts  []int
	Columns []int32
	Values  []float64
}

// NewCSR returns the matrix over the given slices, which it keeps.
//
// Errors: *DataError if starts does not rise from 0 to len(values) in n+1 steps, if columns and values differ in
// length, or if the columns of a row do not rise strictly within 0 … d−1.
func NewCSR(n, d int, starts []int, columns []int32, values []float64) (*CSR, error) {
	fail := func(format string, a ...any) (*CSR, error) { return nil, &DataError{fmt.Sprintf(format, a...)} }
	switch {
	case n < 0 || d < 0 || d > math.MaxInt32:
		return fail("%d×%d is not a size of a sparse matrix", n, d)
	case len(starts) != n+1 || starts[0] != 0 || starts[n] != len(values):
		return fail("starts must have n+1 = %d entries, from 0 to the number %d of values", n+1, len(values))
	case len(columns) != len(values):
		return fail("%d columns for %d values", len(columns), len(values))
	}
	for i := range n {
		if starts[i+1] < starts[i] || starts[i+1] > len(values) {
			return fail("starts must not fall, but does at row %d", i)
		}
		last := int32(-1)
		for _, j := range columns[starts[i]:starts[i+1]] {
			if j <= last || int(j) >= d {
				return fail("the columns of row %d must rise strictly within 0 … %d", i, d-1)
			}
			last = j
		}
	}
	return &CSR{N: n, D: d, Starts: starts, Columns: columns, Values: values}, nil
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
		values = values[:len(cols)]
		var a, b float64 // two chains hide the latency of the addition
		k := 0
		for ; k+1 < len(cols); k += 2 {
			a += values[k] * theta[cols[k]]
			b += values[k+1] * theta[cols[k+1]]
		}
		if k < len(cols) {
			a += values[k] * theta[cols[k]]
		}
		dst[i-lo] = a + b
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
		_, values := m.Entries(i)
		dst[i-lo] = math.Sqrt(SumSquares(values))
	}
}

// Row implements Rows.
func (m *CSR) Row(dst []float64, i int) {
	clear(dst)
	cols, values := m.Entries(i)
	for k, j := range cols {
		dst[j] = values[k]
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
