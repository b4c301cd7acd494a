package frame

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/dpnb/notebooks/dpnb/internal/atomicfile"
	"github.com/dpnb/notebooks/dpnb/internal/checksum"
	"github.com/dpnb/notebooks/dpnb/internal/runlog"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
)

// schemaVersion is that of the files that SaveSchema writes.
const schemaVersion = 1

// indent is that of their lines.
const indent = "  "

// schemaFile is a schema as Save writes it.
type schemaFile struct {
	Version int `json:"version"`
	// Comment is for people.
	Comment []string    `json:"comment,omitempty"`
	Fields  []fieldText `json:"fields"`
}

// DraftSchema returns the text of a schema file for columns of which nothing but the names is known: their types,
// bounds and categories are blanks, which ParseSchema refuses until they are filled in.
func DraftSchema(names []string) ([]byte, error) {
	comment, err := json.MarshalIndent([]string{
		"Say what is publicly known of each column, without looking at the data: from a questionnaire, a codebook, " +
			"common sense.",
		"type: " + strings.Join(FieldTypes(), " | "),
		"lower and upper: the bounds of a number or date; leave them null where there are categories.",
		"categories: the values of a text, as [\"no\", \"yes\"]; leave them null where there are bounds.",
		"Columns that nothing is to be learnt of, as names and numbers of people, are of type ignore."}, "  ", "  ")
	out := fmt.Appendf(nil, "{\n  \"version\": %d,\n  \"comment\": %s,\n  \"fields\": [\n", schemaVersion, comment)
	for i, name := range names {
		quoted, e := checksum.Indented(name, indent)
		err = errors.Join(err, e)
		out = fmt.Appendf(out, `    {"name": %s, "type": "", "lower": null, "upper": null, "categories": null}`,
			bytes.TrimSpace(quoted))
		if i < len(names)-1 {
			out = append(out, ',')
		}
		out = append(out, '\n')
	}
	return append(out, "  ]\n}\n"...), err
}

// fieldText is a field as it stands in a file.
type fieldText struct {
	Name string `json:"name"`
	// Type is one of fieldTypes.
	Type string `json:"type"`
	// Lower and Upper are numbers, or of dates in days texts, as in "2020-01-31" or in the layout.
	Lower *bound `json:"lower,omitempty"`
	Upper *bound `json:"upper,omitempty"`
	// Categories in their order, and which of them others count as.
	Categories []string `json:"categories,omitempty"`
	Else       string   `json:"else,omitempty"`
	// Reference is the category that models show the others against.
	Reference string `json:"reference,omitempty"`
	// Missing says that values may be missing, MissingAs what they count as.
	Missing   bool   `json:"missing,omitempty"`
	MissingAs *bound `json:"missingAs,omitempty"`
	// Typical is the value at which a number counts as 0 where rows are centred.
	Typical *bound `json:"typical,omitempty"`
	// CategoriesFrom is a public file of categories, seen from the schema's folder: categoriesFrom. Patterns have texts
	// count as categories.
	CategoriesFrom string    `json:"categoriesFrom,omitempty"`
	Patterns       []Pattern `json:"patterns,omitempty"`
	// Of is the column that this one is a copy of.
	Of string `json:"of,omitempty"`
	// Layout of a date.
	Layout string `json:"layout,omitempty"`
	// Curve is "line" of a number that is to be a straight line. Steps are cuts, Period closes a curve up, and Cross
	// are columns that this one is crossed with: see Term.
	Curve  string   `json:"curve,omitempty"`
	Steps  []*bound `json:"steps,omitempty"`
	Period float64  `json:"period,omitempty"`
	Cross  []string `json:"cross,omitempty"`
	// Monotone is "rising" or "falling".
	Monotone string `json:"monotone,omitempty"`
}

// bound is a number, or a text that a date stands in.
type bound struct {
	number float64
	text   string
}

// MarshalJSON implements json.Marshaler.
func (b bound) MarshalJSON() ([]byte, error) {
	if b.text != "" {
		return json.Marshal(b.text)
	}
	return json.Marshal(b.number)
}

// UnmarshalJSON implements json.Unmarshaler.
func (b *bound) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, &b.text)
	}
	return json.Unmarshal(text, &b.number)
}

// boundOf returns a number of f as it stands in a file: a date where it is one.
func (f *Field) boundOf(v *float64) *bound {
	if v == nil {
		return nil
	}
	b := &bound{number: *v}
	if f.Part == Days {
		b.text, _ = dayText(*v)
	}
	return b
}

