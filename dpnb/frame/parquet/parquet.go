// Package parquet has tables in Parquet files and Arrow files (the IPC format): scanned chunk by chunk, read or
// written. It alone depends on the library for these formats, so that a program that does not import it compiles none
// of that. It may enter frame; who has such a file enters it.
package parquet

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
)

// Settings says how a file is read; nil is right for most.
type Settings struct {
	// Texts names columns of whole numbers that are read as texts: identifiers, of which float64 tells those beyond 2⁵³
	// not apart, so that PerPerson leaves them out.
	Texts []string
	// ChunkRows is the number of rows of a chunk; zero is 65,536.
	ChunkRows int
}

// Open returns the table of the Parquet or Arrow file at path, which each scan reads anew: the columns that are asked
// for alone, ChunkRows rows at a time, several columns at once.
//
// Numbers of every width are numbers, decimals too; booleans are the texts "true" and "false"; days and moments are
// numbers of days since 1970-01-01, UTC where a zone is stated, times of the day are shares of a day; texts,
// enumerations and bytes are texts. Null is missing. In Parquet a column that is within others is named by its path,
// with points.
//
// Errors: *frame.InputError if there is no such file, it is of another format or cut short, or a column of Texts is not
// one. Scan has one for a column of another type (lists, maps, intervals), and for a file that is damaged further on or
// was changed. Bytes that were changed within a page need not be noticed: neither format has checksums that all write.
func Open(path string, settings *Settings) (frame.Scanner, error) {
	t := &table{}
	if settings != nil {
		t.Settings = *settings
	}
	if t.ChunkRows == 0 {
		t.ChunkRows = 1 << 16
	}
	if t.ChunkRows < 0 {
		return nil, inputErrorf("ChunkRows = %d, want a positive number of rows", t.ChunkRows)
	}
	var err error
	if t.File, err = frame.OpenFile(path); err != nil {
		return nil, err
	}
	err = t.use(func(f *os.File) error {
		var magic [6]byte
		_, _ = f.ReadAt(magic[:], 0)
		t.arrow = string(magic[:]) == "ARROW1"
		if t.arrow {
			t.names, t.origin.Rows, err = arrowNames(f)
			t.groups = 1
		} else {
			err = t.lookAtParquet(f)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	t.hi = t.groups
	rows := t.origin.Rows
	t.origin = t.File.Origin()
	t.origin.Rows = rows
	for k, name := range t.names {
		if name == "" || slices.Contains(t.names[:k], name) {
			return nil, inputErrorf("%s: column %d has no name, or one that is there before: %q", t.origin.Name, k+1,
				name)
		}
	}
	for _, name := range t.Texts {
		if !slices.Contains(t.names, name) {
			return nil, inputErrorf("%s: %s: there is no column %q", t.origin.Name, wording.Of("Texts"), name)
		}
	}
	return t, nil
}

type table struct {
	*frame.File
	Settings
	names  []string
	origin frame.Source
	// readings says how texts are read, by column; nil if the file does not.
	readings map[string]frame.Reading
	arrow    bool
	// groups of rows that there are, and are read from lo to hi − 1. Those of Arrow files are not told apart.
	groups, lo, hi int
}

// Parts implements frame.Parted: a Parquet file has one for each group of rows.
func (t *table) Parts() int { return t.groups }

// Part implements frame.Parted.
func (t *table) Part(lo, hi int) frame.Scanner {
	part := *t
	part.lo, part.hi = max(t.lo, lo), min(t.hi, hi)
	part.origin.Rows = 0
	return &part
}

// Stretch returns which parts of the file these are; zeros of all of them.
func (t *table) Stretch() (lo, hi int) {
	if t.lo == 0 && t.hi == t.groups {
		return 0, 0
	}
	return t.lo, t.hi
}

// Names implements frame.Scanner.
func (t *table) Names() []string { return slices.Clone(t.names) }

// Origin implements frame.Scanner.
func (t *table) Origin() frame.Source { return t.origin }

// Scan implements frame.Scanner.
func (t *table) Scan(columns []string, f func(*frame.Table) error) error {
	if columns == nil {
		columns = t.names
	}
	if err := frame.CheckSelection(columns, t.names); err != nil {
		return err
	}
	var own error // of f, which is not the file's
	emit := func(columns []frame.Column) error {
		chunk, err := frame.NewTable(columns...)
		if err != nil {
			return err
		}
		chunk.Source = t.origin
		own = f(chunk)
		return own
	}
	err := t.use(func(file *os.File) error {
		if t.arrow {
			return t.scanArrow(file, columns, emit)
		}
		return t.scanParquet(file, columns, emit)
	})
	if own != nil {
		return own
	}
	return err
}

// use calls f with the open file; a panic of the library, which has some for damaged files, is an error.
func (t *table) use(f func(*os.File) error) error {
	return t.Read(func(r io.Reader) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = inputErrorf("the file is damaged: %v", p)
			}
		}()
		return f(r.(*os.File))
	})
}

func inputErrorf(format string, a ...any) error {
	return &frame.InputError{Text: fmt.Sprintf(format, a...)}
}

// interned returns texts of bytes and keeps those that it has seen, up to a number of them.
type interned map[string]string

func (m interned) text(b []byte) string {
	if s, ok := m[string(b)]; ok {
		return s
	}
	s := string(b)
	if len(m) < 4096 && len(s) < 256 {
		m[s] = s
	}
	return s
}

// Fingerprint says what each scan of the file gives.
func (t *table) Fingerprint() string {
	print := fmt.Sprintf("parquet %s %q", t.origin.SHA256, t.Texts)
	if lo, hi := t.Stretch(); hi > 0 {
		print += fmt.Sprintf(" groups %d to %d", lo, hi)
	}
	return print
}
