package frame

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"reflect"
	"slices"

	"github.com/dpnb/notebooks/dpnb/internal/wording"
)

// together is the table of several files, one after the other.
type together struct {
	of     []Scanner
	origin Source
}

// Together returns the table of several files that have the same columns, one after the other in the order given; that
// of a single one is itself. Which file a record is in is no part of it. Each record is in one of them: what is
// released is private for a record that counts once. A file that is named twice is refused, and so is a table in memory
// of which another has a column; that another is a copy would have to be seen in the records, and is for whoever names
// them to know.
//
// Errors: *InputError if there is none, one is there twice, or has other columns than the first, or in another order.
func Together(files ...Scanner) (Scanner, error) {
	var all []Scanner
	for _, f := range files {
		all = append(all, pieces(f)...)
	}
	files = all
	if len(files) < 2 {
		if len(files) == 0 {
			return nil, inputErrorf("there is no file")
		}
		return files[0], nil
	}
	t := &together{of: files, origin: files[0].Origin()}
	sums := sha256.New()
	t.origin.Rows, t.origin.files = 0, nil
	var seen []os.FileInfo
	for k, f := range files {
		from := f.Origin()
		own := from.files // of several that something was done to
		if own == nil {
			own = []Source{from}
		}
		for _, one := range own {
			info, err := os.Stat(one.Path)
			if err != nil { // one that is gone is refused when it is read
				continue
			}
			if slices.ContainsFunc(seen, func(old os.FileInfo) bool { return os.SameFile(old, info) }) {
				return nil, inputErrorf("%s is there twice: each of its records would count twice", one.Name)
			}
			seen = append(seen, info)
		}
		t.origin.files = append(t.origin.files, own...)
		if !slices.Equal(f.Names(), t.Names()) {
			return nil, inputErrorf("%s has the columns %s, and %s, which is before it, %s: files that are one table "+
				"have the same, in one order", from.Name, wording.Names(f.Names()), t.origin.Name,
				wording.Names(t.Names()))
		}
		if whole, ok := f.(*Table); ok && slices.ContainsFunc(files[:k], whole.shares) {
			return nil, inputErrorf("%s is there twice, in the same memory: each of its records would count twice",
				from.Name)
		}
		t.origin.Public, t.origin.Invented = t.origin.Public && from.Public, t.origin.Invented && from.Invented
		if from.Note != t.origin.Note { // each has its own, of its records alone
			t.origin.Note = ""
		}
		if !reflect.DeepEqual(from.Reading, t.origin.Reading) { // no one way is that of all
			t.origin.Reading = nil
		}
		fmt.Fprintln(sums, from.SHA256)
	}
	t.origin.Name = fmt.Sprintf("%s and %d more files", t.origin.Name, len(files)-1)
	t.origin.Path, t.origin.SHA256 = "", hex.EncodeToString(sums.Sum(nil))
	return t, nil
}

// shares reports whether a column of t is in the memory, in whole or in part, of that of another table of the same
// columns.
func (t *Table) shares(other Scanner) bool {
	o, ok := other.(*Table)
	for j := 0; ok && j < len(t.columns); j++ {
		if a, b := &t.columns[j], &o.columns[j]; overlap(a.Numbers, b.Numbers) || overlap(a.Texts, b.Texts) {
			return true
		}
	}
	return false
}

func overlap[T any](a, b []T) bool {
	within := func(of []T, p *T) bool {
		for i := range of {
			if &of[i] == p {
				return true
			}
		}
		return false
	}
	return len(a) > 0 && len(b) > 0 && (within(a, &b[0]) || within(b, &a[0]))
}

// Names implements Scanner.
func (t *together) Names() []string { return t.of[0].Names() }

// Origin implements Scanner: no path, the names of all files, and a checksum of theirs.
func (t *together) Origin() Source { return t.origin }

// Scan implements Scanner.
func (t *together) Scan(columns []string, f func(*Table) error) error {
	seen := false
	for k, file := range t.of {
		err := file.Scan(columns, func(chunk *Table) error {
			if chunk.rows == 0 && (seen || k < len(t.of)-1) {
				return nil
			}
			seen = true
			return f(chunk)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// pieces are the files in which the rows of a table are.
func pieces(t Scanner) []Scanner {
	if t, ok := t.(*together); ok {
		return t.of
	}
	return []Scanner{t}
}

// partsOf is how many parts a table has that several programs can read.
func partsOf(t Scanner) int {
	if p, ok := t.(Parted); ok {
		return max(1, p.Parts())
	}
	return 1
}

// Parts implements Parted: those of all files.
func (t *together) Parts() (all int) {
	for _, f := range t.of {
		all += partsOf(f)
	}
	return all
}

// Part implements Parted. It panics if hi is not above lo.
func (t *together) Part(lo, hi int) Scanner {
	var of []Scanner
	at := 0
	for _, f := range t.of {
		n := partsOf(f)
		if from, to := max(lo-at, 0), min(hi-at, n); from < to {
			if p, ok := f.(Parted); ok && to-from < n {
				f = p.Part(from, to)
			}
			of = append(of, f)
		}
		at += n
	}
	part, err := Together(of...)
	if err != nil {
		panic(err)
	}
	return part
}

// Fingerprint says what each scan gives, if that of every file is known.
func (t *together) Fingerprint() string {
	print := fmt.Sprintf("%d files", len(t.of))
	for _, f := range t.of {
		known := fingerprint(f)
		if known == "" {
			return ""
		}
		print += fmt.Sprintf(" %q", known)
	}
	return print
}
