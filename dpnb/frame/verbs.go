package frame

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
)

// Row is a row of a table as a rule sees it: the columns that the rule names, and not where the row stands. A rule that
// reads another column, or panics otherwise, has no answer for that row, whichever it is; one that does so on rows of
// public values is refused before any record (try).
type Row struct {
	t *Table
	i int
}

// Number returns the number of a column, NaN where it is missing or none.
func (r Row) Number(column string) float64 { return r.column(column).Number(r.i) }

// Text returns the text of a column, "" where it is missing.
func (r Row) Text(column string) string { return r.column(column).Text(r.i) }

// Missing reports whether the column has no value.
func (r Row) Missing(column string) bool { return r.column(column).lacks(r.i) }

func (r Row) column(name string) *Column {
	c, err := r.t.Column(name)
	if err != nil {
		panic(fmt.Sprintf("it reads column %q, which is not named behind it", name))
	}
	return c
}

// answer is what a rule says of a row, none where it panics: an error would tell of that record.
func answer[T any](rule func(Row) T, r Row, none T) (v T) {
	defer func() {
		if recover() != nil {
			v = none
		}
	}()
	return rule(r)
}

// try refuses a rule that fails on rows of which every column is missing, a number or a text: what it says of the rule
// is public. Several, since a rule may read a column only where another has some value.
func try[T any](rule func(Row) T, columns []string) (err error) {
	values := []string{"", "0", "1", "-1e9", "1e9", "text"}
	t := &Table{rows: len(values)}
	for _, name := range columns {
		t.columns = append(t.columns, Column{Name: name, Kind: Categorical, Texts: values})
	}
	i := 0
	defer func() {
		if p := recover(); p != nil {
			err = inputErrorf("the rule fails on a row in which every column is %q: %v; a rule must give an answer "+
				"whatever is in a row", values[i], p)
		}
	}()
	for ; i < len(values); i++ {
		rule(Row{t, i})
	}
	return nil
}

// changed is a table of which each chunk is another's, changed row by row.
type changed struct {
	Scanner
	names []string
	// needs returns the columns that are read for those that are asked for.
	needs func(columns []string) []string
	// change makes a chunk of one that has the columns of needs, or more.
	change func(chunk *Table) (*Table, error)
	// print names the change if it is no function of a caller's, which cannot say what it does.
	print string
	// done is what it does to the rows, in words, where no schema has it.
	done string
}

// Fingerprint says what each scan gives; "" if that is not known.
func (c *changed) Fingerprint() string {
	if known := fingerprint(c.Scanner); c.print != "" && known != "" {
		return c.print + " of " + known
	}
	return ""
}

// apply returns t changed; one in memory is changed at once.
func apply(t Scanner, c changed) (Scanner, error) {
	if err := checkNames(c.names); err != nil {
		return nil, err
	}
	if whole, ok := t.(*Table); ok {
		out, err := c.change(whole)
		if err != nil {
			return nil, err
		}
		now := *out
		now.Source = now.Source.After(c.done)
		return &now, nil
	}
	c.Scanner = t
	return &c, nil
}

// Names implements Scanner.
func (c *changed) Names() []string { return slices.Clone(c.names) }

// Origin implements Scanner. The number of rows is known after a scan.
func (c *changed) Origin() Source {
	s := c.Scanner.Origin().After(c.done)
	s.Rows = 0
	return s
}

// Scan implements Scanner.
func (c *changed) Scan(columns []string, f func(*Table) error) error {
	if columns == nil {
		columns = c.names
	}
	if err := CheckSelection(columns, c.names); err != nil {
		return err
	}
	g := gather{size: chunkRows, f: f}
	err := c.Scanner.Scan(c.needs(columns), func(chunk *Table) error {
		chunk, err := c.change(chunk)
		if err == nil {
			chunk, err = chunk.Select(columns...)
		}
		if err != nil {
			return err
		}
		return g.add(chunk)
	})
	if err != nil {
		return err
	}
	return g.flush(true)
}

// gather makes chunks of one size of chunks of any, so that their sizes do not depend on what is in the rows. No chunk
// has rows of two files that are read in different ways: a chunk is read in one.
type gather struct {
	size   int
	f      func(*Table) error
	t      *Table
	chunks int
}

func (g *gather) add(chunk *Table) error {
	if g.t != nil && g.t.rows > 0 && !g.t.ReadLike(chunk) {
		if err := g.flush(true); err != nil {
			return err
		}
	}
	for lo := 0; lo == 0 || lo < chunk.rows; {
		if g.t == nil {
			g.t = &Table{Source: chunk.Source, columns: make([]Column, len(chunk.columns))}
		}
		hi := min(chunk.rows, lo+g.size-g.t.rows)
		g.t.extend(chunk.Slice(lo, hi))
		if err := g.flush(false); err != nil || hi == lo {
			return err
		}
		lo = hi
	}
	return nil
}

