// Package frame turns tables into records: CSV files and dataframes in, design matrices with public bounds out. Every
// step says what it assumed and what it costs in privacy.
package frame

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpnb/notebooks/dpnb/internal/runlog"
)

// Kind of a column.
type Kind int

const (
	// Numeric columns hold float64; NaN is missing.
	Numeric Kind = iota
	// Categorical columns hold texts; "" is missing.
	Categorical
)

// String returns "numeric" or "categorical".
func (k Kind) String() string {
	if k == Numeric {
		return "numeric"
	}
	return "categorical"
}

// Column is one column of a Table: of numbers, or of texts. How it is stored says nothing of what it means: that is in
// the Schema.
type Column struct {
	Name string
	// Kind is Numeric for a column of Numbers, Categorical for one of Texts.
	Kind Kind
	// Numbers of a numeric column, NaN where missing.
	Numbers []float64
	// Texts of a categorical column, "" where missing. Those of a file are as they stand in it, whatever the column
	// holds.
	Texts []string
	// missing has the other texts that mean "missing"; sentinels says that some of them are numbers.
	missing   map[string]bool
	sentinels bool
	// format is how the texts write numbers.
	format *numberFormat
}

// Table is a checked table: columns of equal length with distinct names. It is not changed by anything in this package;
// methods return new tables that share columns.
type Table struct {
	columns []Column
	rows    int
	// lines has the line of the file on which each row begins; nil if there is no file.
	lines []int
	// Source names where the table came from, for reports.
	Source Source
}

// Source says where a table came from.
type Source struct {
	// Name is the base name of the file, or a description.
	Name string
	// Path and SHA256 (in hex) of the file, if it came from one.
	Path, SHA256 string
	// Public says that nothing in the table is to be protected, so that its checksum and its number of rows may be
	// published.
	Public bool
	// Rows that the source had.
	Rows int
	// Invented says that the rows were drawn by a public generator and are about nobody.
	Invented bool
	// Note is what a reader must know of it, for example that the people are invented.
	Note string
	// Reading is how a CSV file was read, nil where that is by the defaults: the same for all records, and public.
	Reading *CSVSettings
	// Done is what was done to the rows, in words; of a function of a caller's the columns that it reads.
	Done []string
	// files are those of a table of several (Together), which no Path names.
	files []Source
}

// Told returns what is public of a source by which it is told from others: the name of its file, or those of all.
func (s Source) Told() string {
	if s.files == nil {
		return s.Name
	}
	var names []string
	for _, f := range s.files {
		names = append(names, f.Name)
	}
	return strings.Join(names, " / ")
}

// Seen is how a table was read and what was done to its rows, as a specification has it.
type Seen struct {
	Reading map[string]any `json:"reading,omitempty"`
	Done    []string       `json:"done,omitempty"`
}

// Seen returns what is public of how the rows of a source came to be as they are.
func (s Source) Seen() Seen {
	seen := Seen{Done: s.Done}
	if s.Reading != nil {
		text, err := json.Marshal(s.Reading)
		if err != nil || json.Unmarshal(text, &seen.Reading) != nil {
			panic("frame: settings that are no JSON") // they are texts and numbers
		}
		for name, mark := range map[string]rune{"Comma": s.Reading.Comma, "Decimal": s.Reading.Decimal,
			"Thousands": s.Reading.Thousands, "Comment": s.Reading.Comment} {
			if mark != 0 {
				seen.Reading[name] = string(mark)
			}
		}
	}
	return seen
}

// After returns s after something was done to its rows; "" is nothing.
func (s Source) After(done string) Source {
	if done != "" {
		s.Done = append(slices.Clone(s.Done), done)
	}
	return s
}

// Checksum returns the SHA-256 of a public file, which may be published; "" of any other.
func (s Source) Checksum() string {
	if s.Public {
		return s.SHA256
	}
	return ""
}

// Log tells the run log of a notebook where records came from: files, each of several, and what was invented; and what
// a reader must know of it.
func (s Source) Log() error {
	for _, file := range s.files {
		file.Public = file.Public || s.Public
		if err := file.Log(); err != nil {
			return err
		}
	}
	if s.files == nil && (s.SHA256 != "" || s.Invented) {
		err := runlog.Append(runlog.KindData, runlog.Data{Name: s.Name, Path: s.Name, SHA256: s.SHA256, Rows: s.Rows,
			Public: s.Public, File: s.Path, Invented: s.Invented})
		if err != nil {
			return err
		}
	}
	if s.Note == "" {
		return nil
	}
	return runlog.Append(runlog.KindNote, runlog.Note{Text: s.Note})
}

// InputError says what is wrong with a file, a schema or what was asked of a table, and what to do. It does not depend
// on what is in the records, but for a file that is no table, and quotes none of them. Nothing has been drawn or spent
// when it is returned.
type InputError struct {
	Text string
}

// Error implements error.
func (e *InputError) Error() string {
	return "frame: " + e.Text
}

func inputErrorf(format string, a ...any) error { return &InputError{fmt.Sprintf(format, a...)} }