// read sets a number of f, if there is a bound.
func (b *bound) read(f *Field, key string, to *float64) error {
	switch {
	case b == nil:
		return nil
	case b.text == "":
		*to = b.number
	case f.Part == Days:
		if *to = dayOf(f.Layout, b.text); math.IsNaN(*to) {
			return inputErrorf("field %q: %s is %q, want a date as in \"2020-01-31\", or a number of days since "+
				"1970-01-01", f.Name, key, b.text)
		}
	default:
		return inputErrorf("field %q: %s is the text %q, want a number", f.Name, key, b.text)
	}
	return nil
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
	"hour of a date":    {Kind: Numeric, Part: Hour},
}

// FieldTypes returns the types that fields have in files, in order.
func FieldTypes() []string {
	names := []string{ignored}
	for n := range fieldTypes {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// text returns f as it stands in a file.
func (f Field) text() fieldText {
	t := fieldText{Name: f.Name, Categories: f.Levels, Else: f.Else, Reference: f.Reference, Missing: f.Missing,
		Layout: f.Layout, MissingAs: f.boundOf(f.Fill), Typical: f.boundOf(f.Typical),
		Period: f.Period, Cross: f.Cross, Patterns: f.Patterns, Of: f.Of}
	if f.Line {
		t.Curve = "line"
	}
	for text, way := range ways {
		if way == f.Rises {
			t.Monotone = text
		}
	}
	for i := range f.Cuts {
		t.Steps = append(t.Steps, f.boundOf(&f.Cuts[i]))
	}
	for _, name := range FieldTypes() {
		if g, ok := fieldTypes[name]; ok && g.Kind == f.Kind && g.Log == f.Log && g.Open == f.Open && g.Part == f.Part {
			t.Type = name
		}
	}
	if f.Kind == Numeric {
		t.Lower, t.Upper = f.boundOf(&f.Lower), f.boundOf(&f.Upper)
	}
	return t
}

// ways are the texts of Field.Rises.
var ways = map[string]int{"": 0, "rising": 1, "falling": -1}

// field returns the field that stands in a file.
func (t fieldText) field() (Field, error) {
	f, ok := fieldTypes[t.Type]
	if !ok {
		return f, inputErrorf("field %q has the type %q, want one of %s", t.Name, t.Type, quoteAll(FieldTypes()))
	}
	f.Name, f.Levels, f.Else, f.Layout = t.Name, t.Categories, t.Else, t.Layout
	f.Missing, f.Reference, f.Patterns, f.Of = t.Missing, t.Reference, t.Patterns, t.Of
	f.Period, f.Cross, f.Line = t.Period, t.Cross, t.Curve == "line"
	if t.Curve != "" && !f.Line {
		return f, inputErrorf("field %q: curve is %q, want \"line\", or nothing", t.Name, t.Curve)
	}
	way, ok := ways[t.Monotone]
	if f.Rises = way; !ok {
		return f, inputErrorf("field %q: monotone is %q, want \"rising\" or \"falling\"", t.Name, t.Monotone)
	}
	for _, c := range t.Steps {
		f.Cuts = append(f.Cuts, math.NaN()) // of null, which is refused
		if err := c.read(&f, "steps", &f.Cuts[len(f.Cuts)-1]); err != nil {
			return f, err
		}
	}
	if t.MissingAs != nil {
		f.Fill = new(float64)
		if err := t.MissingAs.read(&f, "missingAs", f.Fill); err != nil {
			return f, err
		}
	}
	if t.Typical != nil {
		f.Typical = new(float64)
		if err := t.Typical.read(&f, "typical", f.Typical); err != nil {
			return f, err
		}
	}
	if f.Part == Hour && t.Lower == nil && t.Upper == nil {
		t.Lower, t.Upper = &bound{}, &bound{number: 24}
	}
	switch {
	case f.Kind == Numeric && (t.Lower == nil || t.Upper == nil):
		return f, inputErrorf("field %q is a number and has no lower and upper", t.Name)
	case f.Kind == Categorical && (t.Lower != nil || t.Upper != nil):
		return f, inputErrorf("field %q has categories, and no lower or upper", t.Name)
	case f.Kind == Numeric && t.Categories != nil:
		return f, inputErrorf("field %q is a number, and has no categories", t.Name)
	case f.Kind == Numeric:
		err := cmp.Or(t.Lower.read(&f, "lower", &f.Lower), t.Upper.read(&f, "upper", &f.Upper))
		if err != nil {
			return f, err
		}
	case f.Part == Month && f.Levels == nil:
		f.Levels = MonthField("", "").Levels
	case f.Part == Weekday && f.Levels == nil:
		f.Levels = WeekdayField("", "").Levels
	}
	return f, f.validate()
}

// Save writes the schema to a JSON file, for other programs and people to use with data of the same kind. LoadSchema
// reads it.
//
// Errors: *InputError if something is wrong with the schema, or it was read off the data: the file would pass for
// public knowledge. Those of the file system.
func (s *Schema) Save(path string) error {
	text, err := s.Text()
	if err != nil {
		return err
	}
	return atomicfile.Write(path, text)
}

// Text is what Save writes.
func (s *Schema) Text() ([]byte, error) {
	if s.Inferred() {
		return nil, inputErrorf("bounds or categories were read off the data: a file of them would pass for what is " +
			"known without; state the fields anew")
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	out := schemaFile{Version: schemaVersion}
	for _, f := range s.Fields {
		out.Fields = append(out.Fields, f.text())
	}
	for _, name := range s.Ignored {
		out.Fields = append(out.Fields, fieldText{Name: name, Type: ignored})
	}
	return checksum.Indented(out, indent)
}

// LoadSchema reads a schema from a file of Save, or written by hand in its form.
//
// Errors: *InputError if there is no such file, it is of another version, or something is wrong with a field, which it
// names.
func LoadSchema(path string) (*Schema, error) {
	text, err := runlog.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, inputErrorf("schema: %s", runlog.NoFile(path))
	}
	if info, e := os.Stat(path); e == nil && info.IsDir() {
		return nil, inputErrorf("%q is a folder: name the file in it that has the schema", path)
	}
	if err != nil {
		return nil, inputErrorf("%v", err)
	}
	out, at, err := parseSchema(text, filepath.Dir(path))
	if err != nil {
		var in *InputError
		if errors.As(err, &in) {
			err = errors.New(in.Text)
		}
		line := 1 + bytes.Count(text[:at], []byte("\n"))
		return nil, inputErrorf("schema %s, line %d: %v", filepath.Base(path), line, err)
	}
	return out, nil
}

// ignored is the type of a column of which nothing is to be learnt.
const ignored = "ignore"

// ParseSchema is LoadSchema of a text, of which files are seen from a folder.
func ParseSchema(text []byte, dir string) (*Schema, error) {
	s, _, err := parseSchema(text, dir)
	return s, err
}

// noJSON says what a file is that does not begin as a schema does.
func noJSON(text []byte) error {
	switch {
	case bytes.ContainsRune(text, 0):
		return errors.New("it is not in UTF-8: save it in that encoding")
	case bytes.HasPrefix(text, []byte("//")), bytes.HasPrefix(text, []byte("/*")), bytes.HasPrefix(text, []byte("#")):
		return errors.New(`JSON has no comments: write "comment": ["…"] beside "fields"`)
	case len(text) > 0 && text[0] != '{':
		return errors.New(`it is no schema, which begins with {"version": 1, "fields": [ (docs/your-data.md): is it ` +
			"the table?")
	}
	return nil
}

// blanks are the names of fields of which a draft says nothing, and the first of them.
func blanks(fields []json.RawMessage) (names []string, first json.RawMessage) {
	for _, raw := range fields {
		var f map[string]any
		if json.Unmarshal(raw, &f) != nil {
			continue
		}
		name, _ := f["name"].(string)
		delete(f, "name")
		maps.DeleteFunc(f, func(_ string, v any) bool { return v == nil || v == "" })
		if name == "" || len(f) > 0 {
			continue
		}
		if names = append(names, name); first == nil {
			first = raw
		}
	}
	return names, first
}

// parseSchema reads a file of Save; with an error, it returns at which byte the cause is.
func parseSchema(text []byte, dir string) (s *Schema, at int, err error) {
	var in struct {
		Version int               `json:"version"`
		Comment []string          `json:"comment"`
		Fields  []json.RawMessage `json:"fields"`
	}
	text = bytes.TrimPrefix(text, []byte(byteOrderMark))
	if err := noJSON(bytes.TrimSpace(text)); err != nil {
		return nil, 0, err
	}
	if at, err := decodeKnown(text, &in); err != nil {
		return nil, at, err
	}
	if in.Version != schemaVersion {
		at = max(0, bytes.Index(text, []byte(`"version"`)))
		return nil, at, inputErrorf("version %d, this program reads version %d", in.Version, schemaVersion)
	}
	if names, first := blanks(in.Fields); names != nil {
		return nil, max(0, bytes.Index(text, first)), inputErrorf("nothing is said yet of %s: fill it in, or have "+
			"dpnb schema check ask for it in a terminal", wording.Names(names))
	}
	s = &Schema{}
	for i, raw := range in.Fields {
		at += bytes.Index(text[at:], raw) // it is a copy, and they stand in this order
		var t fieldText
		if within, err := decodeKnown(raw, &t); err != nil {
			var named struct{ Name string }
			_ = json.Unmarshal(raw, &named) // as far as it goes
			return nil, at + within, fmt.Errorf("field %d, %q: %w", i+1, named.Name, err)
		}
		if t.Type == ignored {
			if t.Name == "" {
				return nil, at, inputErrorf("field %d is to be ignored and has no name", i+1)
			}
			s.Ignored = append(s.Ignored, t.Name)
			at += len(raw)
			continue
		}
		if from := t.CategoriesFrom; from != "" {
			if t.Categories != nil {
				return nil, at, inputErrorf("field %q has categories and categoriesFrom: leave one of them out", t.Name)
			}
			if !filepath.IsAbs(from) {
				from = filepath.Join(dir, from)
			}
			if t.Categories, err = categoriesFrom(from, t.Name); err != nil {
				return nil, at, inputErrorf("field %q: categoriesFrom: %v", t.Name, err)
			}
			s.lists = append(s.lists, from)
		}
		f, err := t.field()
		if err == nil {
			s.Fields = append(s.Fields, f)
			err = s.distinct()
		}
		if err != nil {
			return nil, at, err
		}
		at += len(raw)
	}
	if len(s.Fields)+len(s.Ignored) == 0 {
		return nil, 0, inputErrorf("there are no fields")
	}
	return s, 0, nil
}

// decodeKnown decodes all of a text, which may have no keys besides those of v; with an error, it returns at which byte
// the cause is.
func decodeKnown(text []byte, v any) (at int, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err = d.Decode(v)
	at = int(d.InputOffset())
	if err == nil && len(bytes.TrimSpace(text[at:])) > 0 {
		err = errors.New("there is more behind the end of it")
	}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return at, nil
	case errors.As(err, &syntax):
		at = int(syntax.Offset)
	case errors.As(err, &kind):
		at = int(kind.Offset)
		want := kind.Type.String()
		switch kind.Type.Kind() {
		case reflect.Float64:
			want = "number that is not larger than 1e308"
		case reflect.Int:
			want = "whole number"
		case reflect.Slice:
			want = "list in brackets, […]"
		case reflect.String:
			want = `text in quotation marks, "…"`
		case reflect.Struct, reflect.Map:
			want = "list of keys with values in braces, {…}"
		}
		a := "a"
		if strings.HasPrefix(kind.Value, "array") || strings.HasPrefix(kind.Value, "object") {
			a = "an"
		}
		err = fmt.Errorf("%s is %s %s, want a %s", cmp.Or(kind.Field, "it"), a, kind.Value, want)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		at, err = len(text), errors.New("the file ends before a bracket is closed")
	default:
		if _, key, ok := strings.Cut(err.Error(), "unknown field "); ok {
			at, err = bytes.Index(text, []byte(key)), fmt.Errorf("the key %s is not known, but %s are",
				key, keysOf(reflect.TypeOf(v).Elem()))
		}
	}
	return min(max(at, 0), len(text)), err
}

// keysOf lists the keys of a struct in a file.
func keysOf(t reflect.Type) string {
	var keys []string
	for f := range t.Fields() {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		keys = append(keys, key)
	}
	return strings.Join(keys, ", ")
}

// Fits refuses a table that lacks columns of the schema, and names them, with the columns that the schema lacks.
func (s *Schema) Fits(names []string) error {
	var lacking, unknown []string
	for _, f := range s.Fields {
		if !slices.Contains(names, f.Name) && !slices.Contains(names, f.Of) {
			lacking = append(lacking, f.Name)
		}
	}
	for _, n := range names {
		if _, ok := s.Field(n); !ok && !slices.Contains(s.Ignored, n) {
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

// ReadCodebook makes a schema of a table that describes the columns of another, and is public: one row for each, with
// its name and type and, where they apply, lower, upper, categories (separated by bars), else, reference, missing (yes
// or no), missingAs and layout, as in a file of Save.
//
// Errors: *InputError, which names the field.
func ReadCodebook(t *Table) (*Schema, error) {
	known := []string{"name", "type", "lower", "upper", "categories", "else", "reference", "missing",
		"missingAs", "layout"}
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
		f := fieldText{Name: text("name", i), Type: text("type", i), Else: text("else", i),
			Reference: text("reference", i), Layout: text("layout", i)}
		for _, v := range []struct {
			column string
			to     **bound
		}{{"lower", &f.Lower}, {"upper", &f.Upper}, {"missingAs", &f.MissingAs}} {
			if text(v.column, i) == "" {
				continue
			}
			c, _ := t.Column(v.column)
			b := &bound{number: c.Number(i)}
			if *v.to = b; math.IsNaN(b.number) {
				b.text = text(v.column, i)
			}
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
		if f.Type == ignored {
			s.Ignored = append(s.Ignored, f.Name)
			continue
		}
		field, err := f.field()
		if err != nil {
			return nil, err
		}
		s.Fields = append(s.Fields, field)
	}
	return &s, s.Validate()
}
