package frame

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"
)

// CSVSettings says how a file is read. The zero value and nil are right for a
// comma-separated file with a header. All of it is the same for every record and
// known without them.
type CSVSettings struct {
	// Header names the columns of a file that has no header line.
	Header []string
	// Missing lists the texts that mean "missing", besides the empty one.
	// Nil means "?", "NA" and "NaN". One that a field lists as a category is that category.
	Missing []string
	// Comment is what a line that is to be skipped starts with; zero is none. A record
	// that starts with it is no record, whatever else it holds, and one that does and has
	// a text of several lines makes the file unreadable: for files in which none can.
	Comment rune
	// TrimSuffix is cut from the end of every text, for example the "." at the
	// end of a label in the test part of the Adult data.
	TrimSuffix string
}

// ReadCSVFile reads the file at path and records its SHA-256.
//
// Errors: *InputError, which names the path and the line.
func ReadCSVFile(path string, settings *CSVSettings) (*Table, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, inputErrorf("there is no file %q; check the path (it is relative to the notebook's folder)", path)
	}
	if err != nil {
		return nil, inputErrorf("%v", err)
	}
	t, err := parseCSV(data, settings)
	if err != nil {
		var in *InputError
		if errors.As(err, &in) {
			return nil, &InputError{Text: filepath.Base(path) + ": " + in.Text}
		}
		return nil, inputErrorf("%s: %v", filepath.Base(path), err)
	}
	sum := sha256.Sum256(data)
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, inputErrorf("%v", err)
	}
	t.Source = Source{Name: filepath.Base(path), Path: abs, SHA256: hex.EncodeToString(sum[:]), Rows: t.rows}
	return t, nil
}

// ReadCSV reads a table of texts, as they are in the file but for spaces around
// them. What a text stands for is said by the schema's field alone (newEncoding), so
// that no record changes how another is read. A file without a record is a table of
// no rows.
//
// Errors: *InputError, with the line number and without what is in the line, for a
// file that is no table: no header, a line with too few or too many fields, a
// quotation mark out of place. No record that is written as encoding/csv writes it
// does that to a file, whatever it holds, unless a Comment is set. It is also an error
// if what is set as Comment can start none.
func ReadCSV(r io.Reader, settings *CSVSettings) (*Table, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, inputErrorf("%v", err)
	}
	return parseCSV(data, settings)
}

const byteOrderMark = "\ufeff"

// unmarked returns the file without its byte-order mark. Where the first line is a
// record, and not the header, a mark in front of a plain text may as well be of that
// record: it stays, and is cut from the first text of every record alike. In front of
// a quoted one it is the file's, for a writer quotes all of a text or nothing.
func unmarked(data []byte, header bool) []byte {
	if header || bytes.HasPrefix(data, []byte(byteOrderMark+`"`)) {
		return bytes.TrimPrefix(data, []byte(byteOrderMark))
	}
	return data
}

// validComment reports whether c is zero or a character that can start a comment.
func validComment(c rune) bool {
	return c == 0 || utf8.ValidRune(c) && c != utf8.RuneError && !strings.ContainsRune(",\"\r\n", c)
}

// oneColumn refuses a header, which is public, of a single column that looks like
// several with another separator.
func oneColumn(header []string) error {
	for _, s := range []struct{ text, name string }{{";", "semicolons"}, {"\t", "tabs"}} {
		if len(header) == 1 && strings.Contains(header[0], s.text) {
			return inputErrorf("the header is one column, %q, with %s in it: fields are to be separated by commas; "+
				"convert the file, or read it with gota (dataframe.WithDelimiter) and FromGota", header[0], s.name)
		}
	}
	return nil
}

func parseCSV(data []byte, settings *CSVSettings) (*Table, error) {
	var s CSVSettings
	if settings != nil {
		s = *settings
	}
	if s.Missing == nil {
		s.Missing = []string{"?", "NA", "NaN"}
	}
	if !validComment(s.Comment) {
		return nil, inputErrorf("Comment = %q, want a character that starts no text, as '#'", s.Comment)
	}
	missing, sentinels := map[string]bool{"": true}, false
	for _, m := range s.Missing {
		m = trim(m)
		missing[m] = true
		v, err := strconv.ParseFloat(m, 64)
		sentinels = sentinels || err == nil && !math.IsNaN(v)
	}
	cr := csv.NewReader(bytes.NewReader(unmarked(data, s.Header == nil)))
	cr.ReuseRecord, cr.TrimLeadingSpace, cr.Comment = true, true, s.Comment
	header := s.Header
	if header == nil {
		rec, err := cr.Read()
		if err == io.EOF {
			return nil, inputErrorf("the file is empty: it has no header")
		}
		if err != nil {
			return nil, inputErrorf("%v", err)
		}
		for _, h := range rec {
			header = append(header, strings.Clone(strings.TrimSpace(h)))
		}
		if err := oneColumn(header); err != nil {
			return nil, err
		}
	}
	if err := checkNames(header); err != nil {
		return nil, err
	}
	cr.FieldsPerRecord = len(header)
	guess := bytes.Count(data, []byte{'\n'}) + 1
	columns := make([]Column, len(header))
	for j, name := range header {
		texts := make([]string, 0, guess)
		columns[j] = Column{Name: name, Kind: Categorical, Texts: texts, missing: missing, sentinels: sentinels}
	}
	lines := make([]int, 0, guess)
	for {
		rec, err := cr.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, inputErrorf("%v", err)
		}
		line, _ := cr.FieldPos(0)
		lines = append(lines, line)
		for j, text := range rec {
			text = trim(text)
			if j == 0 && s.Header != nil {
				text = trim(strings.TrimPrefix(text, byteOrderMark))
			}
			if s.TrimSuffix != "" {
				text = strings.TrimSuffix(text, s.TrimSuffix)
			}
			columns[j].Texts = append(columns[j].Texts, text)
		}
	}
	t, err := NewTable(columns...)
	if err != nil {
		return nil, err
	}
	t.lines = lines
	return t, nil
}
