package stored

import (
	"fmt"
	"sync/atomic"

	"github.com/dpnb/notebooks/dpnb/matrix"
)

// File is where records are, and the key that says of which table, schema and encoding they are.
type File struct {
	Path string
	Key  [32]byte
}

// Records are those of one file (*Rows) or of several (*Set).
type Records interface {
	matrix.Rows
	// Labels are those of all records, which the caller does not change.
	Labels() []float64
	MaxNorm() float64
	NewLabels() (labels []float64, free func(), err error)
	Done(lo, hi int)
	// Files are where the records were when they were opened, in their order.
	Files() []File
}

// Files implements Records.
func (r *Rows) Files() []File { return []File{{r.file.Name(), r.key}} }

// Set is the records of several files, one after the other: a table that was stored in shards. What is computed of it
// has the bits of one file of the same records.
type Set struct {
	*matrix.Stacked
	files []*Rows
	// labels of all records, copied to a file like those of NewLabels, and others of NewLabels.
	labels, others atomic.Pointer[mapping]
	values         []float64
}

// Join returns the records of files, which the set has from then on. Their labels, which are mapped from one file, are
// copied.
//
// Errors: files of other widths, a label that was changed since it was written, and no room for the labels.
func Join(files ...*Rows) (s *Set, err error) {
	defer matrix.Reading(&err)()
	s = &Set{files: files, values: []float64{}}
	var parts []matrix.Part
	for _, r := range files {
		if r.d != files[0].d {
			return nil, fmt.Errorf("the records of %s have %d features, those of %s %d", r.file.Name(), r.d,
				files[0].file.Name(), files[0].d)
		}
		parts = append(parts, matrix.Part{Rows: r, Hi: r.n})
	}
	s.Stacked = matrix.Stack(files[0].d, parts...)
	n, _ := s.Dims()
	if n == 0 {
		return s, nil
	}
	if s.values, _, err = newLabels(files[0].file.Name(), n, &s.labels); err != nil {
		return nil, err
	}
	at := 0
	for _, r := range files {
		if !r.sameLabels(0, r.n) {
			return nil, fmt.Errorf("labels of %s were changed since they were written", r.file.Name())
		}
		at += copy(s.values[at:], r.Labels())
		r.Done(0, r.n)
	}
	return s, nil
}

// Labels implements Records.
func (s *Set) Labels() []float64 { return s.values }

// Files implements Records.
func (s *Set) Files() (all []File) {
	for _, r := range s.files {
		all = append(all, r.Files()...)
	}
	return all
}

// NewLabels returns room for other labels, as of Rows.
func (s *Set) NewLabels() (labels []float64, free func(), err error) {
	n, _ := s.Dims()
	return newLabels(s.files[0].file.Name(), n, &s.others)
}

// Done says that the labels lo ≤ i < hi will not be read for a while: they need not stay in memory.
func (s *Set) Done(lo, hi int) {
	for _, m := range []*mapping{s.labels.Load(), s.others.Load()} {
		if m != nil {
			m.done(lo, hi)
		}
	}
}

// Within returns rows and labels that have the records lo ≤ i < hi of files that follow each other: record i is number
// i + plus of them. They are a file's, or, where the records lie across a border, a view of several with a copy of
// their labels.
func Within(files []*Rows, lo, hi int) (rows matrix.Rows, labels []float64, plus int) {
	var parts []matrix.Part
	first := 0
	for _, r := range files {
		from, to := max(lo-first, 0), min(hi-first, r.n)
		if from == lo-first && to == hi-first {
			return r, r.Labels(), -first
		}
		if from < to {
			parts = append(parts, matrix.Part{Rows: r, Lo: from, Hi: to})
			labels = append(labels, r.Labels()[from:to]...)
		}
		first += r.n
	}
	return matrix.Stack(files[0].d, parts...), labels, -lo
}
