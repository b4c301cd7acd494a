package frame

import (
	"fmt"
	"math"
	"slices"
)

// Schema is what is publicly known of the columns before the data are seen:
// bounds of numbers, lists of categories. It must not be made from the data;
// InferSchema does, and marks what it returns.
type Schema struct {
	Fields []Field
	// DataDependent says that the bounds or categories were read off the data,
	// so that no guarantee covers them.
	DataDependent bool
}

// Field is the public knowledge of one column.
type Field struct {
	Name string
	Kind Kind
	// Lower and Upper bound a numeric column; values outside are moved to the
	// nearer bound.
	Lower, Upper float64
	// Log says that log(1 + value − Lower) is used in place of the value, for
	// quantities that spread over orders of magnitude.
	Log bool
	// Levels are the categories of a categorical column.
	Levels []string
	// Missing says that values may be missing. A categorical column then gets
	// an indicator of its own for them; in a numeric one they are replaced by
	// the middle of the bounds.
	Missing bool
}

// NumericField is a number in [lower, upper].
func NumericField(name string, lower, upper float64) Field {
	return Field{Name: name, Kind: Numeric, Lower: lower, Upper: upper}
}

// LogField is a number in [lower, upper] that is used on a logarithmic scale.
func LogField(name string, lower, upper float64) Field {
	return Field{Name: name, Kind: Numeric, Lower: lower, Upper: upper, Log: true}
}

// CategoricalField is one of the given categories.
func CategoricalField(name string, levels ...string) Field {
	return Field{Name: name, Kind: Categorical, Levels: levels}
}

// OrMissing returns f with missing values allowed.
func (f Field) OrMissing() Field { f.Missing = true; return f }

// validate checks the field by itself.
func (f *Field) validate() error {
	switch {
	case f.Name == "":
		return inputErrorf("a field of the schema has no name")
	case f.Kind == Numeric && !(f.Lower < f.Upper && !math.IsInf(f.Upper-f.Lower, 0) && !math.IsInf(1/(f.Upper-f.Lower), 0)):
		return inputErrorf("field %q: bounds [%v, %v] are not finite with lower < upper, at a distance that float64 can divide by", f.Name, f.Lower, f.Upper)
	case f.Kind == Categorical && len(f.Levels) == 0:
		return inputErrorf("field %q has no categories", f.Name)
	}
	for i, l := range f.Levels {
		if slices.Contains(f.Levels[:i], l) {
			return inputErrorf("field %q: category %q is there twice", f.Name, l)
		}
	}
	return nil
}

// Field returns the field of that name.
func (s *Schema) Field(name string) (*Field, bool) {
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			return &s.Fields[i], true
		}
	}
	return nil, false
}

// InferSchema reads bounds and categories off the data. What comes of it is
// covered by no guarantee, and says so wherever it is printed: use it to
// explore data that are public, never for a release.
func InferSchema(t *Table) *Schema {
	s := &Schema{DataDependent: true}
	for i := range t.columns {
		c := &t.columns[i]
		f := Field{Name: c.Name, Kind: c.Kind}
		if c.Kind == Categorical {
			f.Levels = slices.Clone(c.Levels)
			slices.Sort(f.Levels)
			f.Missing = slices.Contains(c.Codes, -1)
		} else {
			f.Lower, f.Upper = math.Inf(1), math.Inf(-1)
			for _, v := range c.Numbers {
				if math.IsNaN(v) {
					f.Missing = true
				} else if !math.IsInf(v, 0) {
					f.Lower, f.Upper = math.Min(f.Lower, v), math.Max(f.Upper, v)
				}
			}
			if !(f.Lower < f.Upper) {
				// A constant column, or one with no number at all: any interval
				// around it will do.
				if math.IsInf(f.Lower, 0) {
					f.Lower, f.Upper = 0, 0
				}
				f.Lower, f.Upper = f.Lower-0.5, f.Upper+0.5
			}
		}
		s.Fields = append(s.Fields, f)
	}
	return s
}

// describe is the field in words, for the log of steps.
func (f *Field) describe() string {
	if f.Kind == Categorical {
		return fmt.Sprintf("%s: %d public categories", f.Name, len(f.Levels))
	}
	scale := ""
	if f.Log {
		scale = ", log scale"
	}
	return fmt.Sprintf("%s ∈ [%g, %g]%s", f.Name, f.Lower, f.Upper, scale)
}
