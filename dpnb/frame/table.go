// Package frame turns tables into records: CSV files and dataframes in, design
// matrices with public bounds out. Every step says what it assumed and what it
// costs in privacy.
package frame

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Kind of a column.
type Kind int

const (
	// Numeric columns hold float64; NaN is missing.
	Numeric Kind = iota
	// Categorical columns hold codes into a list of levels; −1 is missing.
	Categorical
)

// String returns "numeric" or "categorical".
func (k Kind) String() string {
	if k == Numeric {
		return "numeric"
	}
	return "categorical"
}

// Column is one column of a Table.
type Column struct {
	Name string
	Kind Kind
	// Numbers has the values of a numeric column, NaN where missing.
	Numbers []float64
	// Codes index Levels in a categorical column, −1 where missing.
	Codes []int32
	// Levels are the texts of a categorical column in order of appearance.
	// They come from the data: a list that is to be public is in the Schema.
	Levels []string
}

// Table is a checked table: columns of equal length with distinct names. It is
// not changed by anything in this package; methods return new tables that
// share columns.
type Table struct {
	columns []Column
	rows    int
	// Source names where the table came from, for reports.
	Source Source
}

// Source says where a table came from.
type Source struct {
	// Name is the base name of the file, or a description.
	Name string
	// Path and SHA256 (in hex) of the file, if it came from one.
	Path, SHA256 string
	// Public says that nothing in the table is to be protected, so that its
	// checksum and its number of rows may be published.
	Public bool
	// Rows that the source had.
	Rows int
	// Invented says that the rows were drawn by a public generator and are about
	// nobody.
	Invented bool
	// Note is what a reader must know of it, for example that the people are invented.
	Note string
}

// InputError says what is wrong with a table or with what was asked of it, and
// what to do. Nothing has been drawn or spent when it is returned.
type InputError struct {
	Text string
	// Quotes says that Text has a value of a single record in it, which no
	// guarantee covers; Error then says so.
	Quotes bool
}

// Error implements error.
func (e *InputError) Error() string {
	if e.Quotes {
		return "frame: " + e.Text + " (this quotes a record: remove it before you share it, unless the data are public)"
	}
	return "frame: " + e.Text
}

func inputErrorf(format string, a ...any) error {
	return &InputError{Text: fmt.Sprintf(format, a...)}
}

// quotingErrorf is inputErrorf for a text that quotes a record.
func quotingErrorf(format string, a ...any) error {
	return &InputError{Text: fmt.Sprintf(format, a...), Quotes: true}
}

// NewTable returns the table of the given columns.
//
// Errors: *InputError if there are none, their lengths differ, or a name is
// empty or there twice.
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
	return len(c.Codes)
}

// Text returns the text of row i of a column, "" where missing.
func (c *Column) Text(i int) string {
	if c.Kind == Numeric {
		if math.IsNaN(c.Numbers[i]) {
			return ""
		}
		return strconv.FormatFloat(c.Numbers[i], 'f', -1, 64)
	}
	if c.Codes[i] < 0 {
		return ""
	}
	return c.Levels[c.Codes[i]]
}

// Rows returns the number of rows. Under add/remove adjacency it is itself
// private.
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
	return nil, inputErrorf("there is no column %q; the columns are %s", name, strings.Join(t.Names(), ", "))
}

// Drop returns t without the named columns.
func (t *Table) Drop(names ...string) (*Table, error) {
	for _, n := range names {
		if _, err := t.Column(n); err != nil {
			return nil, err
		}
	}
	out := &Table{rows: t.rows, Source: t.Source}
	for _, c := range t.columns {
		if !slices.Contains(names, c.Name) {
			out.columns = append(out.columns, c)
		}
	}
	return out, nil
}

// Head returns the first n rows (all of them if there are fewer).
func (t *Table) Head(n int) *Table {
	return t.Slice(0, min(n, t.rows))
}

// Slice returns rows lo ≤ i < hi. It panics if they are not there.
func (t *Table) Slice(lo, hi int) *Table {
	if lo < 0 || hi < lo || hi > t.rows {
		panic("frame: slice out of range")
	}
	out := &Table{rows: hi - lo, Source: t.Source}
	for _, c := range t.columns {
		if c.Kind == Numeric {
			c.Numbers = c.Numbers[lo:hi]
		} else {
			c.Codes = c.Codes[lo:hi]
		}
		out.columns = append(out.columns, c)
	}
	return out
}

// Filter returns the table of the rows for which keep holds, in order.
func (t *Table) Filter(keep func(row int) bool) *Table {
	var index []int
	for i := range t.rows {
		if keep(i) {
			index = append(index, i)
		}
	}
	out := &Table{rows: len(index), Source: t.Source}
	for _, c := range t.columns {
		if c.Kind == Numeric {
			v := make([]float64, len(index))
			for k, i := range index {
				v[k] = c.Numbers[i]
			}
			c.Numbers = v
		} else {
			v := make([]int32, len(index))
			for k, i := range index {
				v[k] = c.Codes[i]
			}
			c.Codes = v
		}
		out.columns = append(out.columns, c)
	}
	return out
}

// DropMissing returns t without the rows that lack a value in any of the named
// columns (all columns if none are named). It treats each row by itself.
func (t *Table) DropMissing(names ...string) (*Table, error) {
	if len(names) == 0 {
		names = t.Names()
	}
	var cols []*Column
	for _, n := range names {
		c, err := t.Column(n)
		if err != nil {
			return nil, err
		}
		cols = append(cols, c)
	}
	return t.Filter(func(i int) bool {
		for _, c := range cols {
			if (c.Kind == Numeric && math.IsNaN(c.Numbers[i])) || (c.Kind == Categorical && c.Codes[i] < 0) {
				return false
			}
		}
		return true
	}), nil
}
