package frame

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dpnb/notebooks/dpnb/internal/wording"
)

// csvReader reads the records of a file one after the other.
type csvReader struct {
	s      CSVSettings
	header []string
	quoted *csv.Reader   // nil with PlainQuotes
	plain  *bufio.Reader // with PlainQuotes
	fields []string      // of the last record
	line   int           // on which it begins, from 1, those that were skipped not counted
	next   int           // lines that were read, with PlainQuotes
	texts  Column        // without texts: how they are read
	first  string        // line, as far as it is known before it is read
}

const byteOrderMark = "\ufeff"

// newCSVReader reads the header.
func newCSVReader(r io.Reader, s CSVSettings) (*csvReader, error) {
	c := &csvReader{s: s, texts: Column{Kind: Categorical}}
	if err := c.texts.ReadAs(Reading{Decimal: s.Decimal, Thousands: s.Thousands, Missing: s.Missing}); err != nil {
		return nil, err
	}
	in := bufio.NewReaderSize(r, 1<<16)
	start, _ := in.Peek(4)
	switch {
	case bytes.HasPrefix(start, []byte("\x1f\x8b")):
		unpacked, err := gzip.NewReader(in)
		if err != nil {
			return nil, inputErrorf("the file is compressed (gzip), and damaged: %v", err)
		}
		in = bufio.NewReaderSize(unpacked, 1<<16)
		start, _ = in.Peek(2)
	case bytes.HasPrefix(start, []byte("PK\x03\x04")):
		return nil, inputErrorf("the file is an archive (ZIP) or a spreadsheet: unpack it, or save the sheet as CSV, " +
			"and name that")
	}
	start = start[:min(2, len(start))]
	if mark := string(start); s.Header == nil && s.Encoding == "" && (mark == "\xff\xfe" || mark == "\xfe\xff") {
		return nil, inputErrorf("the file begins with the mark of UTF-16: set %s", wording.Of("Encoding", `"UTF-16"`))
	}
	if s.Encoding != "" {
		in = bufio.NewReaderSize(encodings[s.Encoding].NewDecoder().Reader(in), 1<<16)
	}
	// A mark in front of a text that is a record's may as well be of that record: it stays, and is cut from the first
	// text of every record alike. In front of a quoted one it is the file's, for a writer quotes all of a text or
	// nothing.
	start, _ = in.Peek(len(byteOrderMark) + 1)
	if rest, marked := bytes.CutPrefix(start, []byte(byteOrderMark)); marked && (s.Header == nil || s.Skip > 0 ||
		!s.PlainQuotes && string(rest) == `"`) {
		_, _ = in.Discard(len(byteOrderMark))
	}
	for i := range s.Skip {
		if _, err := in.ReadSlice('\n'); err == io.EOF {
			return nil, inputErrorf("the file has %d lines, and with %s more are left out", i, skip(s.Skip))
		} else if errors.Is(err, bufio.ErrBufferFull) {
			return nil, inputErrorf("line %d is longer than a line that is skipped can be", i+1)
		} else if err != nil {
			return nil, inputErrorf("%v", err)
		}
	}
	start, _ = in.Peek(1 << 12)
	start, _, _ = bytes.Cut(start, []byte("\n"))
	c.first = string(start)
	if c.plain = in; !s.PlainQuotes {
		c.quoted = csv.NewReader(in)
		c.quoted.ReuseRecord, c.quoted.Comma, c.quoted.Comment = true, s.Comma, s.Comment
		c.quoted.TrimLeadingSpace = !unicode.IsSpace(s.Comma)
		c.quoted.FieldsPerRecord = -1
	}
	return c, c.readHeader()
}

