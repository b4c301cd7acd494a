package learn

import (
	"slices"
	"strings"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/frame"
)

// Numbers returns the columns of which the schema has bounds, and Categories those of which it lists the values, in its
// order, those that are made of dates last: both are public.
func (df DataFrame) Numbers() []string { return df.ofKind(frame.Numeric) }

// Categories is described at Numbers.
func (df DataFrame) Categories() []string { return df.ofKind(frame.Categorical) }

func (df DataFrame) ofKind(kind frame.Kind) (names []string) {
	var dates []string
	if df.schema != nil {
		for _, f := range df.schema.Fields {
			if f.Kind == kind && !f.Open {
				if f.Part != frame.NoDate {
					dates = append(dates, f.Name)
					continue
				}
				names = append(names, f.Name)
			}
		}
	}
	return append(names, dates...)
}

// Range returns how far apart the bounds of a column of numbers are that the schema states; 0 if it states none.
func (df DataFrame) Range(column string) float64 {
	if !slices.Contains(df.Numbers(), column) {
		return 0
	}
	f, _ := df.schema.Field(column)
	return f.Upper - f.Lower
}

// Schema shows what is publicly known about the columns, and nothing of what is in them.
func (df DataFrame) Schema() display.Item {
	if err := df.Err(); err != nil {
		return display.Failed(err)
	}
	it := display.Item{Title: "What is publicly known", Header: []string{"column", "values", "missing or other"}}
	if df.schema == nil {
		it.Note("Nothing: state bounds and categories that are known without the data (WithSchema, WithSchemaFile).")
		return df.WithOrigin(it)
	}
	for _, f := range df.schema.Fields {
		values, other := f.Words()
		it.Row(f.Name, values, other)
		for i, a := range f.Levels {
			for _, b := range f.Levels[:i] {
				if strings.EqualFold(a, b) {
					it.Note("The categories %q and %q of %s differ in capital letters alone: if they mean the "+
						"same, list the one that the file has.", b, a, f.Name)
				}
			}
		}
	}
	if df.schema.Inferred() {
		it.Warning = "This was READ OFF THE DATA: no guarantee covers it."
	}
	return df.WithOrigin(it)
}
