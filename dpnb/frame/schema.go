package frame

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dpnb/notebooks/dpnb/internal/logscale"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
)

// Schema is what is publicly known of the columns before the data are seen: bounds of numbers, lists of categories. It
// must not be made from the data; InferSchema does, and marks what it returns.
type Schema struct {
	Fields []Field
	// DataDependent says that the bounds or categories were read off the data, so that no guarantee covers them.
	DataDependent bool
	// Ignored are columns of which nothing is to be learnt: Prepared drops them.
	Ignored []string
	// listed are the files that categories were read from.
	lists []string
}

// Field is the public knowledge of one column: what a text or a number in it stands for, whatever else is in the table.
// No value is refused; each that does not fit has its rule here.
type Field struct {
	Name string
	Kind Kind
	// Lower and Upper bound a numeric column; values outside, the infinite ones among them, are moved to the nearer
	// bound.
	Lower, Upper float64
	// Open says that Lower and Upper are no bounds but where most values are: they fix the scale, and no value is
	// moved. Only learners that need no bounds take such a column.
	Open bool
	// Log says that ln(value/Lower) is used in place of the value if Lower is positive, else ln(1 + value − Lower): for
	// quantities that spread over orders of magnitude.
	Log bool
	// Fill is the number that a value counts as which is missing or no number; nil is the middle of the bounds (of
	// their logarithms if Log).
	Fill *float64
	// Typical is the value at which a number counts as 0 where rows are centred (DesignSettings.Centred); nil is the
	// middle of the bounds, on the field's scale.
	Typical *float64
	// Levels are the categories of a categorical column. A text is one of them if it is the same text, or the same
	// number as one of them alone.
	Levels []string
	// Else is the category, one of Levels, that any other text counts as. Empty is none: all indicators of a feature
	// are then zero, and a label counts as the negative class, or as the first of several.
	Else string
	// Reference is the category that models show the others against; "" is the first of Levels.
	Reference string `json:",omitempty"`
	// Missing says that values may be missing: a feature then has an indicator of its own for them, a numeric one only
	// where rows are centred and Fill is nil. Without it they count as any other text, or as the middle of the bounds.
	Missing bool
	// Part says that the column has dates, and what of them the field stands for; Layout how its texts write them, in
	// the way of package time. See DateField.
	Part   DatePart
	Layout string
	// Patterns have texts count as categories, before these are looked up.
	Patterns []Pattern `json:",omitempty"`
	// Of is the column that this one is a copy of, "" if it is one of the file.
	Of string `json:",omitempty"`
	// Line, Cuts, Period and Cross are the terms of the column in centred rows, without which a number is a curve: see
	// Term. Cross are columns that it is crossed with, and Rises is +1 or −1 where it must rise or fall.
	Line   bool      `json:",omitempty"`
	Cuts   []float64 `json:",omitempty"`
	Period float64   `json:",omitempty"`
	Cross  []string  `json:",omitempty"`
	Rises  int       `json:",omitempty"`
	// inferred says that InferSchema read the field off the data. The mark stays with it in whatever schema it is put.
	inferred bool `json:"-"`
}

// Clone returns a copy of s that shares nothing with it.
func (s *Schema) Clone() *Schema {
	out := *s
	out.Fields, out.Ignored = slices.Clone(s.Fields), slices.Clone(s.Ignored)
	for i := range out.Fields {
		f := &out.Fields[i]
		f.Patterns = slices.Clone(f.Patterns)
		f.Levels, f.Cuts, f.Cross = slices.Clone(f.Levels), slices.Clone(f.Cuts), slices.Clone(f.Cross)
		for _, number := range []**float64{&f.Fill, &f.Typical} {
			if *number != nil {
				own := **number
				*number = &own
			}
		}
	}
	return &out
}

// Inferred reports whether the schema, or a field of it, was read off the data.
func (s *Schema) Inferred() bool {
	return s.DataDependent || slices.ContainsFunc(s.Fields, func(f Field) bool { return f.inferred })
}