// flush hands over what is there if it is a whole chunk or the last.
func (g *gather) flush(last bool) error {
	if g.t == nil || g.t.rows < g.size && !last || g.t.rows == 0 && g.chunks > 0 {
		return nil
	}
	g.chunks++
	err := g.f(g.t)
	if g.t.rows = 0; g.t.lines != nil {
		g.t.lines = g.t.lines[:0]
	}
	for j := range g.t.columns {
		c := &g.t.columns[j]
		c.Numbers, c.Texts = c.Numbers[:0], c.Texts[:0]
	}
	return err
}

// extend appends rows to t, which has their columns, or none that are filled, and is read like them.
func (t *Table) extend(rows *Table) {
	for j, c := range rows.columns {
		to := &t.columns[j]
		numbers, texts := append(to.Numbers, c.Numbers...), to.Texts
		for _, text := range c.Texts {
			texts = append(texts, strings.Clone(text))
		}
		*to = c
		to.Numbers, to.Texts = numbers, texts
	}
	t.rows += rows.rows
	if t.lines = append(t.lines, rows.lines...); len(t.lines) != t.rows { // some are of no file of lines
		t.lines = nil
	}
}

// Select returns t with the named columns in that order.
//
// Errors: *InputError for a column that is not there or named twice, or if none is named.
func Select(t Scanner, columns ...string) (Scanner, error) {
	if err := CheckSelection(columns, t.Names()); err != nil {
		return nil, err
	}
	if whole, ok := t.(*Table); ok {
		return whole.Select(columns...)
	}
	return apply(t, changed{names: columns, print: fmt.Sprintf("columns %q", columns),
		needs:  func(asked []string) []string { return asked },
		change: func(chunk *Table) (*Table, error) { return chunk, nil }})
}

// Rename returns t with a new name for a column.
//
// Errors: *InputError for a column that is not there, or a name that is taken or empty.
func Rename(t Scanner, from, to string) (Scanner, error) {
	names := t.Names()
	k := slices.Index(names, from)
	if k < 0 {
		return nil, noColumn(from, names)
	}
	names[k] = to
	return apply(t, changed{names: names, print: fmt.Sprintf("%q as %q", from, to),
		done: fmt.Sprintf("with %q in place of %q", to, from),
		needs: func(asked []string) []string {
			asked = slices.Clone(asked)
			if k := slices.Index(asked, to); k >= 0 {
				asked[k] = from
			}
			return asked
		},
		change: func(chunk *Table) (*Table, error) {
			out := *chunk
			out.columns = slices.Clone(chunk.columns)
			for j := range out.columns {
				if out.columns[j].Name == from {
					out.columns[j].Name = to
				}
			}
			return &out, nil
		}})
}

