package frame

import (
	"fmt"
	"math"
	"slices"
)

// Task is what is to be learnt of the label.
type Task int

const (
	// TwoClasses makes labels −1 and +1 of a column of two categories.
	TwoClasses Task = iota
	// Number makes labels in [−1, 1] of a number, by its public bounds.
	Number
	// Count makes labels 0, 1, … of a count, up to its public bound.
	Count
	// ManyClasses makes labels 0, …, K − 1 of a column of K categories: the place
	// of the category in the schema.
	ManyClasses
)

// String returns the task in a word or two.
func (t Task) String() string {
	switch t {
	case TwoClasses:
		return "two classes"
	case Number:
		return "a number"
	case Count:
		return "a count"
	case ManyClasses:
		return "several classes"
	}
	return fmt.Sprintf("Task(%d)", int(t))
}

// Target is what the labels of a design stand for. It is public: of the schema
// and the settings, not of the records.
type Target struct {
	Task Task
	// Name of the column.
	Name string
	// Lower and Upper are the bounds of a number or a count, into which values
	// are moved; Log says that the number is scaled on a logarithmic scale.
	Lower, Upper float64
	Log          bool
	// Classes are the categories in the order of their labels: the negative and
	// the positive one, or all K.
	Classes []string
}

// Label returns the label of a number v that is not NaN:
//
//	2(v − Lower)/(Upper − Lower) − 1,  or 2·log(1 + v − Lower)/log(1 + Upper − Lower) − 1 if Log,
//
// with v moved into the bounds first; of a count, v moved into them.
func (t Target) Label(v float64) float64 {
	v = math.Min(math.Max(v, t.Lower), t.Upper)
	if t.Task != Number {
		return v
	}
	v, width := v-t.Lower, t.Upper-t.Lower
	if t.Log {
		v, width = math.Log1p(v), math.Log1p(width)
	}
	// Not 2v/width: 2v overflows where width does not.
	return math.Min(1, math.Max(-1, 2*(v/width)-1))
}

// Value returns the number in its own unit that a label stands for: the inverse
// of Label. Beyond [−1, 1] it is the bound.
func (t Target) Value(label float64) float64 {
	if t.Task != Number {
		return label
	}
	share := 0.5 * (math.Min(1, math.Max(-1, label)) + 1)
	v := share * (t.Upper - t.Lower)
	if t.Log {
		v = math.Expm1(share * math.Log1p(t.Upper-t.Lower))
	}
	return math.Min(math.Max(t.Lower+v, t.Lower), t.Upper)
}

// readLabels makes the labels.
func (d *Design) readLabels(t *Table, schema *Schema, s DesignSettings) error {
	c, err := t.Column(s.Label)
	if err != nil {
		return err
	}
	f, ok := schema.Field(s.Label)
	if !ok {
		what := "name its two categories"
		switch s.Task {
		case Number, Count:
			what = "state its public bounds"
		case ManyClasses:
			what = "name its categories"
		}
		return inputErrorf("the label %q is not in the schema: %s", s.Label, what)
	}
	if s.Positive != "" && s.Task != TwoClasses {
		return inputErrorf("Positive names one of two classes; the label %q is %v", s.Label, s.Task)
	}
	d.Target = Target{Task: s.Task, Name: s.Label}
	d.Labels = make([]float64, t.rows)
	switch s.Task {
	case TwoClasses:
		return d.readTwoClasses(c, f, s)
	case ManyClasses:
		return d.readManyClasses(c, f)
	}
	return d.readNumbers(c, f)
}

// readTwoClasses makes the labels −1 and +1.
func (d *Design) readTwoClasses(c *Column, f *Field, s DesignSettings) error {
	if f.Kind != Categorical || len(f.Levels) != 2 {
		return inputErrorf("the label %q must have two public categories, the schema has %d", s.Label, len(f.Levels))
	}
	pos := 1
	if s.Positive != "" {
		if pos = slices.Index(f.Levels, s.Positive); pos < 0 {
			return inputErrorf("the label %q has no category %q; it has %s", s.Label, s.Positive, quoteAll(f.Levels))
		}
	}
	d.Positive, d.Negative = f.Levels[pos], f.Levels[1-pos]
	d.Target.Classes = []string{d.Negative, d.Positive}
	return d.readCategories(c, f, func(place int) float64 {
		if place == pos {
			return 1
		}
		return -1
	})
}

