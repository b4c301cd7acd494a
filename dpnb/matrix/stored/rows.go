package stored

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/dpnb/notebooks/dpnb/internal/kernel"
	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// Rows are records in a file: a matrix.Rows. Blocks are read when they are asked for, those that follow ahead of that,
// and every block's checksum is looked at whenever it is read, with that of its labels. What reads rows panics with a
// *matrix.ReadError if the file cannot be read any longer, or is another than it was.
type Rows struct {
	header
	file *os.File
	sums []uint32 // of the blocks
	// labelSums are those of the labels, which lie in the file while a pass reads them.
	labelSums []uint32
	labels    mapping
	others    atomic.Pointer[mapping] // of NewLabels
	views     sync.Pool               // of *view
}

// view is what one goroutine has read last: two blocks, for rows that lie across their border, and the rows that were
// asked for as float64.
type view struct {
	raw    [2][]byte
	block  [2]int // of raw, none or a block
	older  int
	lo, hi int
	rows   []float64
}

// none is not −1, after which block 0 would come.
const none = -2

// Open returns the records at path if they are those of the key and every checksum is right, for which it reads all of
// the file.
//
// Errors: ErrNone if there are none, or they are others, cut short or damaged.
func Open(path string, key [32]byte) (*Rows, error) {
	r, err := open(path, key)
	if err != nil {
		return nil, err
	}
	views := make([]*view, parallel.Workers(r.blocks(), 0))
	err = parallel.For(context.Background(), r.blocks(), 0, func(w, k int) (err error) {
		defer matrix.Reading(&err)()
		if views[w] == nil {
			views[w] = newView()
		}
		r.load(views[w], k)
		return nil
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrNone, err), r.Close())
	}
	return r, nil
}

// Reopen is Open of a file that this process has just written: it is not read again.
func Reopen(path string, key [32]byte) (*Rows, error) { return open(path, key) }

// open looks at everything but the rows.
func open(path string, key [32]byte) (*Rows, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNone, err)
	}
	r := &Rows{file: f}
	if err := r.begin(key); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return r, nil
}

func (r *Rows) begin(key [32]byte) error {
	h, err := lookAt(r.file)
	if err != nil {
		return err
	}
	if h.key != key {
		return fmt.Errorf("%w: those of %s are others", ErrNone, r.file.Name())
	}
	r.header = *h
	table := make([]byte, h.tableBytes())
	if _, err := r.file.ReadAt(table, h.tableAt()); err != nil || crc32.Checksum(table, castagnoli) != h.table {
		return fmt.Errorf("%w: the checksums of %s are damaged", ErrNone, r.file.Name())
	}
	for ; len(table) > 0; table = table[4:] {
		r.sums = append(r.sums, binary.LittleEndian.Uint32(table))
	}
	r.sums, r.labelSums = r.sums[:h.blocks()], r.sums[h.blocks():]
	if r.labels, err = mapLabels(r.file, h.labelsAt(), h.n, r.labelSums); err != nil {
		return fmt.Errorf("%w: %w", ErrNone, err)
	}
	return nil
}

// Labels returns the labels of the records, which the caller does not change.
func (r *Rows) Labels() []float64 { return r.labels.values }

// Close closes the file, which stays where it is. The labels stay mapped, for who has them.
func (r *Rows) Close() error { return r.file.Close() }

// Dims implements matrix.Rows.
func (r *Rows) Dims() (n, d int) { return r.n, r.d }

// MaxNorm returns max ‖xᵢ‖₂ as Norms computes them.
func (r *Rows) MaxNorm() float64 { return r.longest }

// NewLabels returns room for other labels of the records, in a file like theirs, which goes with free and with the
// program. It is for one caller at a time.
func (r *Rows) NewLabels() (labels []float64, free func(), err error) {
	return newLabels(r.file.Name(), r.n, &r.others)
}

// newLabels makes room for n labels, which are the others until they are freed, in a file beside the one at path.
func newLabels(path string, n int, others *atomic.Pointer[mapping]) (labels []float64, free func(), err error) {
	if n == 0 {
		return nil, func() {}, nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), PartPrefix+"labels-*")
	if err != nil {
		return nil, nil, failed(err)
	}
	defer f.Close()
	_ = os.Remove(f.Name()) // again below, for systems on which an open file stays
	defer os.Remove(f.Name())
	m, err := reserve(f, n)
	if err != nil {
		return nil, nil, failed(err)
	}
	others.Store(&m)
	return m.values, func() { others.CompareAndSwap(&m, nil); m.free() }, nil
}

// Done says that the labels lo ≤ i < hi will not be read for a while: they need not stay in memory.
func (r *Rows) Done(lo, hi int) {
	r.labels.done(lo, hi)
	if m := r.others.Load(); m != nil {
		m.done(lo, hi)
	}
}

const (
	// ahead is how many blocks at a time the operating system is told of before they are read.
	ahead = 8
	// labelsKept is how many labels may stay in memory.
	labelsKept = 1 << 22
)

// toTell returns the blocks from ≤ i < to of which the operating system is told before block k is read after another.
func toTell(after, k int) (from, to int) {
	switch {
	case after != k-1: // a pass begins here
		return k, k + 2*ahead
	case k%ahead == 0:
		return k + ahead, k + 2*ahead
	}
	return k, k
}