// NewTable returns the table of the given columns.
//
// Errors: *InputError if there are none, their lengths differ, or a name is empty or there twice.
func NewTable(columns ...Column) (*Table, error) {
	if len(columns) == 0 {
		return nil, inputErrorf("a table needs at least one column")
	}
	t := &Table{columns: columns, rows: columns[0].len()}
	if err := checkNames(t.Names()); err != nil {
		return nil, err
	}
	for _, c := range columns {
		if c.len() != t.rows {
			return nil, inputErrorf("column %q has %d rows, column %q has %d", c.Name, c.len(), columns[0].Name, t.rows)
		}
	}
	t.Source.Rows = t.rows
	return t, nil
}

// checkNames refuses names that are empty or there twice.
func checkNames(names []string) error {
	seen := map[string]bool{}
	for _, n := range names {
		if n == "" {
			return inputErrorf("a column has no name")
		}
		if seen[n] {
			return inputErrorf("there are two columns named %q", n)
		}
		seen[n] = true
	}
	return nil
}

func (c *Column) len() int {
	if c.Kind == Numeric {
		return len(c.Numbers)
	}
	return len(c.Texts)
}

// Text returns the text of row i of a column, "" where missing.
func (c *Column) Text(i int) string {
	if c.Kind == Numeric {
		return canonical(c.Numbers[i])
	}
	if t := c.Texts[i]; !c.missing[t] {
		return t
	}
	return ""
}

// written returns the text of row i as a category has it, one that stands for a missing value included.
func (c *Column) written(i int) string {
	if c.Kind == Numeric {
		return canonical(c.Numbers[i])
	}
	return trim(c.Texts[i])
}

// lacks reports whether row i has no value: its text is missing or says "not a number", in any spelling.
func (c *Column) lacks(i int) bool {
	if c.Kind == Numeric {
		return math.IsNaN(c.Numbers[i])
	}
	t := trim(c.Texts[i])
	return t == "" || c.missing[t] || strings.EqualFold(t, "nan")
}

// Rows returns the number of rows. Under add/remove-one it is itself private.
func (t *Table) Rows() int { return t.rows }

// Names returns the names of the columns in order.
func (t *Table) Names() []string {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.Name
	}
	return names
}

// Column returns the column of that name.
//
// Errors: *InputError that lists the names there are.
func (t *Table) Column(name string) (*Column, error) {
	for i := range t.columns {
		if t.columns[i].Name == name {
			return &t.columns[i], nil
		}
	}
	return nil, noColumn(name, t.Names())
}

// Drop returns t without the named columns, t itself if none are named.
func Drop(t Scanner, names ...string) (Scanner, error) {
	if len(names) == 0 {
		return t, nil
	}
	for _, n := range names {
		if !slices.Contains(t.Names(), n) {
			return nil, noColumn(n, t.Names())
		}
	}
	return Select(t, slices.DeleteFunc(t.Names(), func(n string) bool { return slices.Contains(names, n) })...)
}

// Head returns the first n rows (all of them if there are fewer). It panics if n is negative.
func (t *Table) Head(n int) *Table {
	return t.Slice(0, min(n, t.rows))
}

// Slice returns rows lo ≤ i < hi, which share the memory of t. It panics if they are not there.
func (t *Table) Slice(lo, hi int) *Table {
	if lo < 0 || hi < lo || hi > t.rows {
		panic("frame: slice out of range")
	}
	out := &Table{rows: hi - lo, Source: t.Source, lines: cut(t.lines, lo, hi)}
	for _, c := range t.columns {
		c.Numbers, c.Texts = cut(c.Numbers, lo, hi), cut(c.Texts, lo, hi)
		out.columns = append(out.columns, c)
	}
	return out
}

// cut returns s[lo:hi] without room to grow; nil of nil.
func cut[T any](s []T, lo, hi int) []T {
	if s == nil {
		return nil
	}
	return s[lo:hi:hi]
}

// Filter returns the table of the rows for which keep holds, in order.
func (t *Table) Filter(keep func(row int) bool) *Table {
	var index []int
	for i := range t.rows {
		if keep(i) {
			index = append(index, i)
		}
	}
	return t.at(index)
}

// at returns the table of the rows at the given places, in their order.
func (t *Table) at(index []int) *Table {
	out := &Table{rows: len(index), Source: t.Source, lines: pick(t.lines, index)}
	for _, c := range t.columns {
		c.Numbers, c.Texts = pick(c.Numbers, index), pick(c.Texts, index)
		out.columns = append(out.columns, c)
	}
	return out
}

// pick returns the values at the given places; nil of nil.
func pick[T any](from []T, index []int) []T {
	if from == nil {
		return nil
	}
	out := make([]T, len(index))
	for k, i := range index {
		out[k] = from[i]
	}
	return out
}

// DropMissing returns t without the rows that lack a value in any of the named columns (all columns if none are named).
// It treats each row by itself.
func DropMissing(t Scanner, names ...string) (Scanner, error) {
	if len(names) == 0 {
		names = t.Names()
	}
	return Where(t, func(r Row) bool { return !slices.ContainsFunc(names, r.Missing) }, names...)
}
