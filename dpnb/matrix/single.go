package matrix

import (
	"encoding/binary"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/kernel"
)

// single is a dense n×d matrix of float32, half the memory of Dense, for rows of which 24 bits a number are enough.
// What is computed of them are the bits that float64 rows of these numbers have.
type single struct {
	n, d int
	raw  []byte // little-endian, row by row
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

func (m *single) Dims() (n, d int) { return m.n, m.d }

// with calls use with the rows lo ≤ i < hi as float64, no more than MaxBlock at a time, of which the first is record
// from.
func (m *single) with(lo, hi int, use func(block *Dense, from int)) {
	room := take(max(0, min(MaxBlock, hi-lo)) * m.d)
	defer rooms.Put(room)
	for ; lo < hi; lo += MaxBlock {
		end := min(lo+MaxBlock, hi)
		rows := (*room)[:(end-lo)*m.d]
		kernel.Widen(rows, m.rows(lo, end))
		use(NewDense(end-lo, m.d, rows), lo)
	}
}

// rows returns the rows lo ≤ i < hi as they lie in memory.
func (m *single) rows(lo, hi int) []byte { return m.raw[4*lo*m.d : 4*hi*m.d] }

func (m *single) Margins(dst, theta []float64, lo, hi int) {
	rest := lo + kernel.MarginsWide(dst[:hi-lo], m.rows(lo, hi), theta)
	m.with(rest, hi, func(b *Dense, from int) { b.Margins(dst[from-lo:], theta, 0, b.N) })
}

func (m *single) AddScaled(dst, w []float64, lo, hi int) {
	rest := lo + kernel.AddScaledWide(dst, m.rows(lo, hi), w[:hi-lo])
	m.with(rest, hi, func(b *Dense, from int) { b.AddScaled(dst, w[from-lo:], 0, b.N) })
}

func (m *single) Norms(dst []float64, lo, hi int) {
	m.with(lo, hi, func(b *Dense, from int) { b.Norms(dst[from-lo:], 0, b.N) })
}

func (m *single) Row(dst []float64, i int) { kernel.Widen(dst[:m.d], m.rows(i, i+1)) }
