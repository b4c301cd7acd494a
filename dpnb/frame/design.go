package frame

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"

	"github.com/dpnb/notebooks/dpnb/erm"
)

// Step is one thing that was done to the records, with what it assumed and
// what it costs in privacy.
type Step struct {
	// What was done, in words.
	What string
	// Assumes is what must be true for the guarantee to hold; empty if nothing.
	Assumes string
	// Cost in privacy, in words: "nothing: …" for a step that treats each
	// record by itself.
	Cost string
}

const costNothing = "nothing: each record is treated by itself"

// DesignSettings says how records are made of a table.
type DesignSettings struct {
	// Label is the column to be predicted. It is in no feature.
	Label string
	// Task is what is to be learnt of it; zero is TwoClasses.
	Task Task
	// Positive is the category of a categorical label that becomes +1; empty
	// means the last one of the schema.
	Positive string
	// RowNorm scales every row of features to this Euclidean norm; zero does not.
	RowNorm float64
	// ClipNorm scales down only rows that are longer; zero does not.
	ClipNorm float64
	// NoBias leaves out the constant feature 1 that is else appended after the
	// rows were scaled.
	NoBias bool
}

// Design is a table made into records for learning.
type Design struct {
	Rows   *erm.Dense
	Labels []float64
	// Features names the columns of Rows.
	Features []string
	// RowNorm is a proved bound on ‖xᵢ‖₂ for every record that the schema and
	// the settings allow, the bias included. It does not depend on the data.
	RowNorm float64
	// Steps is what was done.
	Steps []Step
	// DataDependent says that bounds or categories were read off the data.
	DataDependent bool
	Source        Source
	// Target says what the labels stand for.
	Target Target
	// LabelName and the names of the two classes, if there are two.
	LabelName, Negative, Positive string
}