// Open reports whether a number has no bounds.
func (s *Schema) Open() bool {
	return slices.ContainsFunc(s.Fields, func(f Field) bool { return f.Open })
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

// OrMissing returns f with missing values allowed, with an indicator of its own for them.
func (f Field) OrMissing() Field { f.Missing = true; return f }

// OrMissingAs returns a numeric f with missing values allowed, which count as v.
func (f Field) OrMissingAs(v float64) Field { f.Missing, f.Fill = true, &v; return f }

// Typically returns a numeric f of which v is the typical value, known without the data: 0 of a count of visits that
// most people do not make. A record with it adds nothing to the norm of its row, which is what the noise is in
// proportion to.
func (f Field) Typically(v float64) Field { f.Typical = &v; return f }

// Unbounded returns a numeric f whose bounds are no more than a scale: see Open.
func (f Field) Unbounded() Field { f.Open = true; return f }

// OrElse returns a categorical f in which any text that is none of the categories counts as the given one, which is
// added to them if it is not there.
func (f Field) OrElse(category string) Field {
	if !slices.Contains(f.Levels, category) {
		f.Levels = append(slices.Clone(f.Levels), category)
	}
	f.Else = category
	return f
}

// Against returns a categorical f with the category that models show the others against: the usual or the most frequent
// one, if that is known without the data.
func (f Field) Against(category string) Field { f.Reference = category; return f }

func (f *Field) validate() error {
	switch {
	case f.Name == "":
		return inputErrorf("a field of the schema has no name")
	case f.Kind == Numeric && f.Lower >= f.Upper:
		return inputErrorf("field %q: its lower bound, %s, is not below its upper bound, %s: want lower < upper",
			f.Name, f.shown(f.Lower), f.shown(f.Upper))
	case f.Kind == Numeric && !(f.Lower < f.Upper && !math.IsInf(f.Upper-f.Lower, 0) && !math.IsInf(1/(f.Upper-f.Lower),
		0)):
		return inputErrorf("field %q: bounds [%v, %v] are not finite with lower < upper, at a distance that float64 "+
			"can divide by; of a number without bounds say where most values are, and %s", f.Name, f.Lower, f.Upper,
			wording.Setting{Field: "Unbounded", Go: "Unbounded()"})
	case f.Log && math.IsInf(logscale.Between(f.Lower, f.Upper).Width, 1):
		return inputErrorf("field %q: the upper bound %v of a number on a logarithmic scale is too many times the "+
			"lower one, %v: take 0 for it, or one that is larger", f.Name, f.Upper, f.Lower)
	case f.Part < NoDate || f.Part > Hour || f.Part != NoDate && f.Kind != f.Part.kind():
		return inputErrorf("field %q: a date is made by DateField, YearField, MonthField, "+
			"WeekdayField or HourField", f.Name)
	case f.Open && (f.Kind != Numeric || f.Log):
		return inputErrorf("field %q: Unbounded is for a number on its own scale", f.Name)
	case f.Kind == Categorical && len(f.Levels) == 0:
		return inputErrorf("field %q has no categories", f.Name)
	case f.Kind == Numeric && f.Else != "":
		return inputErrorf("field %q is a number: it has no category %q for others; "+
			"say what missing ones count as with %s", f.Name, f.Else, wording.Of("OrMissingAs"))
	case f.Kind == Categorical && f.Fill != nil:
		return inputErrorf("field %q has categories: what others count as is said with %s, not with a number",
			f.Name, wording.Of("OrElse"))
	case f.Typical != nil && (f.Kind != Numeric || f.Open):
		return inputErrorf("field %q: a typical value is for a number within bounds", f.Name)
	case f.Typical != nil && !(*f.Typical >= f.Lower && *f.Typical <= f.Upper):
		return inputErrorf("field %q: the typical value %v is not within the bounds [%v, %v]", f.Name, *f.Typical,
			f.Lower, f.Upper)
	case f.Fill != nil && !(*f.Fill >= f.Lower && *f.Fill <= f.Upper):
		return inputErrorf("field %q: missing values are to count as %v, which is not within the bounds [%v, %v]",
			f.Name, *f.Fill, f.Lower, f.Upper)
	case f.Else != "" && !slices.Contains(f.Levels, f.Else):
		return inputErrorf("field %q: others are to count as %q (else), which is not in the list of its categories, "+
			"%s: add it to them", f.Name, f.Else, quoteAll(f.Levels))
	case f.Reference != "" && f.Kind == Numeric:
		return inputErrorf("field %q is a number: it has no category %q to be shown against", f.Name, f.Reference)
	case f.Reference != "" && !slices.Contains(f.Levels, f.Reference):
		return inputErrorf("field %q: categories are to be shown against %q, which is not in the list of them%s, %s",
			f.Name, f.Reference, like(f.Reference, f.Levels), quoteAll(f.Levels))
	}
	// A schema is written down as JSON, where all that is not UTF-8 is the same.
	for _, text := range append([]string{f.Name, f.Of, f.Layout}, f.Levels...) {
		if !utf8.ValidString(text) {
			return inputErrorf("field %q: %q is not in UTF-8; say the %s of the file, and write it so here",
				f.Name, text, wording.Of("Encoding"))
		}
	}
	seen := map[string]bool{}
	for _, l := range f.Levels {
		l = strings.TrimSpace(l)
		if l == "" {
			return inputErrorf("field %q: a category is empty, which stands for a missing value: say %s", f.Name,
				wording.Of("OrMissing"))
		}
		if seen[l] {
			return inputErrorf("field %q: category %q is there twice", f.Name, l)
		}
		seen[l] = true
	}
	if f.Of == f.Name {
		return inputErrorf("field %q is a copy of itself: name the column that it is of", f.Name)
	}
	if err := f.validPatterns(); err != nil {
		return err
	}
	if err := f.validTerm(); err != nil {
		return err
	}
	return f.laidOut()
}

// listed reports whether a column has categories.
func (s *Schema) listed(name string) bool {
	f, ok := s.Field(name)
	return ok && f.Kind == Categorical
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

// Words says for a reader which values a field has and what others count as.
func (f *Field) Words() (values, other string) {
	if f.Kind == Categorical {
		values, other = wording.Names(f.Levels), "none of them"
		if f.Else != "" {
			other = f.Else
		}
		if f.Missing {
			other += "; missing is a category"
		}
		return values + f.inWords(), other
	}
	v, why := f.missingAs()
	values, other = f.shown(f.Lower)+" to "+f.shown(f.Upper), f.shown(v)+", "+why
	switch {
	case f.Missing:
		other += "; in a model an effect of its own"
	case f.Fill == nil && f.Typical != nil && !f.Open:
		other += "; in a model " + f.shown(*f.Typical)
	}
	switch f.Part {
	case Days:
		values = "a date: " + values
	case Year:
		values = "the year of a date: " + values
	case Hour:
		values = "the hour of a date: " + values
	}
	if f.Log {
		values += ", on a logarithmic scale"
	}
	values += f.typically() + f.inWords()
	if f.Open {
		return "mostly " + values + ", without bounds", other
	}
	return values, other + "; beyond: the bound"
}

// typically is the typical value in words, "" if none is stated.
func (f *Field) typically() string {
	if f.Typical == nil {
		return ""
	}
	return ", typically " + f.shown(*f.Typical)
}

// describe is the field in words, for the log of steps.
func (f *Field) describe() string {
	name := f.Name
	if f.Part != NoDate {
		name = f.Part.String() + " of " + name
	}
	if f.Kind == Categorical {
		return fmt.Sprintf("%s: %d public categories", name, len(f.Levels))
	}
	if f.Open {
		return fmt.Sprintf("%s, most of it in [%s, %s], without bounds", name, f.shown(f.Lower), f.shown(f.Upper))
	}
	scale := f.typically()
	if f.Log {
		scale = ", log scale" + scale
	}
	return fmt.Sprintf("%s ∈ [%s, %s]%s", name, f.shown(f.Lower), f.shown(f.Upper), scale)
}
