package frame

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dpnb/notebooks/dpnb/internal/wording"
)

// CSVSettings says how a file is read. The zero value and nil are right for a comma-separated file in UTF-8 with a
// header. All of it is the same for every record and known without them.
type CSVSettings struct {
	// Comma separates fields; zero is ','.
	Comma rune `json:",omitzero"`
	// Decimal is the mark before the decimals of a number; zero is '.'.
	Decimal rune `json:",omitzero"`
	// Thousands is the mark between groups of three digits before them, as in 1'234'567; zero is none. A space stands
	// for every kind of space.
	Thousands rune `json:",omitzero"`
	// Encoding of the file: "UTF-8", as is the empty one, with a mark at its beginning or without; "UTF-16", by its
	// mark; "UTF-16LE", "UTF-16BE", "Latin-1", "Windows-1252".
	Encoding string `json:",omitzero"`
	// Skip is the number of lines before the header, or before the records where Header is given: a title, or a header
	// that Header replaces.
	Skip int `json:",omitzero"`
	// Header names the columns of a file that has no header line, or whose header is among the lines that are skipped.
	Header []string `json:",omitzero"`
	// Rename has new names of columns by those of the header.
	Rename map[string]string `json:",omitzero"`
	// NumberDuplicates tells columns of one name apart: x, x.2, x.3. Else they are refused.
	NumberDuplicates bool `json:",omitzero"`
	// PlainQuotes says that quotation marks are characters like others: no text is quoted, each line is a record.
	PlainQuotes bool `json:",omitzero"`
	// Missing lists the texts that mean "missing", besides the empty one.
	// Nil means "?", "NA" and "NaN". One that a field lists as a category is that category.
	Missing []string `json:",omitzero"`
	// Comment is what a line that is to be skipped starts with; zero is none. A record that starts with it is no
	// record, whatever else it holds, and one that does and has a text of several lines makes the file unreadable: for
	// files in which none can.
	Comment rune `json:",omitzero"`
	// TrimSuffix is cut from the end of every text, for example the "." at the end of a label in the test part of the
	// Adult data.
	TrimSuffix string `json:",omitzero"`
	// TrimPrefix is cut from the beginning of every text, also after a minus sign, with the spaces after it: "£" makes
	// numbers of "£ 39.57" and "-£12".
	TrimPrefix string `json:",omitzero"`
	// ChunkRows is the number of rows that ScanCSV holds in memory at a time; zero is 65,536.
	ChunkRows int `json:",omitzero"`
}

// ReadCSVFile reads the file at path and records its SHA-256.
//
// Errors: *InputError, which names the file and the line.
func ReadCSVFile(path string, settings *CSVSettings) (*Table, error) {
	s, err := ScanCSV(path, settings)
	if err != nil {
		return nil, err
	}
	c := s.(*csvFile)
	var t *Table
	err = c.Read(func(r io.Reader) (err error) {
		t, err = readAll(r, c.settings)
		return err
	})
	if err != nil {
		return nil, err
	}
	t.Source = c.Origin()
	t.Source.Rows = t.rows
	return t, nil
}

// ReadCSV reads a table of texts, as they are in the file but for spaces around them. What a text stands for is said by
// the settings and the schema's field alone (newEncoding), so that no record changes how another is read. A file
// without a record is a table of no rows.
//
// Errors: *InputError, with the line number and without what is in the line, for a file that is no table: no header, a
// line with too few or too many fields, a quotation mark out of place. No record that is written as encoding/csv writes
// it does that to a file, whatever it holds, unless a Comment is set. It is also an error if the settings contradict
// each other.
func ReadCSV(r io.Reader, settings *CSVSettings) (*Table, error) {
	s, err := settings.complete()
	if err != nil {
		return nil, err
	}
	return readAll(r, s)
}

func readAll(r io.Reader, s CSVSettings) (*Table, error) {
	c, err := newCSVReader(r, s)
	if err != nil {
		return nil, err
	}
	return c.read(c.header, math.MaxInt)
}