// NewDesign makes records for learning: numbers scaled to [0, 1] by their public
// bounds, categories as indicators, rows scaled, bias appended, labels as the
// Task wants them.
//
// Each row of the result depends on its own row of the table and on the schema
// only, so the step costs no privacy; Design.Steps says so one by one.
//
// Errors: *InputError if a column is not in the table or not in the schema, a
// category is outside the public list, a value is ±Inf, or a value is missing
// where the schema allows none. It names columns and row numbers; where a value
// itself is what is wrong it quotes it, and says so (Quotes).
func NewDesign(t *Table, schema *Schema, s DesignSettings) (*Design, error) {
	if err := checkDesign(t, schema, &s); err != nil {
		return nil, err
	}
	d := &Design{Source: t.Source, LabelName: s.Label, DataDependent: schema.DataDependent}
	if err := d.readLabels(t, schema, s); err != nil {
		return nil, err
	}
	var encoders []encoder
	width := 0
	for i := range t.columns {
		c := &t.columns[i]
		if c.Name == s.Label {
			continue
		}
		f, ok := schema.Field(c.Name)
		if !ok {
			return nil, inputErrorf("column %q is not in the schema: give its public bounds or categories, or drop it", c.Name)
		}
		e, err := newEncoder(c, f)
		if err != nil {
			return nil, err
		}
		e.at = width
		width += e.width()
		d.Features = append(d.Features, e.names()...)
		encoders = append(encoders, e)
	}
	if width == 0 {
		return nil, inputErrorf("there are no features besides the label %q (d = 0)", s.Label)
	}
	if !s.NoBias {
		d.Features = append(d.Features, "bias")
	}
	d.Rows = erm.NewDense(t.rows, len(d.Features), nil)
	err := eachRow(t.rows, func(i int) error {
		row := d.Rows.Data[i*d.Rows.D : (i+1)*d.Rows.D]
		var few [32]int
		at := few[:0]
		for k := range encoders {
			j, err := encoders[k].encode(row, i)
			if err != nil {
				return err
			}
			at = append(at, j)
		}
		scaleRow(row, at, &s)
		if !s.NoBias {
			row[width] = 1
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	d.describe(schema, encoders, s)
	return d, nil
}

// eachRow calls f for every row, on all processors, and returns the error of
// the first row that has one.
func eachRow(n int, f func(i int) error) error {
	workers := min(runtime.GOMAXPROCS(0), n/1024+1)
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := w * n / workers; i < (w+1)*n/workers; i++ {
				if errs[w] = f(i); errs[w] != nil {
					return
				}
			}
		}()
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func checkDesign(t *Table, schema *Schema, s *DesignSettings) error {
	switch {
	case t == nil || t.rows == 0:
		return inputErrorf("the table has no rows (n = 0)")
	case schema == nil:
		return inputErrorf("no public schema: give the bounds and categories that are known without the data, or InferSchema(table) to read them off the data without any guarantee")
	case s.Label == "":
		return inputErrorf("name the column to be predicted")
	case s.Task < TwoClasses || s.Task > ManyClasses:
		return inputErrorf("Task = %d, want TwoClasses, Number, Count or ManyClasses", int(s.Task))
	case s.RowNorm < 0 || math.IsNaN(s.RowNorm) || math.IsInf(s.RowNorm, 0):
		return inputErrorf("RowNorm = %v, want a positive number, or 0 to leave the rows as they are", s.RowNorm)
	case s.ClipNorm < 0 || math.IsNaN(s.ClipNorm) || math.IsInf(s.ClipNorm, 0):
		return inputErrorf("ClipNorm = %v, want a positive number, or 0 to leave the rows as they are", s.ClipNorm)
	case s.RowNorm > 0 && s.ClipNorm > 0:
		return inputErrorf("RowNorm and ClipNorm exclude each other")
	}
	seen := map[string]bool{}
	for i := range schema.Fields {
		f := &schema.Fields[i]
		if err := f.validate(); err != nil {
			return err
		}
		if seen[f.Name] {
			return inputErrorf("the schema has two fields named %q", f.Name)
		}
		seen[f.Name] = true
	}
	return nil
}

// scaleRow brings a row, which is zero but at the given places, to its norm. A
// row of zeros stays one.
func scaleRow(x []float64, at []int, s *DesignSettings) {
	target := s.RowNorm + s.ClipNorm
	if target == 0 {
		return
	}
	var sum float64
	for _, j := range at {
		sum += x[j] * x[j]
	}
	if sum < 1e-200 {
		// Squares may have underflowed: bring the largest entry to 1 first.
		var top float64
		for _, j := range at {
			top = math.Max(top, math.Abs(x[j]))
		}
		if top == 0 || s.ClipNorm > 1e-90 {
			return
		}
		sum = 0
		for _, j := range at {
			x[j] /= top
			sum += x[j] * x[j]
		}
	}
	norm := math.Sqrt(sum)
	// The computed norm errs by at most (d/2+2)u relatively, the products by a
	// few u more; a row this much shorter is no longer than the target.
	safe := 1 - float64(len(at)+8)*0x1p-53
	if s.ClipNorm > 0 && norm <= s.ClipNorm*safe {
		return
	}
	f := target * safe / norm
	for _, j := range at {
		x[j] *= f
	}
}

// describe fills RowNorm and Steps.
func (d *Design) describe(schema *Schema, encoders []encoder, s DesignSettings) {
	assume, cost := "the bounds and categories are public: known without the data", costNothing
	if schema.DataDependent {
		assume = "nothing: bounds and categories were READ OFF THE DATA"
		cost = "NOT COVERED by any guarantee"
	}
	var numeric, categorical, missing []string
	bound2 := 0.0
	for _, e := range encoders {
		if e.field.Kind == Numeric {
			numeric = append(numeric, e.field.describe())
		} else {
			categorical = append(categorical, e.field.describe())
		}
		bound2++ // each field contributes at most 1 to ‖x‖²
		if e.field.Missing {
			kind := "the middle of its bounds"
			if e.field.Kind == Categorical {
				kind = "an indicator of its own"
			}
			missing = append(missing, e.field.Name+": "+kind)
		}
	}
	if len(numeric) > 0 {
		d.Steps = append(d.Steps, Step{"numbers moved into their bounds and scaled to [0, 1]: " + strings.Join(numeric, "; "), assume, cost})
	}
	if len(categorical) > 0 {
		d.Steps = append(d.Steps, Step{"categories as indicators: " + strings.Join(categorical, "; "), assume, cost})
	}
	if len(missing) > 0 {
		d.Steps = append(d.Steps, Step{"values that are missing: " + strings.Join(missing, "; "), "", cost})
	}
	norm := math.Sqrt(bound2)
	switch {
	case s.RowNorm > 0:
		norm = s.RowNorm
		d.Steps = append(d.Steps, Step{fmt.Sprintf("every row scaled to norm %g", norm), "", costNothing})
	case s.ClipNorm > 0:
		norm = math.Min(norm, s.ClipNorm)
		d.Steps = append(d.Steps, Step{fmt.Sprintf("rows longer than %g scaled down to it", s.ClipNorm), "", costNothing})
	}
	d.RowNorm = norm
	if !s.NoBias {
		d.RowNorm = math.Nextafter(math.Hypot(norm, 1), math.Inf(1))
		d.Steps = append(d.Steps, Step{fmt.Sprintf("bias 1 appended: ‖x‖ ≤ %.4g", d.RowNorm), "", costNothing})
	}
	d.Steps = append(d.Steps, d.Target.describe(assume, cost))
}

func quoteAll(texts []string) string {
	q := make([]string, len(texts))
	for i, t := range texts {
		q[i] = fmt.Sprintf("%q", t)
	}
	return strings.Join(q, ", ")
}
