package frame

import (
	"reflect"
	"slices"
	"strings"

	"github.com/go-gota/gota/dataframe"
	"github.com/go-gota/gota/series"
)

// FromDataFrame returns the table of the dataframe of gota that load makes: floats and ints as numbers, strings and
// bools as texts; gota's NaN is missing.
//
// gota's readers guess a column's type from all records, and one text "true" in a column of numbers makes bools of it,
// which leaves nothing of the others. So load is handed options by which gota's reader takes every column as texts,
// which are read as those of ReadCSV, and must hand them on:
//
//	frame.FromDataFrame(func(texts ...dataframe.LoadOption) dataframe.DataFrame {
//		return dataframe.ReadCSV(file, append(texts, dataframe.WithDelimiter(';'))...)
//	})
//
// Options behind them may give columns types that are known without the data (dataframe.WithTypes).
//
// That the dataframe is of the reader that got the options cannot be seen: of another one, columns of types that the
// options do not give are refused, which may tell of its records that gota has guessed.
//
// Errors: *InputError if no reader of gota was given the options, or one was told to guess nevertheless, or the
// dataframe has columns of other types than the options say, carries an error or has no column.
func FromDataFrame(load func(texts ...dataframe.LoadOption) dataframe.DataFrame) (*Table, error) {
	texts := dataframe.DetectTypes(false)
	var readers []reflect.Value // what gota's readers were told, when load has returned
	seen := reflect.MakeFunc(reflect.TypeOf(texts), func(in []reflect.Value) []reflect.Value {
		readers = append(readers, in[0].Elem())
		return reflect.ValueOf(texts).Call(in)
	})
	df := load(seen.Interface().(dataframe.LoadOption), dataframe.DefaultType(series.String))
	guesses := func(r reflect.Value) bool { return r.FieldByName("detectTypes").Bool() }
	if len(readers) == 0 || slices.ContainsFunc(readers, guesses) {
		return nil, inputErrorf("gota's reader was not given the options that load is called with, or others after " +
			"them that undo these, and may have guessed the types of columns from all records: " +
			"dataframe.ReadCSV(file, options...)")
	}
	if df.Err != nil {
		return nil, inputErrorf("the dataframe carries an error: %v", df.Err)
	}
	var columns []Column
	for _, name := range df.Names() {
		s := df.Col(name)
		if s.Err != nil {
			return nil, inputErrorf("column %q: %v", name, s.Err)
		}
		if told := func(r reflect.Value) bool {
			t := r.FieldByName("types").MapIndex(reflect.ValueOf(name))
			if !t.IsValid() {
				t = r.FieldByName("defaultType")
			}
			return t.String() == string(s.Type())
		}; !slices.ContainsFunc(readers, told) {
			return nil, inputErrorf("column %q is of type %s, which gota's reader was not told by the options: "+
				"dataframe.WithTypes gives types, and columns are computed after FromGota", name, s.Type())
		}
		switch s.Type() {
		case series.String, series.Bool:
			columns = append(columns, Column{Name: name, Kind: Categorical, Texts: textsOf(s)})
		default:
			columns = append(columns, Column{Name: name, Kind: Numeric, Numbers: s.Float()})
		}
	}
	t, err := NewTable(columns...)
	if err != nil {
		return nil, err
	}
	t.Source.Name = "dataframe"
	return t, nil
}

// textsOf returns the texts of a series, "" for NaN.
func textsOf(s series.Series) []string {
	texts := s.Records()
	for i, text := range texts {
		if texts[i] = strings.TrimSpace(text); s.Elem(i).IsNA() {
			texts[i] = ""
		}
	}
	return texts
}

// DataFrame returns t as a gota dataframe, missing values as NaN. Columns that the schema has are floats or strings as
// it says; others, and all if the schema is nil, as the table has them: the texts of a CSV file are strings, whatever
// is in them.
func (t *Table) DataFrame(schema *Schema) dataframe.DataFrame {
	var s []series.Series
	for _, c := range t.columns {
		kind := c.Kind
		if schema != nil {
			if f, ok := schema.Field(c.Name); ok {
				kind = f.Kind
			}
		}
		if kind == Numeric {
			v := make([]float64, t.rows)
			for k := range v {
				v[k] = c.Number(k)
			}
			s = append(s, series.New(v, series.Float, c.Name))
			continue
		}
		texts := make([]string, t.rows)
		for k := range texts {
			if texts[k] = c.Text(k); texts[k] == "" {
				texts[k] = "NaN"
			}
		}
		s = append(s, series.New(texts, series.String, c.Name))
	}
	return dataframe.New(s...)
}
