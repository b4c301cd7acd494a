package learn

import (
	"errors"
	"slices"

	"github.com/dpnb/notebooks/dpnb/frame"
)

// Row is a row as a rule of Where, DeriveNumber and DeriveText sees it: frame.Row.
type Row = frame.Row

// by returns what f makes of the rows of df, with its schema.
func (df DataFrame) by(f func(frame.Scanner) (frame.Scanner, error)) DataFrame {
	if df.err = df.Err(); df.err != nil {
		return df
	}
	s, err := f(df.records)
	if err != nil {
		return DataFrame{err: err}
	}
	df.unprepared = nil
	if df.records = s; !slices.Contains(s.Names(), df.key) { // another column may get its name
		df.key = ""
	}
	return df
}

// Select returns df with the named columns in that order.
func (df DataFrame) Select(names ...string) DataFrame {
	return df.by(func(s frame.Scanner) (frame.Scanner, error) { return frame.Select(s, names...) })
}

// Rename returns df with a new name for a column, in the schema too.
func (df DataFrame) Rename(from, to string) DataFrame {
	if df.rows > 0 && df.key == from {
		df.key = to
	}
	df = df.by(func(s frame.Scanner) (frame.Scanner, error) { return frame.Rename(s, from, to) })
	return df.stating(func(fields []Field) []Field {
		for k := range fields {
			if fields[k].Name == from {
				fields[k].Name = to
			}
		}
		return fields
	})
}

// stating returns df with a schema of fields changed by f.
func (df DataFrame) stating(f func([]Field) []Field) DataFrame {
	if df.Err() == nil {
		var s frame.Schema
		if df.schema != nil {
			s = *df.schema
		}
		s.Fields = f(slices.Clone(s.Fields))
		df.schema = s.Clone()
	}
	return df
}

// Where returns the rows for which a public rule holds. The rule sees only the named columns of a row, so a fit of
// these rows, or a question about them, keeps its guarantee for df.
//
//	grown := df.Where(func(r dpnb.Row) bool { return r.Number("age") >= 18 }, "age")
//
// The rule must have an answer whatever is in a row: one on which it panics is left out without a word, which would be
// about a person. A rule that fails on rows of public values, or reads a column that is not named, is refused.
func (df DataFrame) Where(holds func(Row) bool, columns ...string) DataFrame {
	return df.by(func(s frame.Scanner) (frame.Scanner, error) {
		if holds == nil {
			return nil, errors.New("dpnb: Where wants a rule that says which rows to keep")
		}
		return frame.Where(s, holds, columns...)
	})
}

// DeriveNumber returns df with one more column of numbers, which a public rule computes from the named columns of the
// row. The field has its name and public bounds, and joins the schema. NaN is missing, and so is what the rule panics
// on: see Where.
func (df DataFrame) DeriveNumber(field Field, rule func(Row) float64, columns ...string) DataFrame {
	df = df.by(func(s frame.Scanner) (frame.Scanner, error) {
		if rule == nil || field.Kind != frame.Numeric {
			return nil, errors.New("dpnb: DeriveNumber wants a rule and the field of a number: Numeric or Log")
		}
		return frame.DeriveNumber(s, field.Name, rule, columns...)
	})
	return df.stating(func(fields []Field) []Field { return append(fields, field) })
}

// DeriveText is DeriveNumber for a Categorical field; "" is missing.
func (df DataFrame) DeriveText(field Field, rule func(Row) string, columns ...string) DataFrame {
	df = df.by(func(s frame.Scanner) (frame.Scanner, error) {
		if rule == nil || field.Kind != frame.Categorical {
			return nil, errors.New("dpnb: DeriveText wants a rule and the field of categories: Categorical")
		}
		return frame.DeriveText(s, field.Name, rule, columns...)
	})
	return df.stating(func(fields []Field) []Field { return append(fields, field) })
}

// Join returns df with columns of a public table behind the others, found by a key: a column that both have, of which
// no row of the public one lacks a value or has that of another. The fields have their names and what is known of them,
// and join the schema; a record whose key is not in the table lacks them, so that it counts as OrElse or OrMissingAs
// say.
//
//	regions := dpnb.ReadCSV("regions.csv").Public()
//	df = df.Join(regions, "postcode", dpnb.Categorical("region", "north", "south").OrElse("unknown"))
//
// The table must be declared Public: what is in it is known of everybody.
func (df DataFrame) Join(public DataFrame, key string, fields ...Field) DataFrame {
	table, err := public.Table()
	if err == nil && len(fields) == 0 {
		err = errors.New("dpnb: Join wants the fields to take from the public table, such as " +
			"Categorical(\"region\", …)")
	}
	for _, field := range fields {
		df = df.by(func(s frame.Scanner) (frame.Scanner, error) {
			if err != nil {
				return nil, err
			}
			return frame.Join(s, table, key, field)
		})
	}
	if err != nil {
		return DataFrame{err: errors.Join(df.err, err)}
	}
	return df.stating(func(all []Field) []Field { return append(all, fields...) })
}

// Sorted returns the rows of a table that is declared Public, in the order of a column, to be looked at.
func (df DataFrame) Sorted(column string, descending bool) DataFrame {
	return df.change(func(t *frame.Table) (*frame.Table, error) { return frame.Sorted(t, column, descending) })
}

// Split divides the rows in two, the first part with about the given share of them, by a keyed hash of the row's own
// named columns (all if none are named), not by its position: one row more or less in df is one more or less in one
// part, and moves no other row. Rows that agree in these columns stay together: duplicates, or, with the column that
// names a person, all rows of that person. The same key splits in the same way.
func (df DataFrame) Split(share float64, key string, columns ...string) (first, rest DataFrame) {
	part := func(take func(a, b frame.Scanner) frame.Scanner) DataFrame {
		return df.by(func(s frame.Scanner) (frame.Scanner, error) {
			a, b, err := frame.Split(s, share, key, columns...)
			return take(a, b), err
		})
	}
	return part(func(a, _ frame.Scanner) frame.Scanner { return a }),
		part(func(_, b frame.Scanner) frame.Scanner { return b })
}

// WithSchemaFile is WithSchema with the fields of a file that SaveSchema wrote, or that was written by hand in its
// form. It is refused if df lacks a column of it.
func (df DataFrame) WithSchemaFile(path string) DataFrame {
	s, err := frame.LoadSchema(path)
	return df.known(s, err)
}

// WithCodebook is WithSchema with the fields of a CSV file that describes the columns, as frame.ReadCodebook says, and
// is public.
func (df DataFrame) WithCodebook(path string) DataFrame {
	t, err := frame.ReadCSVFile(path, &CSV{Missing: []string{}})
	if err != nil {
		return df.known(nil, err)
	}
	s, err := frame.ReadCodebook(t)
	return df.known(s, err)
}

func (df DataFrame) known(s *frame.Schema, err error) DataFrame {
	if df.err = df.Err(); df.err != nil {
		return df
	}
	if err == nil {
		err = s.Fits(df.records.Names())
	}
	if err != nil {
		return DataFrame{err: err}
	}
	return df.Knowing(s)
}

// SaveSchema writes what the schema says of the columns that df has to a JSON file, for WithSchemaFile.
//
// Errors: df's own; no schema, or one that was read off the data; those of the file system.
func (df DataFrame) SaveSchema(path string) error {
	records, s, err := df.Known()
	if err != nil {
		return err
	}
	here := *s.Clone()
	here.Fields = slices.DeleteFunc(slices.Clone(s.Fields), func(f Field) bool {
		return !slices.Contains(records.Names(), f.Name)
	})
	return here.Save(path)
}
