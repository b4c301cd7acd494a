package frame

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/internal/logscale"
	"github.com/dpnb/notebooks/dpnb/internal/weight"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
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
	// ManyClasses makes labels 0, …, K − 1 of a column of K categories: the place of the category in the schema.
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

// Target is what the labels of a design stand for. It is public: of the schema and the settings, not of the records.
type Target struct {
	Task Task
	// Name of the column.
	Name string
	// Lower and Upper are the bounds of a number or a count, into which values are moved; Log says that the number is
	// scaled on a logarithmic scale.
	Lower, Upper float64
	Log          bool
	// Open says that Lower and Upper are a scale and no bounds: no value is moved.
	Open bool
	// Classes are the categories in the order of their labels: the negative and the positive one, or all K.
	Classes []string
	// Weighted says that labels have weights within them (internal/weight).
	Weighted bool
}

// HalfWidth returns half the width of the bounds of a number or a count, on the scale of its labels: the logarithmic
// one if Log.
func (t Target) HalfWidth() float64 {
	if t.Log {
		return 0.5 * logscale.Between(t.Lower, t.Upper).Width
	}
	return 0.5 * (t.Upper - t.Lower)
}

// Label returns the label of a number v that is not NaN:
//
//	2(v − Lower)/(Upper − Lower) − 1,  or 2·s − 1 if Log, s the share of the scale (package logscale),
//
// with v moved into the bounds first; of a count, v moved into them and rounded to a whole number, halves to the even
// one.
func (t Target) Label(v float64) float64 {
	if t.Open {
		return 2*((v-t.Lower)/(t.Upper-t.Lower)) - 1
	}
	v = math.Min(math.Max(v, t.Lower), t.Upper)
	if t.Task == Count {
		return math.RoundToEven(v)
	}
	if t.Task != Number {
		return v
	}
	share := (v - t.Lower) / (t.Upper - t.Lower)
	if t.Log {
		share = logscale.Between(t.Lower, t.Upper).Share(v)
	}
	return math.Min(1, math.Max(-1, 2*share-1))
}

// Value returns the number in its own unit that a label stands for: the inverse of Label. Beyond [−1, 1] it is the
// bound.
func (t Target) Value(label float64) float64 {
	if t.Task != Number {
		return label
	}
	if t.Open {
		return t.Lower + 0.5*(label+1)*(t.Upper-t.Lower)
	}
	share := 0.5 * (math.Min(1, math.Max(-1, label)) + 1)
	return math.Min(math.Max(logscale.Place(t.Lower, t.Upper, share, t.Log), t.Lower), t.Upper)
}

// readTarget says what the labels are, from the label's field.
func (e *Encoding) readTarget(schema *Schema) error {
	s := &e.settings
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
	e.label = *f
	e.label.Levels = slices.Clone(f.Levels)
	e.Target = Target{Task: s.Task, Name: s.Label}
	switch s.Task {
	case TwoClasses:
		return e.readTwoClasses()
	case ManyClasses:
		return e.readManyClasses()
	}
	return e.readNumber()
}

// numberLearners are those for labels that are numbers.
var numberLearners = wording.Setting{Field: "Learner", Value: "linear, huber or quantile",
	Go: "Regression; Linear, Huber or Quantile"}

// readTwoClasses is for the labels −1 and +1.
func (e *Encoding) readTwoClasses() error {
	f, s := &e.label, &e.settings
	if f.Kind != Categorical {
		return inputErrorf("the label %q is to be one of two classes, but the schema has bounds for it: learn a "+
			"number (%s), or state its two categories", s.Label, numberLearners)
	}
	if len(f.Levels) != 2 {
		return inputErrorf("the label %q must have two public categories, the schema has %d: learn all of them "+
			"(%s), or merge them", s.Label, len(f.Levels), wording.Setting{Field: "Learner",
			Value: "softmax or onevsrest",
			Go:    "Classes; Softmax or OneVsRest"})
	}
	pos := 1
	if s.Positive != "" {
		if pos = slices.Index(f.Levels, s.Positive); pos < 0 {
			return inputErrorf("the label %q has no category %q; it has %s", s.Label, s.Positive, quoteAll(f.Levels))
		}
	}
	// In the order of their labels.
	e.Target.Classes = []string{f.Levels[1-pos], f.Levels[pos]}
	e.classes = newCategories(e.Target.Classes)
	return nil
}

// readManyClasses is for the labels 0, …, K − 1.
func (e *Encoding) readManyClasses() error {
	f := &e.label
	if f.Kind != Categorical {
		return inputErrorf("the label %q is to be one of several classes, but the schema has bounds for it: learn a "+
			"number (%s), or state its categories", f.Name, numberLearners)
	}
	if len(f.Levels) < 2 {
		return inputErrorf("the label %q must have at least two public categories, the schema has %d", f.Name,
			len(f.Levels))
	}
	e.Target.Classes = slices.Clone(f.Levels)
	e.classes = newCategories(f.Levels)
	return nil
}