// load reads a block into v, if it is not there, and returns it.
func (r *Rows) load(v *view, k int) []byte {
	for at, block := range v.block {
		if block == k {
			v.older = 1 - at
			return v.raw[at]
		}
	}
	at := v.older
	rows := min(r.rows, r.n-k*r.rows)
	size := rows * int(r.rowBytes())
	if cap(v.raw[at]) < size {
		v.raw[at] = make([]byte, size)
	}
	raw := v.raw[at][:size]
	v.block[at], v.raw[at] = none, raw
	begin := rowsAt + int64(k)*int64(r.rows)*r.rowBytes()
	if from, to := toTell(v.block[1-at], k); from < to {
		willNeed(r.file, begin+int64(from-k)*int64(r.rows)*r.rowBytes(), int64(to-from)*int64(r.rows)*r.rowBytes())
		if from > k && r.n > labelsKept {
			r.Done(max(0, k-2*ahead)*r.rows, max(0, k-ahead)*r.rows)
		}
	}
	_, err := r.file.ReadAt(raw, begin)
	if err == nil && crc32.Checksum(raw, castagnoli) != r.sums[k] {
		err = errors.New("they were changed since they were written")
	}
	if err == nil && !r.sameLabels(k*r.rows, k*r.rows+rows) {
		err = errors.New("labels were changed since they were written")
	}
	if err != nil {
		panic(&matrix.ReadError{Err: fmt.Errorf("records %d to %d of %s: %w", k*r.rows+1, k*r.rows+rows,
			r.file.Name(), err)})
	}
	v.block[at], v.older = k, 1-at
	return raw
}

// sameLabels looks at the checksums of the blocks of mapped labels that begin within lo ≤ i < hi: a pass of all rows
// looks at each once. Those in memory were looked at when they were read.
func (r *Rows) sameLabels(lo, hi int) bool {
	for k := (lo + labelBlock - 1) / labelBlock; k*labelBlock < hi; k++ {
		raw := r.labels.bytes(k*labelBlock, min((k+1)*labelBlock, r.n))
		if raw != nil && crc32.Checksum(raw, castagnoli) != r.labelSums[k] {
			return false
		}
	}
	return true
}

func newView() *view { return &view{block: [2]int{none, none}} }

func (r *Rows) view() *view {
	if v, ok := r.views.Get().(*view); ok {
		return v
	}
	return newView()
}

// with calls use with the rows lo ≤ i < hi, no more than matrix.MaxBlock at a time, of which the first is record from.
// Who has just read them finds them there.
func (r *Rows) with(lo, hi int, use func(m *matrix.Dense, from int)) {
	for ; lo < hi; lo += matrix.MaxBlock {
		end := min(lo+matrix.MaxBlock, hi)
		v := r.view()
		r.fill(v, lo, end)
		m := matrix.Dense{N: end - lo, D: r.d, Data: v.rows}
		use(&m, lo)
		r.views.Put(v)
	}
}

// fill makes the rows lo ≤ i < hi those of v.
func (r *Rows) fill(v *view, lo, hi int) {
	if v.lo == lo && v.hi == hi {
		return
	}
	count := (hi - lo) * r.d
	if cap(v.rows) < count {
		v.rows = make([]float64, count)
	}
	v.lo, v.hi, v.rows = 0, 0, v.rows[:count]
	rowBytes := int(r.rowBytes())
	for at := lo; at < hi; {
		k := at / r.rows
		end := min(hi, (k+1)*r.rows)
		raw := r.load(v, k)[(at-k*r.rows)*rowBytes : (end-k*r.rows)*rowBytes]
		r.decode(v.rows[(at-lo)*r.d:(end-lo)*r.d], raw)
		at = end
	}
	v.lo, v.hi = lo, hi
}

func (r *Rows) decode(dst []float64, raw []byte) {
	if r.size == 4 {
		kernel.Widen(dst, raw)
		return
	}
	for i := range dst {
		dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
	}
}

// Margins implements matrix.Rows.
func (r *Rows) Margins(dst, theta []float64, lo, hi int) {
	rest := r.wide(lo, hi, func(raw []byte, from, to int) int {
		return kernel.MarginsWide(dst[from-lo:to-lo], raw, theta)
	})
	r.with(rest, hi, func(m *matrix.Dense, from int) { m.Margins(dst[from-lo:], theta, 0, m.N) })
}

// AddScaled implements matrix.Rows.
func (r *Rows) AddScaled(dst, w []float64, lo, hi int) {
	rest := r.wide(lo, hi, func(raw []byte, from, to int) int {
		return kernel.AddScaledWide(dst, raw, w[from-lo:to-lo])
	})
	r.with(rest, hi, func(m *matrix.Dense, from int) { m.AddScaled(dst, w[from-lo:], 0, m.N) })
}

// wide calls use with the rows lo ≤ i < hi as float32 where they lie in their blocks, from row from to row to, and
// returns the first that it did not take. Groups of four rows must not lie across the border of a block, so that the
// bits are those of rows that are widened first.
func (r *Rows) wide(lo, hi int, use func(raw []byte, from, to int) (taken int)) int {
	if r.size != 4 || lo%4 != 0 {
		return lo
	}
	v := r.view()
	defer r.views.Put(v)
	rowBytes := int(r.rowBytes())
	for at := lo; ; {
		k := at / r.rows
		end := min(hi, (k+1)*r.rows)
		if end-at < 4 {
			return at
		}
		taken := use(r.load(v, k)[(at-k*r.rows)*rowBytes:(end-k*r.rows)*rowBytes], at, end)
		if at += taken; at < end {
			return at
		}
	}
}

// Norms implements matrix.Rows.
func (r *Rows) Norms(dst []float64, lo, hi int) {
	r.with(lo, hi, func(m *matrix.Dense, from int) { m.Norms(dst[from-lo:], 0, m.N) })
}

// Row implements matrix.Rows.
func (r *Rows) Row(dst []float64, i int) {
	v := r.view()
	k := i / r.rows
	at := (i - k*r.rows) * int(r.rowBytes())
	r.decode(dst, r.load(v, k)[at:at+int(r.rowBytes())])
	r.views.Put(v)
}
