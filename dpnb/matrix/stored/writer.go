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

	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// PartPrefix begins the names of files that are being written, beside the file that they will be: what a program that
// was killed has left.
const PartPrefix = ".dpnb-part-"

// Writer writes a file of records, which is there under its name once Close has returned.
type Writer struct {
	path   string
	file   file
	h      header
	raw    []byte // rows that are no whole block yet
	sums   []uint32
	labels spill
}

// file is what a Writer writes to; tests have others than *os.File, which fail.
type file interface {
	io.Writer
	io.WriterAt
	io.ReaderAt
	io.Closer
	Name() string
	Sync() error
	Truncate(size int64) error
}

var createTemp = func(dir, pattern string) (file, error) { return os.CreateTemp(dir, pattern) }

// Create begins a file of records of d features for a key, by which Open knows it again. With single, entries are
// rounded to float32, towards zero: no entry, and so no row, gets longer. Whatever was there under the name stays until
// Close. Nobody else may read the file.
func Create(path string, key [32]byte, d int, single bool) (*Writer, error) {
	w := &Writer{path: path, h: header{key: key, size: 8, d: d}}
	if single {
		w.h.size = 4
	}
	w.h.rows = blockRows(d, w.h.size)
	dir, pattern := filepath.Dir(path), PartPrefix+filepath.Base(path)+"-*"
	var err error
	if w.file, err = createTemp(dir, pattern); err != nil {
		return nil, failed(err)
	}
	if w.labels.file, err = createTemp(dir, pattern); err == nil {
		_ = os.Remove(w.labels.file.Name()) // where an open file can be removed, a killed program leaves none
		_, err = w.file.WriteAt(make([]byte, rowsAt), 0)
	}
	if err == nil {
		_, err = w.file.(io.Seeker).Seek(rowsAt, io.SeekStart)
	}
	if err != nil {
		w.Discard()
		return nil, failed(err)
	}
	return w, nil
}

func failed(err error) error {
	return fmt.Errorf("cannot store the records: %w (dpnb cache shows what is stored, and removes it)", err)
}

// Append writes records. It panics if they are not of d features, a label each.
func (w *Writer) Append(rows *matrix.Dense, labels []float64) error {
	if rows.D != w.h.d || len(labels) != rows.N {
		panic("stored: rows of another width, or without labels")
	}
	rowBytes := int(w.h.rowBytes())
	at := len(w.raw)
	w.raw = append(w.raw, make([]byte, rows.N*rowBytes)...)
	const part = 1 << 10
	longest := make([]float64, (rows.N+part-1)/part)
	parallel.Each(len(longest), 0, func(b int) {
		kept := make([]float64, rows.D)
		for i := b * part; i < min(rows.N, (b+1)*part); i++ {
			raw := w.raw[at+i*rowBytes : at+(i+1)*rowBytes]
			for j, v := range rows.Data[i*rows.D : (i+1)*rows.D] {
				if kept[j] = v; w.h.size == 4 {
					f := matrix.Shorter(v)
					kept[j] = float64(f)
					binary.LittleEndian.PutUint32(raw[4*j:], math.Float32bits(f))
				} else {
					binary.LittleEndian.PutUint64(raw[8*j:], math.Float64bits(v))
				}
			}
			longest[b] = math.Max(longest[b], math.Sqrt(matrix.SumSquares(kept))) // NaN stays NaN
		}
	})
	for _, v := range longest {
		w.h.longest = math.Max(w.h.longest, v)
	}
	w.h.n += rows.N
	if err := w.flush(w.h.rows * rowBytes); err != nil {
		return err
	}
	return w.labels.add(labels)
}

// flush writes the whole blocks of so many bytes that there are, and keeps the rest.
func (w *Writer) flush(block int) error {
	whole := len(w.raw)
	if block > 0 {
		whole = len(w.raw) / block * block
	}
	for at := 0; at < whole; at += block {
		w.sums = append(w.sums, crc32.Checksum(w.raw[at:at+block], castagnoli))
	}
	if _, err := w.file.Write(w.raw[:whole]); err != nil {
		return failed(err)
	}
	w.raw = w.raw[:copy(w.raw, w.raw[whole:])]
	return nil
}

// spill has the labels beside the rows until their place is known.
type spill struct {
	file file
	raw  []byte
	sums []uint32
}

func (s *spill) add(labels []float64) error {
	for _, y := range labels {
		s.raw = binary.LittleEndian.AppendUint64(s.raw, math.Float64bits(y))
		if len(s.raw) == 8*labelBlock {
			if err := s.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *spill) flush() error {
	if len(s.raw) == 0 {
		return nil
	}
	s.sums = append(s.sums, crc32.Checksum(s.raw, castagnoli))
	if _, err := s.file.Write(s.raw); err != nil {
		return failed(err)
	}
	s.raw = s.raw[:0]
	return nil
}

// Close writes what is left and gives the file its name. After an error there is no file of this Writer any more.
func (w *Writer) Close() error {
	err := w.finish()
	if err == nil {
		err = w.file.Sync()
	}
	if err == nil {
		if err = w.file.Close(); err == nil {
			err = os.Rename(w.file.Name(), w.path)
		}
	}
	if err != nil {
		w.Discard()
		return failed(err)
	}
	w.labels.discard()
	return nil
}

func (w *Writer) finish() error {
	if len(w.raw) > 0 {
		if err := w.flush(len(w.raw)); err != nil {
			return err
		}
	}
	if err := w.labels.flush(); err != nil {
		return err
	}
	at := w.h.labelsAt()
	in := io.NewSectionReader(w.labels.file, 0, 8*int64(w.h.n))
	if _, err := io.Copy(io.NewOffsetWriter(w.file, at), in); err != nil {
		return err
	}
	var table []byte
	for _, sum := range append(w.sums, w.labels.sums...) {
		table = binary.LittleEndian.AppendUint32(table, sum)
	}
	if err := w.file.Truncate(w.h.tableAt()); err != nil {
		return err
	}
	if _, err := w.file.WriteAt(table, w.h.tableAt()); err != nil {
		return err
	}
	w.h.table = crc32.Checksum(table, castagnoli)
	_, err := w.file.WriteAt(w.h.bytes(), 0)
	return err
}

func (s *spill) discard() {
	if s.file != nil {
		_ = errors.Join(s.file.Close(), os.Remove(s.file.Name()))
	}
}

// Discard gives up what was written.
func (w *Writer) Discard() {
	_ = errors.Join(w.file.Close(), os.Remove(w.file.Name()))
	w.labels.discard()
}
