package frame

import (
	"math"
	"slices"
)

// encoder writes one column's part of a row of features.
type encoder struct {
	column *Column
	field  *Field
	at     int
	// place maps a code of the column to the position of its category in the
	// schema, −1 where the category is not public.
	place []int
	scale float64
}

// newEncoder matches a column with what the schema says of it.
func newEncoder(c *Column, f *Field) (encoder, error) {
	e := encoder{column: c, field: f}
	switch {
	case f.Kind == Numeric && c.Kind == Categorical:
		text := ""
		if len(c.Levels) > 0 {
			text = c.Levels[0]
		}
		return e, quotingErrorf("column %q: the schema says numeric, but it holds texts such as %q", c.Name, text)
	case f.Kind == Numeric:
		e.scale = 1 / (f.Upper - f.Lower)
		if f.Log {
			e.scale = 1 / math.Log1p(f.Upper-f.Lower)
		}
	case c.Kind == Categorical:
		e.place = make([]int, len(c.Levels))
		for k, l := range c.Levels {
			e.place[k] = slices.Index(f.Levels, l)
		}
	}
	return e, nil
}

func (e *encoder) width() int {
	if e.field.Kind == Numeric {
		return 1
	}
	if e.field.Missing {
		return len(e.field.Levels) + 1
	}
	return len(e.field.Levels)
}

func (e *encoder) names() []string {
	if e.field.Kind == Numeric {
		return []string{e.field.Name}
	}
	var names []string
	for _, l := range e.field.Levels {
		names = append(names, e.field.Name+"="+l)
	}
	if e.field.Missing {
		names = append(names, e.field.Name+" missing")
	}
	return names
}

// encode writes row i and returns where: a field has one entry that is not zero.
func (e *encoder) encode(row []float64, i int) (at int, err error) {
	if e.field.Kind == Categorical {
		return e.encodeCategory(row, i)
	}
	v := e.column.Numbers[i]
	switch {
	case math.IsNaN(v):
		if !e.field.Missing {
			return 0, inputErrorf("column %q, row %d: the value is missing or NaN; drop such rows, or let the schema allow it (OrMissing)", e.field.Name, i+1)
		}
		row[e.at] = 0.5
		return e.at, nil
	case math.IsInf(v, 0):
		return 0, inputErrorf("column %q, row %d: the value is %v; drop such rows", e.field.Name, i+1, v)
	}
	v = math.Min(math.Max(v, e.field.Lower), e.field.Upper) - e.field.Lower
	if e.field.Log {
		v = math.Log1p(v)
	}
	row[e.at] = math.Min(1, v*e.scale)
	return e.at, nil
}

func (e *encoder) encodeCategory(row []float64, i int) (at int, err error) {
	var place int
	if e.column.Kind == Categorical {
		code := e.column.Codes[i]
		if code < 0 {
			if !e.field.Missing {
				return 0, inputErrorf("column %q, row %d: the value is missing; drop such rows, or let the schema allow it (OrMissing)", e.field.Name, i+1)
			}
			row[e.at+len(e.field.Levels)] = 1
			return e.at + len(e.field.Levels), nil
		}
		place = e.place[code]
	} else {
		text := e.column.Text(i)
		if text == "" && e.field.Missing {
			row[e.at+len(e.field.Levels)] = 1
			return e.at + len(e.field.Levels), nil
		}
		place = slices.Index(e.field.Levels, text)
	}
	if place < 0 && e.column.Kind == Numeric {
		return 0, quotingErrorf("column %q, row %d: %q is outside the public list %s; the column was read as numbers: read it as texts with CSVSettings.Kinds (%q: Categorical)",
			e.field.Name, i+1, e.column.Text(i), quoteAll(e.field.Levels), e.field.Name)
	}
	if place < 0 {
		return 0, quotingErrorf("column %q, row %d: category %q is outside the public list %s; correct the row or the list",
			e.field.Name, i+1, e.column.Text(i), quoteAll(e.field.Levels))
	}
	row[e.at+place] = 1
	return e.at + place, nil
}
