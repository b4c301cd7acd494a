package frame

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/dpnb/notebooks/dpnb/internal/logscale"
	"github.com/dpnb/notebooks/dpnb/internal/parallel"
)

// Values gives the values of columns as a schema encodes them, each by itself. It is made of public knowledge alone,
// and is for the chunks of any table.
type Values struct {
	columns []string
	readers []encoder
	// dataDependent as that of the schema.
	dataDependent bool
	buffer        [][]float64
}

// NewValues returns the values of the named columns, of a table with the given columns.
//
// Errors: *InputError if there is no schema, or something is wrong with it; for a column that is not there or not in
// the schema.
func NewValues(s *Schema, names, columns []string) (*Values, error) {
	if s == nil {
		return nil, inputErrorf("no public schema: state the bounds and categories that are known without the data " +
			"(WithSchema)")
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	v := &Values{columns: columns, dataDependent: s.Inferred()}
	v.buffer = make([][]float64, len(columns))
	for _, c := range columns {
		f, ok := s.Field(c)
		switch {
		case !slices.Contains(names, c):
			return nil, noColumn(c, names)
		case !ok:
			return nil, inputErrorf("column %q is not in the schema: give its public bounds or categories; if it "+
				"says whose row it is, say so with %s", c, whose(c))
		}
		v.readers = append(v.readers, newEncoder(f, 0, &DesignSettings{}))
	}
	return v, nil
}

// DataDependent says that the schema was read off the data, so that no guarantee covers it.
func (v *Values) DataDependent() bool { return v.dataDependent }

// Check returns the error that Of would have for the columns of t whatever is in them, before anything is paid for. A
// table that is scanned is looked at, up to its first chunk, only for dates of which the schema has no layout.
func (v *Values) Check(t Scanner) error {
	undated := func(e encoder) bool { return e.field.undated() }
	if _, whole := t.(*Table); !whole && !slices.ContainsFunc(v.readers, undated) {
		return nil
	}
	none, err := firstRows(t, v.columns, 0)
	if err == nil {
		_, err = v.Of(none)
	}
	return err
}

// Of returns the values of a chunk: the k-th slice has those of the k-th column, until the next call. Numbers are in
// their own unit, moved into their bounds; what is missing or no number is what the field says. Categories are their
// places in Levels; len(Levels) for a missing value of a field that allows them, −1 for what is none.
//
// Errors: *InputError for a column that is not there, or texts that are to be dates without a layout.
func (v *Values) Of(chunk *Table) ([][]float64, error) {
	readers := make([]encoder, len(v.readers))
	for k, name := range v.columns {
		c, err := chunk.Column(name)
		if err != nil {
			return nil, err
		}
		if readers[k], err = v.readers[k].over(c); err != nil {
			return nil, err
		}
		if cap(v.buffer[k]) < chunk.rows {
			v.buffer[k] = make([]float64, chunk.rows)
		}
		v.buffer[k] = v.buffer[k][:chunk.rows]
	}
	const block = 4096
	parallel.Blocks(chunk.rows, block, func(lo, hi int) {
		for k, own := range readers { // a copy, which remembers its last text
			for i := lo; i < hi; i++ {
				v.buffer[k][i] = own.value(i)
			}
		}
	})
	return v.buffer, nil
}

// value returns row i as Values.Of does.
func (e *encoder) value(i int) float64 {
	if e.categories == nil {
		return e.field.inBounds(e.column.Number(i))
	}
	return float64(e.place(i))
}

// inBounds returns v, or what the field says of a value that is missing, moved into the bounds; in an unbounded field
// as it is.
func (f *Field) inBounds(v float64) float64 {
	if math.IsNaN(v) {
		v, _ = f.missingAs()
		return v
	}
	if f.Open {
		return v
	}
	return math.Min(math.Max(v, f.Lower), f.Upper)
}

// missingAs returns what a value of a number counts as that is missing or none, and why.
func (f *Field) missingAs() (v float64, why string) {
	switch middle := 0.5*f.Lower + 0.5*f.Upper; {
	case f.Fill != nil:
		return *f.Fill, "so says the schema"
	case f.Log:
		return logscale.Between(f.Lower, f.Upper).Value(0.5), "the middle of its bounds on the logarithmic scale"
	case f.Open:
		return middle, "the middle of where the schema says that most values are"
	default:
		return middle, "the middle of its bounds"
	}
}

// WhatMissing says in a sentence what a value of a number counts as that is missing or no number: that of inBounds, by
// the schema alone and so the same whether there is one or not.
func (f *Field) WhatMissing() string {
	none := "number"
	if f.Part != NoDate {
		none = "date"
	}
	v, why := f.missingAs()
	return fmt.Sprintf("A missing %s, or one that is not a %s, counts as %s: %s.", f.Name, none, f.shown(v), why)
}

// shown writes a value of the field for a reader.
func (f *Field) shown(v float64) string {
	if f.Part == Days {
		if text, ok := dayText(v); ok {
			return text
		}
		if _, ok := dayText(math.Floor(v)); ok {
			return time.Unix(60*int64(math.Round(v*24*60)), 0).UTC().Format("2006-01-02 15:04")
		}
		return fmt.Sprintf("%.10g days since 1970-01-01", v)
	}
	if f.Log && v == logscale.Between(f.Lower, f.Upper).Value(0.5) { // a root, of which a reader wants few digits
		v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 5, 64), 64)
	}
	return fmt.Sprintf("%.10g", v)
}