// ScanCSV returns the table of a file that is read anew, chunk by chunk, by each scan: for files larger than memory, of
// which ChunkRows rows at a time are held.
//
// Errors: as ReadCSV for what is wrong up to the header. What is wrong later, and that the file was changed since, is
// an error of Scan.
func ScanCSV(path string, settings *CSVSettings) (Scanner, error) {
	s, err := settings.complete()
	if err != nil {
		return nil, err
	}
	f, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	f.origin.Reading = settings.reading()
	c := &csvFile{File: f, settings: s}
	err = f.Read(func(r io.Reader) error {
		in, err := newCSVReader(r, s)
		if err == nil {
			c.header = in.header
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

type csvFile struct {
	*File
	settings CSVSettings
	header   []string
}

// Names implements Scanner.
func (c *csvFile) Names() []string { return slices.Clone(c.header) }

// Scan implements Scanner.
func (c *csvFile) Scan(columns []string, f func(*Table) error) error {
	if columns == nil {
		columns = c.header
	}
	if err := CheckSelection(columns, c.header); err != nil {
		return err
	}
	var own error // of f, which is not the file's
	err := c.File.Read(func(r io.Reader) error {
		in, err := newCSVReader(r, c.settings)
		for first := true; err == nil; first = false {
			var chunk *Table
			chunk, err = in.read(columns, c.settings.ChunkRows)
			if err == nil && (first || chunk.rows > 0) {
				chunk.Source = c.Origin()
				own = f(chunk)
			}
			if own != nil || err == nil && chunk.rows < c.settings.ChunkRows {
				return nil
			}
		}
		return err
	})
	if own != nil {
		return own
	}
	return err
}

// complete returns the settings with their defaults.
//
// Errors: *InputError if they contradict each other.
func (set *CSVSettings) complete() (CSVSettings, error) {
	var s CSVSettings
	if set != nil {
		s = *set
	}
	if s.Missing == nil {
		s.Missing = []string{"?", "NA", "NaN"}
	}
	s.Comma, s.Decimal, s.ChunkRows = cmp.Or(s.Comma, ','), cmp.Or(s.Decimal, '.'), cmp.Or(s.ChunkRows, chunkRows)
	name, known := encodingName(s.Encoding)
	s.Encoding = name
	switch {
	case !validMark(s.Comma) || strings.ContainsRune("\"\r\n", s.Comma):
		return s, inputErrorf("%s: want the character between two fields, as ';' or '\\t'", mark("Comma", s.Comma))
	case s.Comment != 0 && (!validMark(s.Comment) || s.Comment == s.Comma || strings.ContainsRune("\"\r\n", s.Comment)):
		return s, inputErrorf("%s: want a character that starts no text, as '#'", mark("Comment", s.Comment))
	case !known:
		return s, inputErrorf("%s: want one of %s", wording.Of("Encoding", strconv.Quote(set.Encoding)),
			quoteAll(encodingNames))
	case s.Encoding == "UTF-16" && s.Header != nil && s.Skip == 0:
		return s, inputErrorf("%s goes by the mark at the beginning, where a file without header has a record: say "+
			"\"UTF-16LE\" or \"UTF-16BE\"", wording.Of("Encoding", `"UTF-16"`))
	case s.Skip < 0:
		return s, inputErrorf("%s: want the number of lines before the header", skip(s.Skip))
	case s.ChunkRows < 0:
		return s, inputErrorf("ChunkRows = %d, want a positive number of rows", s.ChunkRows)
	case s.Header != nil && s.Rename != nil:
		return s, inputErrorf("%s names the columns already: leave out %s", wording.Of("Header"), wording.Of("Rename"))
	}
	return s, checkMarks(s.Decimal, s.Thousands)
}

// reading is what the settings say besides the defaults of how files like this one are read; nil if it is nothing.
func (set *CSVSettings) reading() *CSVSettings {
	if set == nil {
		return nil
	}
	r := *set
	if r.ChunkRows = 0; r.Comma == ',' {
		r.Comma = 0
	}
	if r.Decimal == '.' {
		r.Decimal = 0
	}
	if name, known := encodingName(r.Encoding); known {
		r.Encoding = name
	}
	r.Missing, r.Header, r.Rename = slices.Clone(r.Missing), slices.Clone(r.Header), maps.Clone(r.Rename)
	if reflect.DeepEqual(r, CSVSettings{}) {
		return nil
	}
	return &r
}

// validMark reports whether c is a character.
func validMark(c rune) bool { return c > 0 && utf8.ValidRune(c) && c != utf8.RuneError }

// Fingerprint says what each scan of the file gives.
func (c *csvFile) Fingerprint() string {
	return fmt.Sprintf("csv %s %#v", c.Origin().SHA256, c.settings)
}
