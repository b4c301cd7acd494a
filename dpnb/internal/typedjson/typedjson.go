// Package typedjson writes Go values as JSON and reads the same values back, to the last bit: structures whose fields
// are interfaces, because every value in one says its type, and floats that JSON has no number for. What it cannot
// bring back it refuses to write.
package typedjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Codec knows the types that may stand in an interface. It is safe for concurrent use.
type Codec struct {
	types map[string]reflect.Type
	forms map[reflect.Type]form
	omit  []string
}

// form is what stands for a type that has fields of its own.
type form struct {
	as         reflect.Type
	to, toBack func(reflect.Value) (reflect.Value, error)
}

// New returns a codec for the concrete types of the given values, by their names as Go writes them,
// "objpert.Objective".
//
// Panics: two of them have one name.
func New[T any](values ...T) *Codec {
	c := &Codec{types: map[string]reflect.Type{}, forms: map[reflect.Type]form{}}
	for _, v := range values {
		t := reflect.TypeOf(v)
		if other, there := c.types[t.String()]; there && other != t {
			panic("typedjson: two types are called " + t.String())
		}
		c.types[t.String()] = t
	}
	return c
}

// Omit leaves out the exported fields of these names, in whatever structure. What is written is then not to be read
// back.
func (c *Codec) Omit(fields ...string) *Codec { c.omit = append(c.omit, fields...); return c }

// As has values of the dynamic type of example, which has fields that are not exported, written as F and made again of
// it. back may be nil where nothing is to be read.
func As[F any](c *Codec, example any, to func(v any) (F, error), back func(F) (any, error)) {
	t, as := reflect.TypeOf(example), reflect.TypeFor[F]()
	c.types[t.String()] = t
	c.forms[t] = form{as, func(v reflect.Value) (reflect.Value, error) {
		f, err := to(v.Interface())
		return reflect.ValueOf(&f).Elem(), err
	}, func(v reflect.Value) (reflect.Value, error) {
		x, err := back(v.Interface().(F))
		if err != nil {
			return reflect.Value{}, err
		}
		return reflect.ValueOf(x), nil
	}}
}

// Marshal returns v as JSON. Fields that are zero are left out.
//
// Errors: a text that is not UTF-8; a type that could not be read back: a map, a function, a field that is not exported
// without the tag json:"-", a type in an interface that the codec does not know.
func (c *Codec) Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	if err := c.write(&b, reflect.ValueOf(v)); err != nil {
		return nil, fmt.Errorf("typedjson: %w", err)
	}
	return b.Bytes(), nil
}

func (c *Codec) write(b *bytes.Buffer, v reflect.Value) error {
	if !v.IsValid() {
		b.WriteString("null")
		return nil
	}
	if f, ok := c.forms[v.Type()]; ok {
		w, err := f.to(v)
		if err != nil {
			return err
		}
		v = w
	}
	if m, ok := v.Interface().(json.Marshaler); ok && reflect.PointerTo(v.Type()).Implements(unmarshaler) {
		text, err := m.MarshalJSON()
		b.Write(text)
		return err
	}
	switch v.Kind() {
	case reflect.Bool:
		b.WriteString(strconv.FormatBool(v.Bool()))
	case reflect.Int, reflect.Int64:
		b.WriteString(strconv.FormatInt(v.Int(), 10))
	case reflect.Uint64:
		b.WriteString(strconv.FormatUint(v.Uint(), 10))
	case reflect.Float64:
		text := strconv.FormatFloat(v.Float(), 'g', -1, 64)
		if x := v.Float(); math.IsInf(x, 0) || math.IsNaN(x) {
			text = strconv.Quote(text)
		}
		b.WriteString(text)
	case reflect.String:
		return text(b, v.String())
	case reflect.Pointer, reflect.Interface:
		return c.writeWithin(b, v)
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.IsNil() {
			b.WriteString("null")
			return nil
		}
		b.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := c.write(b, v.Index(i)); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	case reflect.Struct:
		return c.writeStruct(b, v)
	default:
		return fmt.Errorf("a %v cannot be kept", v.Type())
	}
	return nil
}

func text(b *bytes.Buffer, s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("the text %q is not UTF-8 and cannot be kept", s)
	}
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // the end of the line
	return nil
}

// writeWithin writes what is pointed to, or what an interface holds with its type.
func (c *Codec) writeWithin(b *bytes.Buffer, v reflect.Value) error {
	if v.IsNil() {
		b.WriteString("null")
		return nil
	}
	in := v.Elem()
	if v.Kind() == reflect.Pointer {
		return c.write(b, in)
	}
	name := in.Type().String()
	if c.types[name] != in.Type() {
		return fmt.Errorf("a %v is not known and cannot be kept", in.Type())
	}
	fmt.Fprintf(b, `{"type":%q,"value":`, name)
	if err := c.write(b, in); err != nil {
		return err
	}
	b.WriteByte('}')
	return nil
}

func (c *Codec) writeStruct(b *bytes.Buffer, v reflect.Value) error {
	b.WriteByte('{')
	first := true
	if err := c.writeFields(b, v, &first); err != nil {
		return err
	}
	b.WriteByte('}')
	return nil
}