func (c *csvReader) readHeader() error {
	c.header = slices.Clone(c.s.Header)
	if c.header == nil {
		err := c.record()
		if err == io.EOF {
			return inputErrorf("the file is empty: it has no header")
		}
		if err != nil {
			return cmp.Or(c.otherSeparator(unquoted(c.first)), err)
		}
		for _, h := range c.fields {
			c.header = append(c.header, strings.Clone(trim(h)))
		}
	}
	if err := c.checkHeader(); err != nil {
		return err
	}
	if c.s.NumberDuplicates {
		numberDuplicates(c.header)
	}
	for from := range c.s.Rename {
		if !slices.Contains(c.header, from) {
			return inputErrorf("%s: %v", wording.Of("Rename"), noColumn(from, c.header).(*InputError).Text)
		}
	}
	for j, name := range c.header {
		if to, ok := c.s.Rename[name]; ok {
			c.header[j] = to
		}
	}
	return checkNames(c.header)
}

// checkHeader refuses a header, which is public, that shows that the file is read in the wrong way, and names the
// setting.
//
// It quotes nothing of a header, which is a record in a file that has none.
func (c *csvReader) checkHeader() error {
	all := strings.Join(c.header, "")
	switch {
	case strings.ContainsRune(all, 0):
		return inputErrorf("the header has zeros in it, as texts in UTF-16 have: set %s; if it is no text file, it is "+
			"another format than CSV", wording.Of("Encoding", `"UTF-16LE" or "UTF-16BE"`))
	case c.s.Header == nil && strings.ContainsRune(all, '\r'):
		return inputErrorf("lines end in carriage returns alone, as on old Macs: save the file with others, as by " +
			`tr '\r' '\n'`)
	case c.s.Header == nil && !utf8.ValidString(all):
		return inputErrorf("the header is not in UTF-8: set %s", wording.Of("Encoding", `"Windows-1252" or "Latin-1"`))
	}
	if c.s.Header == nil && len(c.header) == 1 {
		if err := c.otherSeparator(c.header[0]); err != nil {
			return err
		}
	}
	for j, name := range c.header {
		if at := slices.Index(c.header, name); at < j && !c.s.NumberDuplicates {
			return inputErrorf("columns %d and %d have one name: set %s to have .2 after the second, or name "+
				"all with %s and %s the line of the names", at+1, j+1, wording.Of("NumberDuplicates"),
				wording.Of("Header"), wording.Of("Skip"))
		} else if name == "" {
			return inputErrorf("column %d of %d has no name: if the line is a title above that of the names, leave it "+
				"out with %s; else name all with %s and %s the line of the names", j+1, len(c.header),
				skip(c.s.Skip+1), wording.Of("Header"), wording.Of("Skip"))
		}
	}
	return nil
}

// otherSeparator says how the file is to be read where the line of the names has no separator in it, but another one;
// nil where it has.
func (c *csvReader) otherSeparator(line string) error {
	if strings.ContainsRune(line, c.s.Comma) {
		return nil
	}
	for _, sep := range []struct {
		r    rune
		name string
	}{{',', "commas"}, {';', "semicolons"}, {'\t', "tabs"}, {'|', "bars"}} {
		if strings.ContainsRune(line, sep.r) {
			comma := mark("Comma", sep.r)
			comma.Go = fmt.Sprintf("ReadCSVWith(path, &CSV{%s})", comma)
			said, args := "", []any{sep.name, c.s.Comma, comma}
			if sep.r != ',' {
				said, args = ", and %s if numbers have a decimal comma", append(args, mark("Decimal", ','))
			}
			return inputErrorf("the header is one column, with %s in it: fields are separated by %q; read it with %s"+
				said, args...)
		}
	}
	return nil
}

// unquoted is a line without what is between its quotation marks.
func unquoted(line string) string {
	within := false
	return strings.Map(func(r rune) rune {
		if r == '"' {
			within = !within
		}
		if within || r == '"' {
			return -1
		}
		return r
	}, line)
}

// numberDuplicates makes x, x.2, x.3 of names that are there several times, and passes over those that are there.
func numberDuplicates(names []string) {
	taken := map[string]bool{}
	for _, n := range names {
		taken[n] = true
	}
	seen := map[string]bool{}
	for j, n := range names {
		to := n
		for k := 2; seen[n] && taken[to]; k++ {
			to = fmt.Sprintf("%s.%d", n, k)
		}
		seen[n], taken[to] = true, true
		names[j] = to
	}
}

