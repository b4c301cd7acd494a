package frame

import (
	"strings"

	"github.com/go-gota/gota/dataframe"
	"github.com/go-gota/gota/series"
)

// FromDataFrame returns the table of a gota dataframe: floats and ints as numbers,
// strings as texts; gota's NaN is missing.
//
// gota's readers give a column its type after looking at all records: one text makes
// a column of numbers one of texts. Which type it is therefore changes nothing here: a
// text that is a number is taken as that number, also where the schema lists
// categories, and a schema two of whose categories are the same number is refused
// (newEncoding). The one change of type that cannot be undone is that to bool, which
// leaves nothing of a column of numbers, so that bools are refused.
//
// Errors: *InputError if the dataframe carries an error, has no column, or one of
// bools.
func FromDataFrame(df dataframe.DataFrame) (*Table, error) {
	if df.Err != nil {
		return nil, inputErrorf("the dataframe carries an error: %v", df.Err)
	}
	var columns []Column
	for _, name := range df.Names() {
		s := df.Col(name)
		if s.Err != nil {
			return nil, inputErrorf("column %q: %v", name, s.Err)
		}
		switch s.Type() {
		case series.Bool:
			return nil, inputErrorf("column %q has gota's type bool, to which its readers turn a whole column, "+
				"numbers and all, for one text \"true\": read the file with ReadCSV, or hand over texts "+
				"(dataframe.WithTypes)", name)
		case series.String:
			columns = append(columns, Column{Name: name, Kind: Categorical, Texts: textsOf(s), retyped: true})
		default:
			columns = append(columns, Column{Name: name, Kind: Numeric, Numbers: s.Float(), retyped: true})
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

// DataFrame returns t as a gota dataframe, missing values as NaN. Columns that the
// schema has are floats or strings as it says; of others, and of all if the schema
// is nil, those are floats that hold nothing but numbers, which is a fact about the
// records.
func (t *Table) DataFrame(schema *Schema) dataframe.DataFrame {
	var s []series.Series
	for i := range t.columns {
		c := &t.columns[i]
		kind := c.guess()
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
			if texts[k] = c.Text(k); c.retyped && c.Kind == Categorical {
				texts[k] = c.Texts[k] // as it came: back go texts, and nothing is asked of them
			}
			if texts[k] == "" {
				texts[k] = "NaN"
			}
		}
		s = append(s, series.New(texts, series.String, c.Name))
	}
	return dataframe.New(s...)
}
