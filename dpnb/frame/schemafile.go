package frame

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dpnb/notebooks/dpnb/internal/atomicfile"
)

// schemaVersion is that of the files that SaveSchema writes.
const schemaVersion = 1

// schemaFile is a schema as it stands in a file.
type schemaFile struct {
	Version int         `json:"version"`
	Fields  []fieldText `json:"fields"`
}

// fieldText is a field as it stands in a file.
type fieldText struct {
	Name string `json:"name"`
	// Type is one of fieldTypes.
	Type  string   `json:"type"`
	Lower *float64 `json:"lower,omitempty"`
	Upper *float64 `json:"upper,omitempty"`
	// Categories in their order, and which of them others count as.
	Categories []string `json:"categories,omitempty"`
	Else       string   `json:"else,omitempty"`
	// Missing says that values may be missing, MissingAs what they count as.
	Missing   bool     `json:"missing,omitempty"`
	MissingAs *float64 `json:"missingAs,omitempty"`
	// Layout of a date.
	Layout string `json:"layout,omitempty"`
}

// fieldTypes are the types in a file, and the fields that they begin with.
var fieldTypes = map[string]Field{
	"number":            {Kind: Numeric},
	"number, log":       {Kind: Numeric, Log: true},
	"number, open":      {Kind: Numeric, Open: true},
	"category":          {Kind: Categorical},
	"date, in days":     {Kind: Numeric, Part: Days},
	"year of a date":    {Kind: Numeric, Part: Year},
	"month of a date":   {Kind: Categorical, Part: Month},
	"weekday of a date": {Kind: Categorical, Part: Weekday},
}

// typeNames returns the names of fieldTypes in order.
func typeNames() []string {
	var names []string
	for n := range fieldTypes {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// text returns f as it stands in a file.
func (f Field) text() fieldText {
	t := fieldText{Name: f.Name, Categories: f.Levels, Else: f.Else, Missing: f.Missing, MissingAs: f.Fill,
		Layout: f.Layout}
	for _, name := range typeNames() {
		if g := fieldTypes[name]; g.Kind == f.Kind && g.Log == f.Log && g.Open == f.Open && g.Part == f.Part {
			t.Type = name
		}
	}
	if f.Kind == Numeric {
		t.Lower, t.Upper = &f.Lower, &f.Upper
	}
	return t
}

// field returns the field that stands in a file.
func (t fieldText) field() (Field, error) {
	f, ok := fieldTypes[t.Type]
	if !ok {
		return f, inputErrorf("field %q has the type %q, want one of %s", t.Name, t.Type, quoteAll(typeNames()))
	}
	f.Name, f.Levels, f.Else, f.Layout = t.Name, t.Categories, t.Else, t.Layout
	f.Missing, f.Fill = t.Missing, t.MissingAs
	switch {
	case f.Kind == Numeric && (t.Lower == nil || t.Upper == nil):
		return f, inputErrorf("field %q is a number and has no lower and upper", t.Name)
	case f.Kind == Categorical && (t.Lower != nil || t.Upper != nil):
		return f, inputErrorf("field %q has categories, and no lower or upper", t.Name)
	case f.Kind == Numeric && t.Categories != nil:
		return f, inputErrorf("field %q is a number, and has no categories", t.Name)
	case f.Kind == Numeric:
		f.Lower, f.Upper = *t.Lower, *t.Upper
	case f.Part == Month && f.Levels == nil:
		f.Levels = MonthField("", "").Levels
	case f.Part == Weekday && f.Levels == nil:
		f.Levels = WeekdayField("", "").Levels
	}
	return f, f.validate()
}

// Save writes the schema to a JSON file, for other programs and people to use with data of
// the same kind. LoadSchema reads it.
//
// Errors: *InputError if something is wrong with the schema, or it was read off the data: the
// file would pass for public knowledge. Those of the file system.
func (s *Schema) Save(path string) error {
	if s.dataDependent() {
		return inputErrorf("bounds or categories were read off the data: a file of them would pass for what is known " +
			"without; state the fields anew")
	}
	if err := s.validate(); err != nil {
		return err
	}
	out := schemaFile{Version: schemaVersion}
	for _, f := range s.Fields {
		out.Fields = append(out.Fields, f.text())
	}
	text, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(path, append(text, '\n'))
}

// LoadSchema reads a schema from a file of Save, or written by hand in its form.
//
// Errors: *InputError if there is no such file, it is of another version, or something is
// wrong with a field, which it names.
func LoadSchema(path string) (*Schema, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, inputErrorf("there is no schema %q; check the path", path)
	}
	if err != nil {
		return nil, inputErrorf("%v", err)
	}
	fail := func(err error) (*Schema, error) {
		var in *InputError
		if errors.As(err, &in) {
			err = errors.New(in.Text)
		}
		return nil, inputErrorf("schema %s: %v", filepath.Base(path), err)
	}
	var in schemaFile
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return fail(err)
	}
	if in.Version != schemaVersion {
		return fail(inputErrorf("version %d, this program reads version %d", in.Version, schemaVersion))
	}
	var s Schema
	for _, t := range in.Fields {
		f, err := t.field()
		if err != nil {
			return fail(err)
		}
		s.Fields = append(s.Fields, f)
	}
	if len(s.Fields) == 0 {
		return fail(inputErrorf("there are no fields"))
	}
	if err := s.validate(); err != nil {
		return fail(err)
	}
	return &s, nil
}

