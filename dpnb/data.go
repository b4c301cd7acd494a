package dpnb

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/frame"
)

// Dataset is a DataFrame made into records for learning: bounded numbers,
// indicators, rows of bounded norm, and labels as a learner wants them.
type Dataset struct {
	design *frame.Design
	err    error
}

// Option changes how records are made.
type Option func(*options)

type options struct {
	frame.DesignSettings
	infer bool
}

// RowNorm scales every row to the given Euclidean norm.
func RowNorm(r float64) Option {
	return func(o *options) {
		o.RowNorm = r
		if r == 0 {
			o.RowNorm = -1 // asked for, and refused with a reason
		}
	}
}

// ClipNorm scales rows that are longer than the given norm down to it.
func ClipNorm(r float64) Option {
	return func(o *options) {
		o.ClipNorm = r
		if r == 0 {
			o.ClipNorm = -1
		}
	}
}

// Positive names the category of the label that is to be predicted; else it is
// the last one of the schema.
func Positive(category string) Option { return func(o *options) { o.Positive = category } }

// NoBias leaves out the constant feature.
func NoBias() Option { return func(o *options) { o.NoBias = true } }

// InferBounds reads bounds and categories off the data where no schema was
// stated. No guarantee covers what comes of it, and every result says so.
func InferBounds() Option { return func(o *options) { o.infer = true } }

// Binary makes records for predicting a column of two categories. Show the
// result to see each step, what it assumed and what it cost.
//
// Errors (in Err, and from Fit): a column that is not there, a category outside
// the public list, a missing or infinite value, no public schema.
func Binary(df DataFrame, label string, opts ...Option) *Dataset {
	return records(df, label, frame.TwoClasses, opts)
}

// Regression makes records for predicting a number. The schema states its public
// bounds: values beyond them are moved to them, and they are scaled to [−1, 1],
// on a logarithmic scale if the schema says Log; predictions are given back in
// the target's own unit. Both depend on the record and on what is public only,
// and cost no privacy.
//
// Errors: as Binary.
func Regression(df DataFrame, target string, opts ...Option) *Dataset {
	return records(df, target, frame.Number, opts)
}

// Counts makes records for predicting a count, 0, 1, 2, … The schema states a
// public upper bound (Numeric(target, 0, most)), to which larger counts are
// reduced: without one, one record could bend the fit without limit.
//
// Errors: as Binary, or a value that is no count.
func Counts(df DataFrame, target string, opts ...Option) *Dataset {
	return records(df, target, frame.Count, opts)
}

// Classes makes records for predicting a column of several public categories.
//
// Errors: as Binary.
func Classes(df DataFrame, label string, opts ...Option) *Dataset {
	return records(df, label, frame.ManyClasses, opts)
}

func records(df DataFrame, label string, task frame.Task, opts []Option) *Dataset {
	if err := df.Err(); err != nil {
		return &Dataset{err: err}
	}
	o := options{DesignSettings: frame.DesignSettings{Label: label, Task: task}}
	for _, set := range opts {
		set(&o)
	}
	schema := df.schema
	if schema == nil && o.infer {
		schema = frame.InferSchema(df.table)
	}
	d, err := frame.NewDesign(df.table, schema, o.DesignSettings)
	return &Dataset{design: d, err: err}
}

// Err returns the first error on the way to d.
func (d *Dataset) Err() error {
	if d == nil || (d.err == nil && d.design == nil) {
		return fmt.Errorf("dpnb: no dataset; make one with Binary, Regression, Counts or Classes")
	}
	return d.err
}

// Design returns the records below d.
func (d *Dataset) Design() (*frame.Design, error) { return d.design, d.Err() }

// MajorityShare returns the share of the most frequent label of classes: the
// accuracy of always guessing it; 0 for numbers and counts. It is a fact about
// the records that no guarantee covers.
func (d *Dataset) MajorityShare() float64 {
	if d.Err() != nil || d.design.Target.Task == frame.Number || d.design.Target.Task == frame.Count {
		return 0
	}
	times, most := map[float64]int{}, 0
	for _, y := range d.design.Labels {
		times[y]++
		most = max(most, times[y])
	}
	return float64(most) / float64(len(d.design.Labels))
}

// Display lists what was done to the records and what it cost.
func (d *Dataset) Display() display.Item {
	if err := d.Err(); err != nil {
		return display.Item{Warning: err.Error()}
	}
	it := withOrigin(d.design.Source, display.Item{
		Title:  fmt.Sprintf("Records for learning: %d features, ‖x‖ ≤ %.4g", len(d.design.Features), d.design.RowNorm),
		Header: []string{"step", "assumes", "costs in privacy"},
	})
	for _, s := range d.design.Steps {
		assumes := s.Assumes
		if assumes == "" {
			assumes = "–"
		}
		it.Rows = append(it.Rows, []string{s.What, assumes, s.Cost})
	}
	if d.design.DataDependent {
		it.Warning = "Bounds or categories were READ OFF THE DATA: no guarantee covers what is learnt from these records."
	}
	return it
}