// readNumber is for labels that are numbers or counts.
func (e *Encoding) readNumber() error {
	f, g := &e.label, &e.Target
	what := "number"
	if g.Task == Count {
		what = "count"
	}
	if f.Kind != Numeric {
		return inputErrorf("the label %q is to be a %s, but the schema lists categories: learn classes of it (%s), "+
			"or state its public bounds", f.Name, what, wording.Setting{Field: "Learner", Value: "logistic or svm",
			Go: "Binary or Classes; Logistic or SVM"})
	}
	whole := func(v float64) bool { return v == math.Trunc(v) }
	if g.Task == Count {
		switch {
		case f.Open:
			return inputErrorf("the count %q needs a public upper bound: Unbounded is for numbers", f.Name)
		case f.Log:
			return inputErrorf("the count %q is used as it is: state its bounds with Numeric, not on a logarithmic "+
				"scale", f.Name)
		case f.Lower < 0 || !whole(f.Lower) || !whole(f.Upper):
			return inputErrorf("the count %q has the bounds [%g, %g], want whole numbers from 0 on", f.Name, f.Lower,
				f.Upper)
		case f.Fill != nil && !whole(*f.Fill):
			return inputErrorf("the count %q is to be %g where it is missing, want a whole number", f.Name, *f.Fill)
		}
	}
	g.Lower, g.Upper, g.Log, g.Open = f.Lower, f.Upper, f.Log, f.Open
	return nil
}

// labels returns the label of every row of t, with its weight within it if records have weights.
func (e *Encoding) labels(t *Table) ([]float64, error) {
	y, err := e.plainLabels(t)
	if err != nil || !e.Target.Weighted {
		return y, err
	}
	s := &e.settings
	var column *Column
	if s.Weights != "" {
		if column, err = t.Column(s.Weights); err != nil {
			return nil, err
		}
	}
	for i, label := range y {
		w := 1.0
		if s.Weights != "" {
			w = math.Max(0, math.Min(s.WeightBound, column.Number(i))) / s.WeightBound
		}
		if s.ClassWeight != [2]float64{} {
			if label > 0 {
				w *= s.ClassWeight[1]
			} else {
				w *= s.ClassWeight[0]
			}
		}
		y[i] = weight.With(label, w)
	}
	return y, nil
}

// plainLabels returns the labels without weights.
func (e *Encoding) plainLabels(t *Table) ([]float64, error) {
	c, err := t.Column(e.settings.Label)
	if err != nil {
		return nil, err
	}
	if err := e.label.dated(c); err != nil {
		return nil, err
	}
	c = e.label.read(c)
	y := make([]float64, t.rows)
	if e.classes == nil {
		fill := e.fillLabel()
		for i := range y {
			if v := c.Number(i); math.IsNaN(v) {
				y[i] = fill
			} else {
				y[i] = e.Target.Label(v)
			}
		}
		return y, nil
	}
	other := e.otherClass()
	for i := range y {
		k := e.classes.of(c, i)
		if k < 0 {
			k = other
		}
		if y[i] = float64(k); e.settings.Task == TwoClasses {
			y[i] = 2*y[i] - 1
		}
	}
	return y, nil
}

// fillLabel is the label of a number that is missing.
func (e *Encoding) fillLabel() float64 {
	switch {
	case e.label.Fill != nil:
		return e.Target.Label(*e.label.Fill)
	case e.settings.Task == Count:
		return math.Floor(0.5 * (e.label.Lower + e.label.Upper))
	}
	return 0 // the middle, on its scale
}

// otherClass is the place of the class that a label counts as which is none of them.
func (e *Encoding) otherClass() int {
	if e.label.Else != "" {
		return slices.Index(e.Target.Classes, e.label.Else)
	}
	return 0
}

// labelRule says what a label counts as that does not fit.
func (e *Encoding) labelRule() string {
	if e.classes != nil {
		return "anything else counts as " + e.Target.Classes[e.otherClass()]
	}
	return fmt.Sprintf("what is missing or not a number counts as %.6g", e.Target.Value(e.fillLabel()))
}

// describe says what was done to the label; assume and cost are those of what is read off the schema.
func (t Target) describe(assume, cost string) Step {
	bounds := Field{Name: t.Name, Lower: t.Lower, Upper: t.Upper, Log: t.Log, Open: t.Open}
	if t.Open {
		return Step{fmt.Sprintf("target %s, scaled so that this becomes [−1, 1]; predictions are in its own unit",
			bounds.describe()), "the scale is public: known without the data", costNothing}
	}
	switch t.Task {
	case Number:
		return Step{fmt.Sprintf("target %s moved into its bounds and scaled to [−1, 1]; predictions are in its own "+
			"unit", bounds.describe()), assume, cost}
	case Count:
		return Step{fmt.Sprintf("count %s moved into its bounds and rounded to a whole number", bounds.describe()),
			assume, cost}
	case ManyClasses:
		return Step{fmt.Sprintf("label %s: %d public categories, numbered in the order of the schema", t.Name,
			len(t.Classes)), assume, cost}
	}
	return Step{fmt.Sprintf("label %s: %s is +1, %s is −1", t.Name, t.Classes[1], t.Classes[0]), "", costNothing}
}