// Fits refuses a table that lacks columns of the schema, and names them, with the columns
// that the schema lacks.
func (s *Schema) Fits(names []string) error {
	var lacking, unknown []string
	for _, f := range s.Fields {
		if !slices.Contains(names, f.Name) {
			lacking = append(lacking, f.Name)
		}
	}
	for _, n := range names {
		if _, ok := s.Field(n); !ok {
			unknown = append(unknown, n)
		}
	}
	if lacking == nil {
		return nil
	}
	text := "the schema is of another table: there is no column " + quoteAll(lacking)
	if unknown != nil {
		text += "; not in the schema: " + quoteAll(unknown)
	}
	return inputErrorf("%s", text)
}

// ReadCodebook makes a schema of a table that describes the columns of another, and is public: one
// row for each, with its name and type and, where they apply, lower, upper, categories
// (separated by bars), else, missing (yes or no), missingAs and layout, as in a file of Save.
//
// Errors: *InputError, which names the field.
func ReadCodebook(t *Table) (*Schema, error) {
	known := []string{"name", "type", "lower", "upper", "categories", "else", "missing", "missingAs", "layout"}
	for _, n := range t.Names() {
		if !slices.Contains(known, n) {
			return nil, inputErrorf("the codebook has a column %q, want some of %s", n, join(known))
		}
	}
	text := func(column string, i int) string {
		c, err := t.Column(column)
		if err != nil {
			return ""
		}
		return c.Text(i)
	}
	var s Schema
	for i := range t.rows {
		f := fieldText{Name: text("name", i), Type: text("type", i), Else: text("else", i), Layout: text("layout", i)}
		for _, v := range []struct {
			column string
			to     **float64
		}{{"lower", &f.Lower}, {"upper", &f.Upper}, {"missingAs", &f.MissingAs}} {
			if text(v.column, i) == "" {
				continue
			}
			c, _ := t.Column(v.column)
			number := c.Number(i)
			*v.to = &number
		}
		if list := text("categories", i); list != "" {
			for _, level := range strings.Split(list, "|") {
				f.Categories = append(f.Categories, strings.TrimSpace(level))
			}
		}
		switch yes := text("missing", i); yes {
		case "yes", "no", "":
			f.Missing = yes == "yes" || f.MissingAs != nil
		default:
			return nil, inputErrorf("field %q: missing is %q, want yes or no", f.Name, yes)
		}
		field, err := f.field()
		if err != nil {
			return nil, err
		}
		s.Fields = append(s.Fields, field)
	}
	return &s, s.validate()
}
