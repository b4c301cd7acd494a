package frame

import (
	"github.com/go-gota/gota/dataframe"
	"github.com/go-gota/gota/series"
)

// FromDataFrame returns the table of a gota dataframe. Floats, ints and bools
// become numeric columns, strings categorical ones; gota's NaN is missing.
//
// Errors: *InputError if the dataframe carries an error, or has no column.
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
		if s.Type() != series.String {
			columns = append(columns, Column{Name: name, Kind: Numeric, Numbers: s.Float()})
			continue
		}
		c := Column{Name: name, Kind: Categorical, Codes: make([]int32, 0, s.Len())}
		index := levelIndex{code: map[string]int32{}}
		missing := map[string]bool{"": true, "NaN": true}
		for _, text := range s.Records() {
			c.Codes = append(c.Codes, index.of(text, missing, &c))
		}
		columns = append(columns, c)
	}
	t, err := NewTable(columns...)
	if err != nil {
		return nil, err
	}
	t.Source.Name = "dataframe"
	return t, nil
}

// DataFrame returns t as a gota dataframe: numeric columns as floats,
// categorical ones as strings, missing values as NaN.
func (t *Table) DataFrame() dataframe.DataFrame {
	var s []series.Series
	for i := range t.columns {
		c := &t.columns[i]
		if c.Kind == Numeric {
			s = append(s, series.New(c.Numbers, series.Float, c.Name))
			continue
		}
		texts := make([]string, t.rows)
		for k := range texts {
			if texts[k] = c.Text(k); c.Codes[k] < 0 {
				texts[k] = "NaN"
			}
		}
		s = append(s, series.New(texts, series.String, c.Name))
	}
	return dataframe.New(s...)
}
