package frame

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dpnb/notebooks/dpnb/internal/recent"
	"github.com/dpnb/notebooks/dpnb/internal/runlog"
)

// Pattern has the texts that a regular expression (package regexp) matches count as a category.
type Pattern struct {
	Match string `json:"match"`
	As    string `json:"as"`
}

// Categorised returns a categorical f in which a text counts as the category of the first pattern that it matches; one
// that matches none stays what it is.
func (f Field) Categorised(patterns ...Pattern) Field {
	f.Patterns = append(slices.Clone(f.Patterns), patterns...)
	return f
}

// CopyOf returns f for a copy of another column, which is made where the table has no column of f's name: the hour and
// the weekday of one date are two columns.
func (f Field) CopyOf(column string) Field { f.Of = column; return f }

// compiled keeps the expressions of patterns.
var compiled = recent.Values[string, *regexp.Regexp]{Kept: 256}

// expression returns the expression of a text; they are public, and few.
func expression(text string) (*regexp.Regexp, error) {
	return compiled.Of(text, func() (*regexp.Regexp, error) { return regexp.Compile(text) })
}

func (f *Field) validPatterns() error {
	for _, p := range f.Patterns {
		switch _, err := expression(p.Match); {
		case f.Kind != Categorical || f.Part != NoDate:
			return inputErrorf("field %q: patterns are of texts that become categories", f.Name)
		case err != nil:
			return inputErrorf("field %q: the pattern %q is no regular expression: %v", f.Name, p.Match, err)
		case !slices.Contains(f.Levels, p.As):
			return inputErrorf("field %q: what matches %q is to be %q, which is not in the list of its categories, "+
				"%s: add it to them", f.Name, p.Match, p.As, quoteAll(f.Levels))
		}
	}
	return nil
}

// patterned returns the column with each text as the category of its pattern.
func (f *Field) patterned(c *Column) *Column {
	out := &Column{Name: c.Name, Kind: Categorical, Texts: make([]string, c.len()), missing: c.missing,
		format: c.format}
	var all []*regexp.Regexp
	for _, p := range f.Patterns {
		r, err := expression(p.Match)
		if err != nil { // refused by validate
			panic(err)
		}
		all = append(all, r)
	}
	for i := range out.Texts {
		text := c.written(i)
		out.Texts[i] = text
		if text == "" || c.missing[text] {
			continue // missing, as categories.of has it
		}
		for k, r := range all {
			if r.MatchString(text) {
				out.Texts[i] = f.Patterns[k].As
				break
			}
		}
	}
	return out
}

// Prepared returns t as the schema has it: without the columns that it ignores, and with copies of others that it names
// (Field.Of) where they are not there.
//
// Errors: *InputError for a copy of a column that is not there, and for categories that were read from t, unless it is
// public: which there are depends on single records then, which no guarantee covers.
func (s *Schema) Prepared(t Scanner) (Scanner, error) {
	if err := s.ownList(t.Origin()); err != nil {
		return nil, err
	}
	t, err := prepared(t, s.Fields)
	if err != nil {
		return nil, err
	}
	var there []string
	for _, n := range t.Names() {
		if slices.Contains(s.Ignored, n) {
			there = append(there, n)
		}
	}
	if there == nil {
		return t, nil
	}
	return Drop(t, there...)
}

// ownList refuses a table as the public list of what can be in it.
func (s *Schema) ownList(t Source) error {
	for _, file := range append(slices.Clone(t.files), t) {
		table, err := os.Stat(file.Path)
		for _, path := range s.lists {
			list, e := os.Stat(path)
			if err == nil && e == nil && os.SameFile(table, list) && !t.Public && !t.Invented {
				return inputErrorf("categoriesFrom names %s, the table itself: a category that one person alone has "+
					"would give that person away. Name a list that is public without the table, as of all towns of a "+
					"country, or ask for the values that many people share (Keys)", file.Name)
			}
		}
	}
	return nil
}

// Prepared returns t with the copies of columns that e reads, where they are not there.
func (e *Encoding) Prepared(t Scanner) (Scanner, error) {
	return prepared(t, append(slices.Clone(e.fields), e.label))
}