// record reads the next record to c.fields; its texts are their own.
func (c *csvReader) record() (err error) {
	if c.quoted != nil {
		c.fields, err = c.quoted.Read()
		if broken := (*csv.ParseError)(nil); errors.As(err, &broken) {
			return c.explain(broken)
		}
		if err != nil && err != io.EOF {
			return inputErrorf("%v", err)
		}
		if err == nil {
			c.line, _ = c.quoted.FieldPos(0)
		}
		return err
	}
	for {
		line, err := c.plain.ReadString('\n')
		if err != nil && err != io.EOF {
			return inputErrorf("%v", err)
		}
		if err == io.EOF && line == "" {
			return io.EOF
		}
		c.next++
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if line == "" || c.s.Comment != 0 && strings.HasPrefix(line, string(c.s.Comment)) {
			continue
		}
		c.line = c.next
		c.fields = c.fields[:0]
		for more := true; more; {
			var field string
			field, line, more = strings.Cut(line, string(c.s.Comma))
			c.fields = append(c.fields, field)
		}
		return nil
	}
}

// withoutPrefix returns a text without TrimPrefix at its beginning, or after a minus sign there.
func (s *CSVSettings) withoutPrefix(text string) string {
	unsigned, negative := strings.CutPrefix(text, "-")
	switch rest, ok := strings.CutPrefix(text, s.TrimPrefix); {
	case ok:
		return trim(rest)
	case negative:
		if rest, ok = strings.CutPrefix(trim(unsigned), s.TrimPrefix); ok {
			return "-" + trim(rest)
		}
	}
	return text
}

// explain says where a quotation mark is out of place, and nothing of what is there.
func (c *csvReader) explain(err *csv.ParseError) error {
	const cure = "double each quotation mark within a quoted text, or set %s if no text of the file is quoted"
	plain := wording.Of("PlainQuotes")
	if errors.Is(err.Err, csv.ErrBareQuote) {
		return inputErrorf("line %d, column %d: a quotation mark in a text that does not begin with one: "+cure,
			err.Line+c.s.Skip, err.Column, plain)
	}
	return inputErrorf("the record on line %d has a quoted text that does not end (line %d, column %d), or goes on "+
		"after its last quotation mark: "+cure, err.StartLine+c.s.Skip, err.Line+c.s.Skip, err.Column, plain)
}

// read returns the named columns of the next records, at most limit.
func (c *csvReader) read(names []string, limit int) (*Table, error) {
	at, columns := make([]int, len(names)), make([]Column, len(names))
	for k, name := range names {
		at[k] = slices.Index(c.header, name)
		columns[k] = c.texts
		columns[k].Name, columns[k].Texts = name, []string{}
	}
	lines := []int{}
	for len(lines) < limit {
		err := c.record()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(c.fields) != len(c.header) {
			return nil, inputErrorf("line %d has %d fields, the header has %d, separated by %q: mend the line, quote "+
				"a text with %[4]q in it, or set %[5]s", c.line+c.s.Skip, len(c.fields), len(c.header), c.s.Comma,
				wording.Of("Comma"))
		}
		lines = append(lines, c.line+c.s.Skip)
		for k, j := range at {
			text := trim(c.fields[j])
			if j == 0 && c.s.Header != nil {
				text = trim(strings.TrimPrefix(text, byteOrderMark))
			}
			if c.s.TrimSuffix != "" {
				text = strings.TrimSuffix(text, c.s.TrimSuffix)
			}
			if c.s.TrimPrefix != "" {
				text = c.s.withoutPrefix(text)
			}
			columns[k].Texts = append(columns[k].Texts, text)
		}
	}
	t, err := NewTable(columns...)
	if err != nil {
		return nil, err
	}
	t.lines = lines
	return t, nil
}