// with returns the columns that are asked for and those that a rule reads.
func with(asked, reads []string) []string {
	out := slices.Clone(asked)
	for _, n := range reads {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// Where returns the rows for which the rule holds, which is public and depends on the named columns of the row alone,
// so that a row more or less in t is at most one more or less in what is returned. A row on which the rule panics is
// left out.
//
// Errors: *InputError for a column that is not there, if none is named, or for a rule that fails (Row).
func Where(t Scanner, holds func(Row) bool, columns ...string) (Scanner, error) {
	if err := CheckSelection(columns, t.Names()); err != nil {
		return nil, err
	}
	if err := try(holds, columns); err != nil {
		return nil, err
	}
	return apply(t, changed{names: t.Names(), done: "chosen by " + wording.Names(columns),
		needs: func(asked []string) []string { return with(asked, columns) },
		change: func(chunk *Table) (*Table, error) {
			seen, err := chunk.Select(columns...)
			if err != nil {
				return nil, err
			}
			return chunk.Filter(func(i int) bool { return answer(holds, Row{seen, i}, false) }), nil
		}})
}

// DeriveNumber returns t with a column of numbers behind the others, made of named columns of the same row by a rule
// that is public: NaN is missing, as is what the rule panics on.
//
// Errors: *InputError for a column that is not there, a name that is taken, or a rule that fails (Row).
func DeriveNumber(t Scanner, name string, rule func(Row) float64, columns ...string) (Scanner, error) {
	return derive(t, name, columns, rule, math.NaN(), func(v []float64) Column {
		return Column{Name: name, Kind: Numeric, Numbers: v}
	})
}

// DeriveText is DeriveNumber for texts: "" is missing.
func DeriveText(t Scanner, name string, rule func(Row) string, columns ...string) (Scanner, error) {
	return derive(t, name, columns, rule, "", func(v []string) Column {
		return Column{Name: name, Kind: Categorical, Texts: v}
	})
}

func derive[T any](t Scanner, name string, columns []string, rule func(Row) T, none T,
	column func([]T) Column) (Scanner, error) {
	if err := CheckSelection(columns, t.Names()); err != nil {
		return nil, err
	}
	if err := try(rule, columns); err != nil {
		return nil, err
	}
	return appended(t, name, "", "with "+name+" made of "+wording.Names(columns), columns, func(seen *Table) Column {
		values := make([]T, seen.rows)
		for i := range values {
			values[i] = answer(rule, Row{seen, i}, none)
		}
		return column(values)
	})
}

// appended returns t with a column behind the others, made of columns of the same row.
func appended(t Scanner, name, print, done string, columns []string,
	column func(seen *Table) Column) (Scanner, error) {
	return apply(t, changed{names: append(t.Names(), name), print: print, done: done,
		needs: func(asked []string) []string {
			if !slices.Contains(asked, name) {
				return asked
			}
			return with(slices.DeleteFunc(slices.Clone(asked), func(n string) bool { return n == name }), columns)
		},
		change: func(chunk *Table) (*Table, error) {
			seen, err := chunk.Select(columns...)
			if err != nil {
				return chunk, nil // of a scan that does not ask for the new column
			}
			out := *chunk
			out.columns = append(slices.Clone(chunk.columns), column(seen))
			return &out, nil
		}})
}

// Split parts the rows in two by a keyed hash of the named columns of the row, all columns if none are named: a share
// of them is expected in first, which is a row's own chance, whatever the others are and wherever it stands. Rows that
// agree in these columns go together: duplicates, and with the column that names a person all rows of hers. The same
// key parts the same rows in the same way; it is public.
//
// Errors: *InputError for a share that is not in (0, 1), or a column that is not there.
func Split(t Scanner, share float64, key string, columns ...string) (first, rest Scanner, err error) {
	if !(share > 0 && share < 1) {
		return nil, nil, inputErrorf("Split(%v): want the share of the first part, in (0, 1)", share)
	}
	named := len(columns) > 0
	if !named {
		columns = t.Names()
	}
	if err := CheckSelection(columns, t.Names()); err != nil {
		return nil, nil, err
	}
	part := func(wanted bool) (Scanner, error) {
		of := map[bool]string{true: "first", false: "second"}[wanted]
		return apply(t, changed{names: t.Names(), print: fmt.Sprintf("parted %v %q %q %v", share, key, columns, wanted),
			done:  fmt.Sprintf("the %s part of %v and %.4g (%s)", of, share, 1-share, key),
			needs: func(asked []string) []string { return with(asked, columns) },
			change: func(chunk *Table) (*Table, error) {
				at, err := chunk.places(key, columns, named)
				return chunk.Filter(func(i int) bool { return at[i] < share == wanted }), err
			}})
	}
	first, err = part(true)
	rest, errRest := part(false)
	return first, rest, errors.Join(err, errRest)
}

// places returns for every row a number in [0, 1), uniform over keys: HMAC-SHA256 of the texts of the columns, each
// with its length. Of numbers that a file has as such it is the bits, which takes a third of the time, unless columns
// are named: a person who is a text in one file and a number in another is in one part of both.
func (t *Table) places(key string, columns []string, named bool) ([]float64, error) {
	seen, err := t.Select(columns...)
	if err != nil {
		return nil, err
	}
	out := make([]float64, t.rows)
	const block = 2048
	parallel.Blocks(t.rows, block, func(lo, hi int) {
		h := hmac.New(sha256.New, []byte(key))
		var row, sum []byte
		for i := lo; i < hi; i++ {
			row = row[:0]
			for k := range seen.columns {
				c, from := &seen.columns[k], len(row)
				row = append(row, make([]byte, 8)...)
				if c.Kind == Numeric && !named && !math.IsNaN(c.Numbers[i]) {
					row = binary.LittleEndian.AppendUint64(row, math.Float64bits(c.Numbers[i]+0)) // + 0 makes 0 of −0
				} else {
					row = append(row, trim(c.Text(i))...) // as PerPerson has it
				}
				binary.LittleEndian.PutUint64(row[from:], uint64(len(row)-from-8))
			}
			h.Reset()
			_, _ = h.Write(row) // a hash never fails
			sum = h.Sum(sum[:0])
			out[i] = math.Ldexp(float64(binary.LittleEndian.Uint64(sum)>>11), -53)
		}
	})
	return out, nil
}