func prepared(t Scanner, fields []Field) (_ Scanner, err error) {
	for _, f := range fields {
		if f.Of == "" || slices.Contains(t.Names(), f.Name) || !slices.Contains(t.Names(), f.Of) {
			continue
		}
		if t, err = copied(t, f.Name, f.Of); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// copied returns t with a copy of a column behind the others.
func copied(t Scanner, name, of string) (Scanner, error) {
	return appended(t, name, fmt.Sprintf("%q copied as %q", of, name), "", []string{of}, func(seen *Table) Column {
		column := seen.columns[0]
		column.Name = name
		return column
	})
}

// categoriesFrom reads categories from a public file: of a CSV file the column of that name, or its only one; of any
// other a category on each line.
func categoriesFrom(path, column string) ([]string, error) {
	if strings.EqualFold(filepath.Ext(path), ".csv") {
		t, err := ReadCSVFile(path, &CSVSettings{Missing: []string{}})
		if err != nil {
			return nil, err
		}
		if names := t.Names(); len(names) == 1 {
			column = names[0]
		}
		c, err := t.Column(column)
		if err != nil {
			return nil, err
		}
		var out []string
		for i := range t.rows {
			out = append(out, c.Text(i))
		}
		return out, nil
	}
	text, err := runlog.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var out []string
	for line := range bytes.Lines(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))) {
		if line := strings.TrimSpace(string(line)); line != "" {
			out = append(out, line)
		}
	}
	return out, nil
}

// Sorted returns the rows of a public table in the order of a column, numbers before texts, what is missing last; equal
// ones stay in theirs. It is for display.
//
// Errors: *InputError for a table that is not public: where a row stands would depend on all others.
func Sorted(t *Table, column string, descending bool) (*Table, error) {
	if !t.Source.Public {
		return nil, inputErrorf("only a table that is declared Public is sorted: where a record stands depends on " +
			"all others, and nothing protects that")
	}
	c, err := t.Column(column)
	if err != nil {
		return nil, err
	}
	at := make([]int, t.rows)
	for i := range at {
		at[i] = i
	}
	sign := 1
	if descending {
		sign = -1
	}
	const number, other, missing = 0, 1, 2
	kind := func(i int) int {
		switch {
		case c.lacks(i):
			return missing
		case math.IsNaN(c.Number(i)):
			return other
		}
		return number
	}
	slices.SortStableFunc(at, func(i, j int) int {
		switch k := kind(i); {
		case k != kind(j) || k == missing:
			return k - kind(j)
		case k == other:
			return sign * strings.Compare(c.Text(i), c.Text(j))
		}
		return sign * cmp.Compare(c.Number(i), c.Number(j))
	})
	return t.at(at), nil
}

// row returns that of a public table whose keys these are: by a text or, where none is the same, by the one key that is
// the same number ("1.0" is "1").
func (c *categories) row(key string) (row int, ok bool) {
	if row, ok = c.place[key]; ok {
		return row, true
	}
	v, err := strconv.ParseFloat(key, 64)
	row, ok = c.byNumber[v]
	return row, err == nil && ok && row >= 0
}

// lookup returns the keys of a public table, each at the place of its row.
//
// Errors: *InputError for a table that is not public, a key that is not there, is missing in a row, or there twice.
func (t *Table) lookup(key string) (*categories, error) {
	if !t.Source.Public {
		return nil, inputErrorf("only a table that is declared Public is joined: what is taken from it is known of " +
			"everybody; call Public() on it if that is so")
	}
	c, err := t.Column(key)
	if err != nil {
		return nil, err
	}
	texts := make([]string, t.rows)
	for i := range texts {
		if texts[i] = trim(c.Text(i)); texts[i] == "" {
			return nil, inputErrorf("the public table lacks a %q in row %d: each of its rows needs its own", key, i+1)
		}
	}
	at := newCategories(texts)
	for i, text := range texts {
		if at.place[text] != i {
			return nil, inputErrorf("the public table has %s = %q twice: which of the rows belongs to a record?", key,
				text)
		}
	}
	return at, nil
}

// Join returns t with a column of a public table behind the others: that of the row whose key is the same text as the
// record's, or else the same number, missing where there is none. Each record is looked up by itself.
//
// Errors: *InputError as DeriveText, and for a public table without such a column or key, in which a key is there twice
// or missing, or which is not declared public.
func Join(t Scanner, public *Table, key string, field Field) (Scanner, error) {
	at, err := public.lookup(key)
	if err != nil {
		return nil, err
	}
	c, err := public.Column(field.Name)
	if err != nil {
		return nil, err
	}
	own := *c
	own.Numbers, own.Texts = slices.Clone(c.Numbers), slices.Clone(c.Texts)
	if field.Kind == Numeric && field.Part == NoDate {
		return DeriveNumber(t, field.Name, func(r Row) float64 {
			if i, ok := at.row(trim(r.Text(key))); ok {
				return own.Number(i)
			}
			return math.NaN()
		}, key)
	}
	return DeriveText(t, field.Name, func(r Row) string {
		if i, ok := at.row(trim(r.Text(key))); ok {
			return own.Text(i)
		}
		return ""
	}, key)
}