// readManyClasses makes the labels 0, …, K − 1.
func (d *Design) readManyClasses(c *Column, f *Field) error {
	if f.Kind != Categorical || len(f.Levels) < 2 {
		return inputErrorf("the label %q must have at least two public categories, the schema has %d", f.Name, len(f.Levels))
	}
	d.Target.Classes = slices.Clone(f.Levels)
	return d.readCategories(c, f, func(place int) float64 { return float64(place) })
}

// readCategories makes the label of each row from its category's place in the
// schema.
func (d *Design) readCategories(c *Column, f *Field, label func(place int) float64) error {
	codes := make([]int, len(c.Levels)) // of a column of texts: where each is in the schema
	for k, l := range c.Levels {
		codes[k] = slices.Index(f.Levels, l)
	}
	for i := range d.Labels {
		text, k := c.Text(i), -1
		if c.Kind == Numeric {
			k = slices.Index(f.Levels, text)
		} else if text != "" {
			k = codes[c.Codes[i]]
		}
		switch {
		case text == "":
			return inputErrorf("row %d has no label %q: drop such rows first", i+1, f.Name)
		case k < 0:
			return quotingErrorf("row %d: label %q is outside the public list %s", i+1, text, quoteAll(f.Levels))
		}
		d.Labels[i] = label(k)
	}
	return nil
}

// readNumbers makes labels of numbers or of counts.
func (d *Design) readNumbers(c *Column, f *Field) error {
	g := &d.Target
	what := "number"
	if g.Task == Count {
		what = "count"
	}
	if f.Kind != Numeric {
		return inputErrorf("the label %q is to be a %s, but the schema lists categories: state its public bounds with Numeric", f.Name, what)
	}
	if c.Kind != Numeric {
		text := ""
		if len(c.Levels) > 0 {
			text = c.Levels[0]
		}
		return quotingErrorf("the label %q is to be a %s, but the column holds texts such as %q", f.Name, what, text)
	}
	if g.Task == Count {
		switch {
		case f.Log:
			return inputErrorf("the count %q is used as it is: state its bounds with Numeric, not on a logarithmic scale", f.Name)
		case f.Lower < 0 || f.Lower != math.Trunc(f.Lower) || f.Upper != math.Trunc(f.Upper):
			return inputErrorf("the count %q has the bounds [%g, %g], want whole numbers from 0 on", f.Name, f.Lower, f.Upper)
		}
	}
	g.Lower, g.Upper, g.Log = f.Lower, f.Upper, f.Log
	for i, v := range c.Numbers {
		switch {
		case math.IsNaN(v):
			return inputErrorf("row %d has no label %q: drop such rows first", i+1, f.Name)
		case math.IsInf(v, 0):
			return inputErrorf("row %d: the label %q is %v; drop such rows", i+1, f.Name, v)
		case g.Task == Count && (v < 0 || v != math.Trunc(v)):
			return quotingErrorf("row %d: the label %q is %v, which is no count: want 0, 1, 2, …", i+1, f.Name, v)
		}
		d.Labels[i] = g.Label(v)
	}
	return nil
}

// describe says what was done to the label; assume and cost are those of what
// is read off the schema.
func (t Target) describe(assume, cost string) Step {
	bounds := Field{Name: t.Name, Lower: t.Lower, Upper: t.Upper, Log: t.Log}
	switch t.Task {
	case Number:
		return Step{fmt.Sprintf("target %s moved into its bounds and scaled to [−1, 1]; predictions are in its own unit", bounds.describe()), assume, cost}
	case Count:
		return Step{fmt.Sprintf("count %s moved into its bounds", bounds.describe()), assume, cost}
	case ManyClasses:
		return Step{fmt.Sprintf("label %s: %d public categories, numbered in the order of the schema", t.Name, len(t.Classes)), assume, cost}
	}
	return Step{fmt.Sprintf("label %s: %s is +1, %s is −1", t.Name, t.Classes[1], t.Classes[0]), "", costNothing}
}
