package frame

import (
	"math"
	"slices"
	"strings"
)

// InferSchema reads bounds, categories and which columns are numbers off the data. What comes of it is covered by no
// guarantee, and says so wherever it is printed: use it to explore data that are public, never for a release. Its
// fields keep that mark in any other schema; a field that is stated anew (NumericField and the others) has none.
func InferSchema(t *Table) *Schema {
	s := &Schema{DataDependent: true}
	for _, c := range t.columns {
		f := Field{Name: c.Name, Kind: c.guess(), inferred: true}
		if f.Kind == Categorical {
			f.inferLevels(&c)
		} else {
			f.inferBounds(&c)
		}
		s.Fields = append(s.Fields, f)
	}
	return s
}

// guess returns Numeric if every value that is not missing is a number: a fact about the records.
func (c *Column) guess() Kind {
	for i := range c.len() {
		if !c.lacks(i) && math.IsNaN(c.Number(i)) {
			return Categorical
		}
	}
	return Numeric
}

func (f *Field) inferLevels(c *Column) {
	seen := map[string]bool{}
	for i := range c.len() {
		text := strings.TrimSpace(c.Text(i))
		if text == "" {
			f.Missing = true
		} else if !seen[text] {
			seen[text] = true
			f.Levels = append(f.Levels, text)
		}
	}
	slices.Sort(f.Levels)
}

func (f *Field) inferBounds(c *Column) {
	f.Lower, f.Upper = math.Inf(1), math.Inf(-1)
	for i := range c.len() {
		v := c.Number(i)
		if math.IsNaN(v) {
			f.Missing = true
		} else if !math.IsInf(v, 0) {
			f.Lower, f.Upper = math.Min(f.Lower, v), math.Max(f.Upper, v)
		}
	}
	if !(f.Lower < f.Upper) {
		// A constant column, or one with no number at all: any interval around it will do.
		if math.IsInf(f.Lower, 0) {
			f.Lower, f.Upper = 0, 0
		}
		f.Lower, f.Upper = f.Lower-0.5, f.Upper+0.5
	}
}
