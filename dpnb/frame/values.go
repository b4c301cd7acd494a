package frame

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/internal/parallel"
)

// Values gives the values of columns as a schema encodes them, each by itself. It is made of
// public knowledge alone, and is for the chunks of any table.
type Values struct {
	columns []string
	readers []encoder
	// dataDependent as that of the schema.
	dataDependent bool
	buffer        [][]float64
}

// NewValues returns the values of the named columns, of a table with the given columns.
//
// Errors: *InputError if there is no schema, or something is wrong with it; for a column that
// is not there or not in the schema.
func NewValues(s *Schema, names, columns []string) (*Values, error) {
	if s == nil {
		return nil, inputErrorf("no public schema: state the bounds and categories that are known without the data " +
			"(WithSchema)")
	}
	if err := s.validate(); err != nil {
		return nil, err
	}
	v := &Values{columns: columns, dataDependent: s.dataDependent()}
	v.buffer = make([][]float64, len(columns))
	for _, c := range columns {
		f, ok := s.Field(c)
		switch {
		case !slices.Contains(names, c):
			return nil, noColumn(c, names)
		case !ok:
			return nil, inputErrorf("column %q is not in the schema: give its public bounds or categories", c)
		}
		v.readers = append(v.readers, newEncoder(f, 0))
	}
	return v, nil
}

// DataDependent says that the schema was read off the data, so that no guarantee covers it.
func (v *Values) DataDependent() bool { return v.dataDependent }

// Of returns the values of a chunk: the k-th slice has those of the k-th column, until the
// next call. Numbers are in their own unit, moved into their bounds; what is missing or no
// number is what the field says. Categories are their places in Levels; len(Levels) for a
// missing value of a field that allows them, −1 for what is none.
//
// Errors: *InputError for a column that is not there, or in which categories cannot be told
// apart (FromDataFrame).
func (v *Values) Of(chunk *Table) ([][]float64, error) {
	readers := make([]encoder, len(v.readers))
	for k, name := range v.columns {
		c, err := chunk.Column(name)
		if err != nil {
			return nil, err
		}
		if readers[k], err = v.readers[k].over(c, v.dataDependent); err != nil {
			return nil, err
		}
		if cap(v.buffer[k]) < chunk.rows {
			v.buffer[k] = make([]float64, chunk.rows)
		}
		v.buffer[k] = v.buffer[k][:chunk.rows]
	}
	const block = 4096
	blocks := (chunk.rows + block - 1) / block
	parallel.Each(len(readers)*blocks, 0, func(task int) {
		k, lo := task/blocks, task%blocks*block
		own := readers[k] // it remembers its last text
		for i := lo; i < min(chunk.rows, lo+block); i++ {
			v.buffer[k][i] = own.value(i)
		}
	})
	return v.buffer, nil
}

// value returns row i as Values.Of does.
func (e *encoder) value(i int) float64 {
	if e.categories == nil {
		return e.field.inBounds(e.column.Number(i))
	}
	k := e.placeOf(i)
	switch {
	case k == placeMissing && e.field.Missing:
		return float64(len(e.field.Levels))
	case k < 0:
		return float64(e.other)
	}
	return float64(k)
}

// inBounds returns v, or what the field says of a value that is missing, moved into the
// bounds; in an unbounded field as it is.
func (f *Field) inBounds(v float64) float64 {
	if math.IsNaN(v) {
		switch {
		case f.Fill != nil:
			return *f.Fill
		case f.Log:
			return f.Lower + math.Expm1(0.5*math.Log1p(f.Upper-f.Lower))
		}
		return 0.5*f.Lower + 0.5*f.Upper
	}
	if f.Open {
		return v
	}
	return math.Min(math.Max(v, f.Lower), f.Upper)
}

// WhatMissing says in a sentence what a value of a number counts as that is missing or no number:
// that of inBounds, by the schema alone and so the same whether there is one or not.
func (f *Field) WhatMissing() string {
	none, unit, why := "number", "", "the middle of its bounds"
	if f.Part != NoDate {
		none = "date"
	}
	if f.Part == Days {
		unit = " days since 1970-01-01"
	}
	switch {
	case f.Fill != nil:
		why = "so says the schema"
	case f.Log:
		why = "the middle of its bounds on the logarithmic scale"
	case f.Open:
		why = "the middle of where the schema says that most values are"
	}
	return fmt.Sprintf("A missing %s, or one that is no %s, counts as %.10g%s: %s.", f.Name, none,
		f.inBounds(math.NaN()), unit, why)
}
