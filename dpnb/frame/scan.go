package frame

import (
	"errors"
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/internal/wording"
)

// Scanner is a table that is read in chunks, in memory or larger than it: a *Table, a CSV file, a Parquet file. What is
// computed by a scan is thereby the same for all of them.
type Scanner interface {
	// Names returns the names of the columns in order.
	Names() []string
	// Origin says where the records come from. Its number of rows is 0 where it is not known without a scan.
	Origin() Source
	// Scan calls f with one chunk of consecutive rows after the other, in the order of the table, and returns when all
	// rows were seen or f returned an error, which it returns as it is. A chunk has the named columns in that order,
	// all of them if columns is nil; the size of chunks does not depend on what is in the rows. A table of no rows is
	// one chunk of none. A chunk and its slices are valid until f returns; a text that is kept longer is to be cloned.
	// Scans may be repeated, each from the first row, and run at the same time.
	//
	// Errors: *InputError for a column that is not there or named twice, before any row is read, and for a file that
	// cannot be read on, which is after f has seen the rows before.
	Scan(columns []string, f func(chunk *Table) error) error
}

// Parted is a Scanner of a file that has parts, which several programs can read at the same time.
type Parted interface {
	Scanner
	// Parts is how many there are.
	Parts() int
	// Part returns the rows of the parts lo to hi − 1. Those of all, one after the other, are the table.
	Part(lo, hi int) Scanner
}

// chunkRows is the number of rows in a chunk of a table that is in memory.
const chunkRows = 1 << 16

// Origin implements Scanner.
func (t *Table) Origin() Source { return t.Source }

// Scan implements Scanner: its chunks share the memory of t.
func (t *Table) Scan(columns []string, f func(chunk *Table) error) error {
	chosen, err := t.choose(columns)
	if err != nil {
		return err
	}
	for lo := 0; lo == 0 || lo < t.rows; lo += chunkRows {
		if err := f(chosen.Slice(lo, min(lo+chunkRows, t.rows))); err != nil {
			return err
		}
	}
	return nil
}

// choose is Select, and t itself if names is nil.
func (t *Table) choose(names []string) (*Table, error) {
	if names == nil {
		return t, nil
	}
	return t.Select(names...)
}

// Select returns t with the named columns in that order.
//
// Errors: *InputError for a column that is not there or named twice, or if none is named.
func (t *Table) Select(names ...string) (*Table, error) {
	if err := CheckSelection(names, t.Names()); err != nil {
		return nil, err
	}
	out := &Table{rows: t.rows, lines: t.lines, Source: t.Source}
	for _, n := range names {
		out.columns = append(out.columns, t.columns[slices.Index(t.Names(), n)])
	}
	return out, nil
}

// CheckSelection refuses names that are none, twice there or not among the columns.
func CheckSelection(names, columns []string) error {
	if len(names) == 0 {
		return inputErrorf("no column is selected; the columns are %s", wording.Names(columns))
	}
	for k, n := range names {
		if !slices.Contains(columns, n) {
			return noColumn(n, columns)
		}
		if slices.Contains(names[:k], n) {
			return inputErrorf("column %q is selected twice", n)
		}
	}
	return nil
}

// Collect returns the whole table of a scan, with the named columns (all if nil), in memory.
//
// Errors: as s.Scan; *InputError if its files are read in different ways (Together).
func Collect(s Scanner, columns []string) (*Table, error) {
	if t, ok := s.(*Table); ok {
		return t.choose(columns)
	}
	return firstRows(s, columns, math.MaxInt)
}

// errEnough ends a scan that has seen what it wants.
var errEnough = errors.New("frame: enough rows")

// FirstRows reads the first n rows of a table that is scanned, which are raw records, and no more chunks than have
// them.
func FirstRows(t Scanner, n int) (*Table, error) { return firstRows(t, nil, n) }

func firstRows(t Scanner, columns []string, n int) (*Table, error) {
	out := &Table{Source: t.Origin()}
	err := t.Scan(columns, func(chunk *Table) error {
		if out.columns == nil {
			out.columns = make([]Column, len(chunk.columns))
		} else if !out.ReadLike(chunk) {
			return errUnlike
		}
		if out.extend(chunk.Head(n - out.rows)); out.rows >= n {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	return out, nil
}
