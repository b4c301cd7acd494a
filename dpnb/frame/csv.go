package frame

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// CSVSettings says how a file is read. The zero value and nil are right for a
// comma-separated file with a header.
type CSVSettings struct {
	// Header names the columns of a file that has no header line.
	Header []string
	// Missing lists the texts that mean "missing", besides the empty one.
	// Nil means "?", "NA" and "NaN".
	Missing []string
	// Comment is the byte at the start of a line that is to be skipped; zero is none.
	Comment rune
	// Kinds fixes the kind of a column, by name. A column that is not named is
	// numeric if every value of it that is not missing is a number.
	Kinds map[string]Kind
	// TrimSuffix is cut from the end of every text, for example the "." at the
	// end of a label in the test part of the Adult data.
	TrimSuffix string
}

// ReadCSVFile reads the file at path and records its SHA-256.
//
// Errors: *InputError, which names the path and the line.
func ReadCSVFile(path string, settings *CSVSettings) (*Table, error) {
	f, err := os.Open(path)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, inputErrorf("there is no file %q; check the path (it is relative to the notebook's folder)", path)
		}
		return nil, inputErrorf("%v", err)
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, inputErrorf("%v", err)
	}
	t, err := parseCSV(data, settings)
	if err != nil {
		var in *InputError
		if errors.As(err, &in) {
			return nil, &InputError{Text: filepath.Base(path) + ": " + in.Text, Quotes: in.Quotes}
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

// ReadCSV reads a table. Texts are trimmed of spaces. Columns are numeric or
// categorical as CSVSettings.Kinds says.
//
// Errors: *InputError for an empty file, a line with too few or too many
// fields, or a text that is not a number in a column that was said to be
// numeric, with the line number.
func ReadCSV(r io.Reader, settings *CSVSettings) (*Table, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, inputErrorf("%v", err)
	}
	return parseCSV(data, settings)
}

func parseCSV(data []byte, settings *CSVSettings) (*Table, error) {
	var s CSVSettings
	if settings != nil {
		s = *settings
	}
	missing := map[string]bool{"": true}
	if s.Missing == nil {
		s.Missing = []string{"?", "NA", "NaN"}
	}
	for _, m := range s.Missing {
		missing[m] = true
	}
	kinds := map[string]Kind{}
	for name, k := range s.Kinds {
		kinds[name] = k
	}
	for {
		p := csvParse{CSVSettings: s, kinds: kinds, missing: missing}
		t, err := p.run(data)
		if err != nil || p.retype == "" {
			return t, err
		}
		// The column began with numbers and then had a text: read it again
		// from its first row, so that no text is lost ("007" is not 7).
		kinds[p.retype] = Categorical
	}
}

// csvParse is one pass over a file.
type csvParse struct {
	CSVSettings
	kinds   map[string]Kind
	missing map[string]bool
	// retype is the column at which the pass stopped because it is not
	// numeric after all.
	retype string
}

func (p *csvParse) run(data []byte) (*Table, error) {
	cr := newRecords(data, p.Comment)
	header := p.Header
	if header == nil {
		rec, err := cr.Read()
		if err == io.EOF {
			return nil, inputErrorf("the file is empty: it has no header and no rows")
		}
		if err != nil {
			return nil, inputErrorf("%v", err)
		}
		for _, h := range rec {
			header = append(header, strings.Clone(strings.TrimSpace(strings.TrimPrefix(h, "\ufeff"))))
		}
	}
	if err := checkNames(header); err != nil {
		return nil, err
	}
	for name := range p.CSVSettings.Kinds {
		if !slices.Contains(header, name) {
			return nil, inputErrorf("Kinds names column %q, which is not there; the columns are %s", name, strings.Join(header, ", "))
		}
	}
	cr.expect(len(header))
	guess := bytes.Count(data, []byte{'\n'}) + 1
	columns := make([]Column, len(header))
	levels := make([]levelIndex, len(header))
	for j, name := range header {
		columns[j] = Column{Name: name, Kind: p.kinds[name]}
		if columns[j].Kind == Numeric {
			columns[j].Numbers = make([]float64, 0, guess)
		} else {
			columns[j].Codes = make([]int32, 0, guess)
			levels[j].code = map[string]int32{}
		}
	}
	rows := 0
	for ; ; rows++ {
		rec, err := cr.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, inputErrorf("%v", err)
		}
		for j, text := range rec {
			if k := len(text); k > 0 && text[k-1] <= ' ' {
				text = strings.TrimRight(text, " \t")
			}
			if p.TrimSuffix != "" {
				text = strings.TrimSuffix(text, p.TrimSuffix)
			}
			c := &columns[j]
			if c.Kind == Categorical {
				c.Codes = append(c.Codes, levels[j].of(text, p.missing, c))
				continue
			}
			v := math.NaN()
			if !p.missing[text] {
				if v, err = strconv.ParseFloat(text, 64); err != nil && !errors.Is(err, strconv.ErrRange) {
					if _, fixed := p.kinds[c.Name]; fixed {
						line := cr.line(j)
						return nil, quotingErrorf("line %d: column %q was said to be numeric, but %q is not a number", line, c.Name, text)
					}
					p.retype = c.Name
					return nil, nil
				}
			}
			c.Numbers = append(c.Numbers, v)
		}
	}
	if rows == 0 {
		return nil, inputErrorf("the file has no rows")
	}
	return NewTable(columns...)
}

// levelIndex finds the code of a text. Neighbouring rows often agree, so the
// last answer is kept.
type levelIndex struct {
	code map[string]int32
	last int32
}

func (l *levelIndex) of(text string, missing map[string]bool, c *Column) int32 {
	if int(l.last) < len(c.Levels) && text == c.Levels[l.last] {
		return l.last
	}
	code, ok := l.code[text]
	if !ok {
		text = strings.Clone(text)
		code = -1
		if !missing[text] {
			code = int32(len(c.Levels))
			c.Levels = append(c.Levels, text)
		}
		l.code[text] = code
	}
	if code >= 0 {
		l.last = code
	}
	return code
}