func (c *Codec) writeFields(b *bytes.Buffer, v reflect.Value, first *bool) error {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if inline(f) {
			if err := c.writeFields(b, v.Field(i), first); err != nil {
				return err
			}
			continue
		}
		if f.Tag.Get("json") == "-" || slices.Contains(c.omit, f.Name) {
			continue
		}
		if !f.IsExported() {
			return fmt.Errorf("the field %s of %v is not exported and cannot be kept", f.Name, v.Type())
		}
		if v.Field(i).IsZero() {
			continue
		}
		if !*first {
			b.WriteByte(',')
		}
		*first = false
		fmt.Fprintf(b, "%q:", f.Name)
		if err := c.write(b, v.Field(i)); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return nil
}

// Unmarshal reads into what to points to. What it held is gone.
//
// Errors: text that Marshal did not write for such a value: an unknown field or type, a number that is none, something
// after the end.
func (c *Codec) Unmarshal(data []byte, to any) error {
	v := reflect.ValueOf(to).Elem()
	v.SetZero()
	if err := c.read(data, v); err != nil {
		return fmt.Errorf("typedjson: %w", err)
	}
	return nil
}

func (c *Codec) read(data []byte, v reflect.Value) error {
	if f, ok := c.forms[v.Type()]; ok {
		as := reflect.New(f.as).Elem()
		if err := c.readPlain(data, as); err != nil {
			return err
		}
		made, err := f.toBack(as)
		if err != nil {
			return err
		}
		v.Set(made)
		return nil
	}
	return c.readPlain(data, v)
}

var (
	null        = []byte("null")
	unmarshaler = reflect.TypeFor[json.Unmarshaler]()
)

func (c *Codec) readPlain(data []byte, v reflect.Value) error {
	if u, ok := v.Addr().Interface().(json.Unmarshaler); ok {
		return u.UnmarshalJSON(data)
	}
	switch v.Kind() {
	case reflect.Float64:
		return readFloat(data, v)
	case reflect.Pointer:
		if bytes.Equal(bytes.TrimSpace(data), null) {
			return nil
		}
		v.Set(reflect.New(v.Type().Elem()))
		return c.read(data, v.Elem())
	case reflect.Interface:
		return c.readInterface(data, v)
	case reflect.Slice, reflect.Array:
		var parts []json.RawMessage
		if err := json.Unmarshal(data, &parts); err != nil || v.Kind() == reflect.Slice && parts == nil {
			return err
		}
		if v.Kind() == reflect.Slice {
			v.Set(reflect.MakeSlice(v.Type(), len(parts), len(parts)))
		} else if len(parts) != v.Len() {
			return fmt.Errorf("%d values are no %v", len(parts), v.Type())
		}
		for i, p := range parts {
			if err := c.read(p, v.Index(i)); err != nil {
				return err
			}
		}
		return nil
	case reflect.Struct:
		return c.readStruct(data, v)
	case reflect.Bool, reflect.Int, reflect.Int64, reflect.Uint64, reflect.String:
		return json.Unmarshal(data, v.Addr().Interface())
	}
	return fmt.Errorf("a %v cannot be kept", v.Type())
}

func readFloat(data []byte, v reflect.Value) error {
	text := strings.TrimSpace(string(data))
	if inner, ok := strings.CutPrefix(text, `"`); ok {
		text = strings.TrimSuffix(inner, `"`)
		if !slices.Contains([]string{"+Inf", "-Inf", "NaN"}, text) {
			return fmt.Errorf("%q is no number", text)
		}
	} else if !json.Valid(data) {
		return fmt.Errorf("%q is no number", text)
	}
	x, err := strconv.ParseFloat(text, 64)
	v.SetFloat(x)
	return err
}

func (c *Codec) readInterface(data []byte, v reflect.Value) error {
	var of *struct {
		Type  string          `json:"type"`
		Value json.RawMessage `json:"value"`
	}
	if err := strict(data, &of); err != nil || of == nil {
		return err
	}
	t, ok := c.types[of.Type]
	if !ok {
		return fmt.Errorf("the type %q is not known here", of.Type)
	}
	in := reflect.New(t).Elem()
	if err := c.read(of.Value, in); err != nil {
		return fmt.Errorf("%s: %w", of.Type, err)
	}
	if !t.AssignableTo(v.Type()) {
		return fmt.Errorf("a %v is no %v", t, v.Type())
	}
	v.Set(in)
	return nil
}

func (c *Codec) readStruct(data []byte, v reflect.Value) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	if err := c.readFields(fields, v); err != nil {
		return err
	}
	if len(fields) > 0 {
		return fmt.Errorf("%v has no field %q", v.Type(), slices.Min(slices.Collect(maps.Keys(fields))))
	}
	return nil
}

// inline reports whether what an embedded structure has is written among the fields of what embeds it.
func inline(f reflect.StructField) bool { return f.Anonymous && f.Tag.Get("json") == ",inline" }

// readFields reads those that v has and takes them out.
func (c *Codec) readFields(fields map[string]json.RawMessage, v reflect.Value) error {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if inline(f) {
			if err := c.readFields(fields, v.Field(i)); err != nil {
				return err
			}
			continue
		}
		part, there := fields[f.Name]
		if !there || !f.IsExported() || f.Tag.Get("json") == "-" {
			continue
		}
		delete(fields, f.Name)
		if err := c.read(part, v.Field(i)); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return nil
}

// strict decodes all of data into v, which has all of its fields.
func strict(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if d.More() {
		return errors.New("there is more after the end")
	}
	return nil
}
