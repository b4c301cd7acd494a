// Package stored has records in a file, read block by block: for fits of more rows than fit
// in memory. Whoever makes records of tables may enter; it enters matrix.
package stored

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"sync"

	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// A file is a header, the rows, as float32 or float64, and the labels, as float64; all
// little-endian. header is magic, key (32 bytes), bytes of an entry, n, d and the checksum of
// the rest of the file and of these.
const (
	magic      = "dpnbrow1"
	headerSize = 8 + 32 + 3*8 + 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Rows are records in a file: a matrix.Rows. What reads them panics if the file cannot be read
// any longer, so that nothing is computed of records that are not there.
type Rows struct {
	file   *os.File
	n, d   int
	size   int // of an entry in bytes
	labels []float64
	blocks sync.Pool // of *block
}

// block is a stretch of rows that was read.
type block struct {
	lo, hi int
	raw    []byte
	rows   []float64
}

// Writer writes a file of records, which is there under its name once Close has returned.
type Writer struct {
	path   string
	file   *os.File
	key    [32]byte
	n, d   int
	size   int
	sum    uint32
	raw    []byte
	labels []float64
}

// Create begins a file of records of d features for a key, by which Open knows it again.
// With single, entries are rounded to float32, towards zero: no entry, and so no row, gets
// longer. Whatever was there under the name stays until Close.
func Create(path string, key [32]byte, d int, single bool) (*Writer, error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".dpnb-part-*") // which nobody else may read
	if err != nil {
		return nil, fmt.Errorf("cannot store the records: %w", err)
	}
	w := &Writer{path: path, file: f, key: key, d: d, size: 8}
	if single {
		w.size = 4
	}
	_, err = f.Seek(headerSize, io.SeekStart)
	return w, err
}

// shorter returns the float32 next to v towards zero.
func shorter(v float64) float32 {
	f := float32(v)
	if math.Abs(float64(f)) > math.Abs(v) {
		return math.Float32frombits(math.Float32bits(f) - 1) // of the same sign: f is not 0
	}
	return f
}

// Append writes records. It panics if they are not of d features, a label each.
func (w *Writer) Append(rows *matrix.Dense, labels []float64) error {
	if rows.D != w.d || len(labels) != rows.N {
		panic("stored: rows of another width, or without labels")
	}
	if need := len(rows.Data) * w.size; cap(w.raw) < need {
		w.raw = make([]byte, need)
	}
	raw := w.raw[:len(rows.Data)*w.size]
	const part = 1 << 15
	parallel.Each((len(rows.Data)+part-1)/part, 0, func(b int) {
		lo, hi := b*part, min(len(rows.Data), (b+1)*part)
		to := raw[lo*w.size : hi*w.size]
		for _, v := range rows.Data[lo:hi] {
			if w.size == 4 {
				binary.LittleEndian.PutUint32(to, math.Float32bits(shorter(v)))
			} else {
				binary.LittleEndian.PutUint64(to, math.Float64bits(v))
			}
			to = to[w.size:]
		}
	})
	w.n += rows.N
	w.labels = append(w.labels, labels...)
	return w.write(raw)
}

func (w *Writer) write(raw []byte) error {
	w.sum = crc32.Update(w.sum, castagnoli, raw)
	if _, err := w.file.Write(raw); err != nil {
		return fmt.Errorf("cannot store the records: %w", err)
	}
	return nil
}

// Close writes the labels and gives the file its name.
func (w *Writer) Close() error {
	raw := make([]byte, 0, 8<<10)
	for i, y := range w.labels {
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(y))
		if len(raw) == cap(raw) || i == len(w.labels)-1 {
			if err := w.write(raw); err != nil {
				return err
			}
			raw = raw[:0]
		}
	}
	head := append([]byte(magic), w.key[:]...)
	for _, v := range []int{w.size, w.n, w.d} {
		head = binary.LittleEndian.AppendUint64(head, uint64(v))
	}
	head = binary.LittleEndian.AppendUint32(head, crc32.Update(w.sum, castagnoli, head))
	_, err := w.file.WriteAt(head, 0)
	if err == nil {
		err = w.file.Sync()
	}
	if err := errors.Join(err, w.file.Close()); err != nil {
		return fmt.Errorf("cannot store the records: %w", err)
	}
	return os.Rename(w.file.Name(), w.path)
}

// Discard gives up what was written.
func (w *Writer) Discard() { _ = errors.Join(w.file.Close(), os.Remove(w.file.Name())) }

// ErrNone says that there are no records for the key in a whole file at the path.
var ErrNone = errors.New("stored: no records for the key")

// Open returns the records at path if they are those of the key, and their checksum is
// right, for which it reads all of the file.
//
// Errors: ErrNone if there are none, or they are others, cut short or damaged.
func Open(path string, key [32]byte) (*Rows, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNone, err)
	}
	r, err := read(f, key)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return r, nil
}

