package matrix

import (
	"encoding/binary"
	"math"
	"sync"

	"github.com/dpnb/notebooks/dpnb/internal/kernel"
)

// single is a dense n×d matrix of float32, which is made float64 again, without an error, as it is
// read: half the memory of Dense, for rows of which 24 bits a number are enough.
type single struct {
	n, d  int
	raw   []byte    // little-endian, row by row
	views sync.Pool // of *view
}

// view is what one goroutine has read last: the rows lo ≤ i < hi.
type view struct {
	lo, hi int
	rows   []float64
}

func newSingle(n, d int) *single { return &single{n: n, d: d, raw: make([]byte, 4*n*d)} }

// set makes row i that of x, every number rounded towards zero, so that the row gets no longer.
func (m *single) set(i int, x []float64) {
	raw := m.raw[4*i*m.d:]
	for j, v := range x {
		binary.LittleEndian.PutUint32(raw[4*j:], math.Float32bits(Shorter(v)))
	}
}

// Shorter returns the float32 next to v towards zero.
func Shorter(v float64) float32 {
	f := float32(v)
	if math.Abs(float64(f)) > math.Abs(v) {
		return math.Float32frombits(math.Float32bits(f) - 1) // of the same sign: f is not 0
	}
	return f
}

// Dims implements Rows.
func (m *single) Dims() (n, d int) { return m.n, m.d }

// with calls use with the rows lo ≤ i < hi, no more than MaxBlock at a time, of which the first is
// record from. Who has just read them finds them there.
func (m *single) with(lo, hi int, use func(block *Dense, from int)) {
	v, ok := m.views.Get().(*view)
	if !ok {
		v = new(view)
	}
	defer m.views.Put(v)
	for ; lo < hi; lo += MaxBlock {
		end := min(lo+MaxBlock, hi)
		if v.lo != lo || v.hi != end {
			if count := (end - lo) * m.d; cap(v.rows) < count {
				v.rows = make([]float64, count)
			}
			v.lo, v.hi, v.rows = lo, end, v.rows[:(end-lo)*m.d]
			kernel.Widen(v.rows, m.raw[4*lo*m.d:4*end*m.d])
		}
		use(&Dense{N: end - lo, D: m.d, Data: v.rows}, lo)
	}
}

// Margins implements Rows.
func (m *single) Margins(dst, theta []float64, lo, hi int) {
	m.with(lo, hi, func(b *Dense, from int) { b.Margins(dst[from-lo:], theta, 0, b.N) })
}

// AddScaled implements Rows.
func (m *single) AddScaled(dst, w []float64, lo, hi int) {
	m.with(lo, hi, func(b *Dense, from int) { b.AddScaled(dst, w[from-lo:], 0, b.N) })
}

// Norms implements Rows.
func (m *single) Norms(dst []float64, lo, hi int) {
	m.with(lo, hi, func(b *Dense, from int) { b.Norms(dst[from-lo:], 0, b.N) })
}

// Row implements Rows.
func (m *single) Row(dst []float64, i int) { kernel.Widen(dst[:m.d], m.raw[4*i*m.d:4*(i+1)*m.d]) }