func read(f *os.File, key [32]byte) (*Rows, error) {
	head := make([]byte, headerSize)
	if _, err := io.ReadFull(f, head); err != nil || string(head[:8]) != magic || [32]byte(head[8:40]) != key {
		return nil, ErrNone
	}
	field := func(k int) uint64 { return binary.LittleEndian.Uint64(head[40+8*k:]) }
	size, n, d := field(0), field(1), field(2)
	info, err := f.Stat()
	if err != nil || size != 4 && size != 8 || n > 1<<40 || d > 1<<20 ||
		uint64(info.Size()) != headerSize+n*d*size+8*n {
		return nil, ErrNone
	}
	sum, left := uint32(0), n*d*size
	buffer := make([]byte, 1<<18)
	r := &Rows{file: f, n: int(n), d: int(d), size: int(size), labels: make([]float64, 0, n)}
	for left > 0 {
		part := buffer[:min(left, uint64(len(buffer)))]
		if _, err := io.ReadFull(f, part); err != nil {
			return nil, ErrNone
		}
		sum, left = crc32.Update(sum, castagnoli, part), left-uint64(len(part))
	}
	for left = 8 * n; left > 0; {
		part := buffer[:min(left, uint64(len(buffer)))]
		if _, err := io.ReadFull(f, part); err != nil {
			return nil, ErrNone
		}
		sum, left = crc32.Update(sum, castagnoli, part), left-uint64(len(part))
		for ; len(part) > 0; part = part[8:] {
			r.labels = append(r.labels, math.Float64frombits(binary.LittleEndian.Uint64(part)))
		}
	}
	if crc32.Update(sum, castagnoli, head[:64]) != binary.LittleEndian.Uint32(head[64:]) {
		return nil, ErrNone
	}
	return r, nil
}

// Labels returns the labels of the records, which the caller does not change.
func (r *Rows) Labels() []float64 { return r.labels }

// Close closes the file, which stays where it is.
func (r *Rows) Close() error { return r.file.Close() }

// Dims implements matrix.Rows.
func (r *Rows) Dims() (n, d int) { return r.n, r.d }

// with calls use with rows lo ≤ i < hi. Who has just read them finds them there.
func (r *Rows) with(lo, hi int, use func(m *matrix.Dense)) {
	b, _ := r.blocks.Get().(*block)
	if b == nil {
		b = &block{}
	}
	if b.lo != lo || b.hi != hi {
		r.read(b, lo, hi)
	}
	m := matrix.Dense{N: hi - lo, D: r.d, Data: b.rows}
	use(&m)
	r.blocks.Put(b)
}

func (r *Rows) read(b *block, lo, hi int) {
	count := (hi - lo) * r.d
	if cap(b.rows) < count {
		b.rows, b.raw = make([]float64, count), make([]byte, count*r.size)
	}
	b.lo, b.hi, b.rows, b.raw = lo, hi, b.rows[:count], b.raw[:count*r.size]
	if _, err := r.file.ReadAt(b.raw, headerSize+int64(lo)*int64(r.d*r.size)); err != nil {
		panic(fmt.Sprintf("stored: records %d to %d cannot be read: %v", lo+1, hi, err))
	}
	if r.size == 8 {
		for i := range b.rows {
			b.rows[i] = math.Float64frombits(binary.LittleEndian.Uint64(b.raw[8*i:]))
		}
		return
	}
	rows, raw := b.rows, b.raw
	for ; len(rows) >= 4 && len(raw) >= 16; rows, raw = rows[4:], raw[16:] {
		rows[0] = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw)))
		rows[1] = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[4:])))
		rows[2] = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[8:])))
		rows[3] = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[12:])))
	}
	for i := range rows {
		rows[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])))
	}
}

// Margins implements matrix.Rows.
func (r *Rows) Margins(dst, theta []float64, lo, hi int) {
	r.with(lo, hi, func(m *matrix.Dense) { m.Margins(dst, theta, 0, m.N) })
}

// AddScaled implements matrix.Rows.
func (r *Rows) AddScaled(dst, w []float64, lo, hi int) {
	r.with(lo, hi, func(m *matrix.Dense) { m.AddScaled(dst, w, 0, m.N) })
}

// Norms implements matrix.Rows.
func (r *Rows) Norms(dst []float64, lo, hi int) {
	r.with(lo, hi, func(m *matrix.Dense) { m.Norms(dst, 0, m.N) })
}

// rowsAhead is how many rows are read at a time where they are asked for one by one.
const rowsAhead = 256

// Row implements matrix.Rows.
func (r *Rows) Row(dst []float64, i int) {
	b, _ := r.blocks.Get().(*block)
	if b == nil {
		b = &block{}
	}
	switch {
	case b.lo <= i && i < b.hi: // of rows that were read before
	case i == b.hi: // they are taken one after the other
		r.read(b, i, min(i+rowsAhead, r.n))
	default:
		r.read(b, i, i+1)
	}
	copy(dst, b.rows[(i-b.lo)*r.d:(i-b.lo+1)*r.d])
	r.blocks.Put(b)
}
