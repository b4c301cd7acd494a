package learn

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/numeral"
	"github.com/dpnb/notebooks/dpnb/internal/weight"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/matrix/stored"
)

// Dataset is a DataFrame made into records for learning: bounded numbers, indicators, rows of bounded norm, and labels
// in the form that a learner needs.
type Dataset struct {
	// from is the table that the design was made of, or what is scanned in its place, of which the records are kept
	// where it says; nil if there is neither.
	from   frame.Scanner
	where  frame.Storage
	design *frame.Design
	// records, if not nil, makes the records of design once, which until then has what is public of them: a model that
	// is read back, or a price, needs no more.
	records func() (*frame.Design, error)
	group   *ofGroup // of the rows
	// why says why its learner was chosen (Suited).
	why string
	// elsewhere says that a function of the program's makes the passes (PassesBy).
	remote bool
	err    error
	// headed says that records are of the first rows of a table (Head).
	headed bool
}

// whole returns the design with its records.
//
// Errors: d's own; those of the scan of a table that is not in memory.
func (d *Dataset) whole() (*frame.Design, error) {
	if err := d.Err(); err != nil || d.records == nil {
		return d.design, err
	}
	return d.records()
}

// held returns d as it is now: its maker has a pointer, by which other records can take its place.
func (d *Dataset) held() *Dataset { now := *d; return &now }

// Records are what a model can predict for: a DataFrame, or a Dataset that was made from one in any way. The model
// encodes them itself.
type Records interface {
	Err() error
	// made encodes as e does; the labels only if labelled.
	made(e *frame.Encoding, labelled bool) (*frame.Design, error)
	// whose says whose they are, how many rows of each were kept, 0 saying that each row is a person, and of which
	// group of FitBy they are.
	whose() (person string, rows int, group *ofGroup)
	// byPlace says that which rows they are depends on others of the table (Head).
	byPlace() bool
}

func (df DataFrame) whose() (string, int, *ofGroup) { return df.person, df.rows, df.group }
func (d *Dataset) whose() (string, int, *ofGroup) {
	return d.design.Person, d.design.RowsOfAPerson, d.group
}

func (df DataFrame) byPlace() bool { return df.headed }
func (d *Dataset) byPlace() bool   { return d.headed }

func (df DataFrame) made(e *frame.Encoding, labelled bool) (*frame.Design, error) {
	df = df.by(e.Prepared)
	if err := df.Err(); err != nil {
		return nil, err
	}
	t, whole := df.records.(*frame.Table)
	switch {
	case !whole && labelled:
		return e.Stored(df.records, df.where)
	case !whole:
		return nil, errors.New("dpnb: these rows are scanned and not in memory: PredictCSV writes predictions to a " +
			"file")
	case labelled:
		return e.Design(t)
	}
	rows, err := e.Rows(t)
	return &frame.Design{Rows: rows}, err
}

func (d *Dataset) made(e *frame.Encoding, labelled bool) (*frame.Design, error) {
	// The records of d may be as e makes them.
	if d.Err() == nil && e.Equal(d.design.Encoding) {
		return d.whole()
	}
	if d.Err() == nil && labelled {
		if mine, its := d.design.Target, e.Target; mine.Name != its.Name || mine.Task != its.Task {
			return nil, fmt.Errorf("dpnb: the model predicts %s (%v), and these records were made for %s (%v)",
				its.Name, its.Task, mine.Name, mine.Task)
		}
	}
	return d.frame().made(e, labelled)
}

// straight returns d without hats.
func (d *Dataset) straight() *Dataset { return d.encoded(d.design.Encoding.Straight()) }

// encoded returns the records of d as e makes them, which is of the same columns; d itself where they were not made
// from a table.
func (d *Dataset) encoded(e *frame.Encoding) *Dataset {
	of := d.design.Encoding
	if e == of || d.from == nil {
		return d
	}
	out, plain := *d, *d.design
	plain.Encoding, plain.Features, plain.RowNorm = e, e.Features, e.RowNorm
	plain.Steps = append(slices.Clone(plain.Steps[:len(plain.Steps)-len(of.Steps)]), e.Steps...)
	made := func() (*frame.Design, error) {
		records, err := d.frame().made(e, true)
		if err != nil {
			return nil, err
		}
		all := plain
		all.Rows, all.Labels, all.Source = records.Rows, records.Labels, records.Source
		return &all, nil
	}
	if _, whole := d.from.(*frame.Table); !whole {
		out.design = &plain
		plain.Rows, plain.Labels = nil, nil
		out.records = sync.OnceValues(made)
		return &out
	}
	out.design, out.err = made()
	return &out
}

func (d *Dataset) frame() DataFrame {
	switch err := d.Err(); {
	case err != nil:
		return DataFrame{err: err}
	case d.from == nil:
		return DataFrame{err: errors.New("dpnb: these records were not made like the model's, nor from a table")}
	}
	return DataFrame{records: d.from, where: d.where}
}

// Option changes how records are made.
type Option func(*options)

type options struct {
	frame.DesignSettings
	infer, lines, curves, uncentred bool
	where                           frame.Storage
	terms                           []frame.Term
	classWeights                    map[string]float64
	// elsewhere, if not nil, has the records' passes made elsewhere (PassesBy).
	remote func(rows stored.Records) (matrix.Rows, error)
}

// RowNorm scales every row to the given Euclidean norm.
func RowNorm(r float64) Option { return func(o *options) { o.RowNorm = asked(r) } }

// ClipNorm scales rows that are longer than the given norm down to it.
func ClipNorm(r float64) Option { return func(o *options) { o.ClipNorm = asked(r) } }

// asked makes a norm of zero, which would say that none was asked for, one that is refused with a reason.
func asked(r float64) float64 {
	if r == 0 {
		return math.NaN()
	}
	return r
}

// Positive names the category of the label to predict; without it that is the last in the schema.
func Positive(category string) Option { return func(o *options) { o.Positive = category } }

// NoBias leaves out the constant feature.
func NoBias() Option { return func(o *options) { o.NoBias = true } }

// Storage says where and how records are kept: frame.Storage.
type Storage = frame.Storage

// StoredIn says where and how the records of a scanned table are kept; without it they are kept as float32 in the
// user's cache folder. RemoveStored removes them.
func StoredIn(where Storage) Option { return func(o *options) { o.where = where } }

// RemoveStored removes the records of scanned tables that were kept in the user's cache folder. They are raw records.
func RemoveStored() error { return frame.RemoveStored(frame.Storage{}) }

// Curves has every number within bounds have eight hats (linear B-splines) beside its own feature, so that what is
// learnt of it can bend: their coefficients are smoothed, at no cost in privacy, and left out where records are few.
// That is so if nothing is said; a number of a scanned table then takes nine times as much room, which Lines or Line
// saves. Learners that do not buy the geometry of the records learn straight lines. With Curves said, a model is a sum
// of curves and nothing else; if it is not said, SVM, Logistic, Linear and Huber without a CurvatureShare, and what
// Suited chooses, add, of a table in memory, finer cells of numbers most of whose values are one, and of a number to be
// predicted products of every two columns, where there are records enough (docs/theory/geometry.md, section 5).
func Curves() Option { return func(o *options) { o.curves = true } }

// Lines has what is learnt of a number be a straight line.
func Lines() Option { return func(o *options) { o.lines = true } }

// Line has what is learnt of one number be a straight line, where others bend. Terms, of which this is one, are of
// centred rows and public: a schema file may have them instead. A column that is not there, or that a term does not
// suit, is an error before anything is paid for.
func Line(column string) Option { return term(frame.Term{Column: column, Line: true}) }

// Steps has what is learnt of a number be a level for each interval between public cuts, which lie within its bounds:
// as a category, whose effects are shown against the first interval. A cut belongs to the interval above it.
func Steps(column string, cuts ...float64) Option {
	return term(frame.Term{Column: column, Steps: cuts})
}

// Periodic has the curve of a number end as it begins: an hour of the day, whose bounds are 0 and the period 24. It is
// of four cosines and sines, the rougher the less of it is learnt where records are few. The period is the width of the
// bounds, and 0 stands for that.
func Periodic(column string, period float64) Option {
	return term(frame.Term{Column: column, Periodic: true, Period: period})
}

// Rising has what is learnt of a column rise within the fit, which costs nothing: a number over its scale (its curve,
// line or steps), categories in the order of the schema. It is of one linear form by objective perturbation with a δ
// (SVM, Logistic, Linear, Huber, Poisson), without a CurvatureShare, and others refuse it: docs/theory/curves.md,
// section 5. It is the shape that rises, as the column changes a person of the typical norm: rows are scaled or cut,
// each by its own norm, so that a single person's prediction may fall a little along it. A shape that was released can
// be made to rise by Shape.Monotone.
func Rising(column string) Option { return term(frame.Term{Column: column, Rises: 1}) }

// Falling is Rising the other way.
func Falling(column string) Option { return term(frame.Term{Column: column, Rises: -1}) }

// Cross has two columns together be learnt beside what each is by itself: of two categories an effect of each pair, of
// a number and a category a curve of the number for each category, which tends to the one that they share where records
// are few, and of two numbers by how much the slope of one changes over the other, along a line. A number with Steps is
// a category here. Model.Surface shows what two columns do together.
func Cross(column, with string) Option { return term(frame.Term{Column: column, With: with}) }

func term(t frame.Term) Option { return func(o *options) { o.terms = append(o.terms, t) } }

// WeightsFrom has the records count by a column of weights, as of a survey, which is then no feature: a record of half
// the bound counts half as much as one of the bound, and one beyond it as the bound. A weight that is missing, negative
// or no number is 0. The bound is public; noise is that of records which all weigh as much as it, so that a smaller one
// has less; weights are kept to a millionth of it. Predictions, and scores, are of records without weights.
func WeightsFrom(column string, bound float64) Option {
	return func(o *options) { o.Weights, o.WeightBound = column, asked(bound) }
}

// ClassWeights has the records of two classes count by public weights, of which the larger has the weight of a record
// without any: what counts is their ratio. A class that is not named weighs 1.
func ClassWeights(weights map[string]float64) Option {
	return func(o *options) { o.classWeights = maps.Clone(weights) }
}

// Uncentred has numbers in [0, 1], an indicator for each category and a constant of 1, with which rows are as long as
// they come unless RowNorm or ClipNorm is asked for: for those who want the plainest features. Else rows are made of
// what tells records apart: numbers count from their typical value (Field.Typically) or the middle of their bounds,
// indicators from the mean over their categories, the constant is a third, and every row is scaled to norm 1. Noise is
// in proportion to the longest row, and protects what all rows share as well. Learners buy the number and the mean of
// centred records with a twentieth of what they spend, and learn from what is left: docs/theory/geometry.md.
func Uncentred() Option { return func(o *options) { o.uncentred = true } }

// InUnits has rows as long as they are in place of scaled, each by its own factor: the effects that a model shows then
// are those of one regression in the columns' units. Where records are few long rows are cut, and effects are then of
// rows that are (docs/theory/geometry.md#dpnb-cut).
func InUnits() Option { return func(o *options) { o.InUnits = true } }

// InferBounds reads bounds and categories off the data where no schema was stated. No guarantee covers the results, and
// every result says so.
func InferBounds() Option { return func(o *options) { o.infer = true } }

// Binary makes records for predicting a column of two categories. Show the result to see each step, what it assumed and
// what it cost.
//
// Errors (in Err, and from Fit): a column that is not there, or something wrong with the schema or the options. No
// record causes an error: Field says what becomes of a value that does not fit the schema, and DataFrame.Check lists
// such values.
func Binary(df DataFrame, label string, opts ...Option) *Dataset {
	return records(df, label, frame.TwoClasses, opts)
}

// Regression makes records for predicting a number. The schema states its public bounds: values beyond them are moved
// to the nearer bound, and values are scaled to [−1, 1], on a logarithmic scale if the schema says Log; predictions are
// returned in the target's own unit. Both steps depend only on the record itself and on what is public, and cost no
// privacy.
//
// Errors: as Binary.
func Regression(df DataFrame, target string, opts ...Option) *Dataset {
	return records(df, target, frame.Number, opts)
}

// Counts makes records for predicting a count, 0, 1, 2, … The schema states a public upper bound (Numeric(target, 0,
// most)), to which larger counts are reduced: otherwise one record could bend the fit without limit.
//
// Numbers that are no counts are rounded.
//
// Errors: as Binary.
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
		if set == nil {
			return &Dataset{err: errors.New("dpnb: an option is nil: leave it out")}
		}
		set(&o)
	}
	if err := o.contradicted(); err != nil {
		return &Dataset{err: err}
	}
	records := df.records
	if df.rows > 0 && df.key != "" { // who it is, is no feature
		without, err := frame.Drop(records, df.key)
		if err != nil {
			return &Dataset{err: err}
		}
		records = without
	}
	table, whole := records.(*frame.Table)
	o.centre(records.Names(), df.schema)
	if err := o.weigh(df.schema); err != nil {
		return &Dataset{err: err}
	}
	schema, out := df.schema, &Dataset{from: records, group: df.group, headed: df.headed, remote: o.remote != nil}
	if whole && schema == nil && o.infer {
		schema = frame.InferSchema(table)
	}
	if schema, out.err = o.termed(schema, records.Names()); out.err != nil {
		return out
	}
	if whole {
		out.design, out.err = frame.NewDesign(table, schema, o.DesignSettings)
		if o.remote != nil {
			out.err = errors.New("dpnb: passes are made elsewhere over records in a file: open the table with " +
				"FromScanner")
		}
	} else {
		out.where = o.where
		if out.design, out.err = frame.Planned(records, schema, o.DesignSettings); out.err == nil {
			planned := out.design
			out.records = sync.OnceValues(func() (*frame.Design, error) {
				d, err := planned.Encoding.Stored(records, o.where)
				if err == nil {
					err = o.moved(d)
				}
				if err != nil {
					return nil, err
				}
				all := *planned
				all.Rows, all.Labels, all.Source = d.Rows, d.Labels, d.Source
				return &all, nil
			})
		}
	}
	if d := out.design; d != nil && df.rows > 0 {
		d.RowsOfAPerson, d.Person = df.rows, df.person
		d.Steps = append([]frame.Step{{
			What: fmt.Sprintf("at most %s of each person kept (%s), by a hash of what is in them",
				numeral.Count(df.rows, "row"), df.person),
			Assumes: "the same text is the same person; rows without one are left out, or with a number from 2⁵³ on",
			Cost:    "nothing: each person is treated alone; the guarantee is for all of a person's rows",
		}}, d.Steps...)
	}
	return out
}

// weigh settles the weights of the two classes.
func (o *options) weigh(schema *frame.Schema) error {
	if o.classWeights == nil {
		return nil
	}
	weights := wording.Of("ClassWeights")
	if schema == nil || o.Task != frame.TwoClasses {
		return fmt.Errorf("dpnb: %s: weights are of two classes that the schema names", weights)
	}
	f, ok := schema.Field(o.Label)
	if !ok || len(f.Levels) != 2 {
		return nil // refused with its reason where records are made
	}
	pair := [2]float64{1, 1}
	for _, name := range slices.Sorted(maps.Keys(o.classWeights)) {
		w, k := o.classWeights[name], slices.Index(f.Levels, name)
		if k < 0 {
			return fmt.Errorf("dpnb: %s: %q is no class of %q, which has %q and %q", weights, name, o.Label,
				f.Levels[0],
				f.Levels[1])
		}
		if !(w > 0) || math.IsInf(w, 1) {
			return fmt.Errorf("dpnb: %s: %q has the weight %v, want a positive number", weights, name, w)
		}
		pair[k] = w
	}
	most := max(pair[0], pair[1])
	if least := min(pair[0], pair[1]); least < most/1000 {
		return fmt.Errorf("dpnb: %s: %g and %g: the smaller is less than a thousandth of the larger, so that its "+
			"class would hardly count", weights, least, most)
	}
	o.ClassWeight = [2]float64{pair[0] / most, pair[1] / most}
	if o.Positive == f.Levels[0] { // in the order of the labels
		slices.Reverse(o.ClassWeight[:])
	}
	return nil
}

// termed returns a schema with the terms that were asked for.
func (o *options) termed(schema *frame.Schema, columns []string) (*frame.Schema, error) {
	if schema == nil || o.terms == nil {
		return schema, nil
	}
	for _, t := range o.terms {
		if t.Column == o.Label {
			return nil, fmt.Errorf("dpnb: terms are of columns to learn from, and %q is to be predicted", o.Label)
		}
	}
	return schema.With(columns, o.terms...)
}

// contradicted reports options that exclude each other.
func (o *options) contradicted() error {
	switch {
	case o.curves && o.lines:
		return errors.New("dpnb: Curves and Lines exclude each other: leave one of them out")
	case o.curves && (o.uncentred || o.NoBias):
		return errors.New("dpnb: Curves are of centred rows: leave out Uncentred and NoBias")
	}
	return nil
}

// centre settles how rows are made. Without a constant there is nothing that a fit could count from, and numbers
// without bounds have no middle: then rows are as they come.
func (o *options) centre(columns []string, schema *frame.Schema) {
	open := schema != nil && slices.ContainsFunc(columns, func(name string) bool {
		f, ok := schema.Field(name)
		return ok && f.Open
	})
	if o.uncentred || o.NoBias || open {
		return
	}
	if o.Centred = true; !o.lines && o.remote == nil {
		o.Curves, o.Additive = hats, o.curves
	}
	if o.RowNorm == 0 && o.ClipNorm == 0 && !o.InUnits {
		o.RowNorm = 1
	}
}

// Err returns the first error on the way to d.
func (d *Dataset) Err() error {
	if d == nil || (d.err == nil && d.design == nil) {
		return errors.New("dpnb: no dataset; make one with Binary, Regression, Counts or Classes")
	}
	return d.err
}

// Design returns a copy of the encoded records of d: what is done to it changes no fit, for the records of a fit are
// checked before it is paid for. Records in a file cannot be changed and are not copied.
func (d *Dataset) Design() (*frame.Design, error) {
	own, err := d.whole()
	if own == nil {
		return nil, err
	}
	design := *own
	design.Features, design.Steps = slices.Clone(own.Features), slices.Clone(own.Steps)
	if own.Encoding != nil {
		design.Encoding = own.Encoding.Clone()
	}
	if matrix.InMemory(own.Rows) {
		rows := matrix.Densed(own.Rows)
		design.Rows, design.Labels = matrix.NewDense(rows.N, rows.D, slices.Clone(rows.Data)), slices.Clone(own.Labels)
	}
	return &design, err
}

// Features returns how many features the records have, splines apart: one for each number and each category, which is
// public. It is 0 where there are none.
func (d *Dataset) Features() int {
	if d.Err() != nil {
		return 0
	}
	width := d.design.Width()
	if e := d.design.Encoding; e != nil {
		for _, hats := range e.Curves() {
			width -= hats.Len
		}
	}
	return width
}

// MajorityShare returns the share of the most frequent label of classes: the accuracy of always guessing it; 0 for
// numbers and counts. It is a fact about the records that no guarantee covers.
func (d *Dataset) MajorityShare() float64 {
	all, err := d.whole()
	if err != nil || len(all.Labels) == 0 || all.Target.Task == frame.Number || all.Target.Task == frame.Count {
		return 0
	}
	times, most := map[float64]int{}, 0
	for _, y := range all.Labels {
		if all.Target.Weighted {
			y, _ = weight.Of(y)
		}
		times[y]++
		most = max(most, times[y])
	}
	return float64(most) / float64(len(all.Labels))
}

// part returns the records for which keep holds, which are of public data: by its place, one record more in the data
// changes which part others are in.
func (d *Dataset) part(keep func(row int) bool) *Dataset {
	all, err := d.whole()
	if err != nil {
		return &Dataset{err: err}
	}
	sub := *all
	sub.Labels = nil
	var index []int
	for i, y := range all.Labels {
		if keep(i) {
			index, sub.Labels = append(index, i), append(sub.Labels, y)
		}
	}
	if len(index) == 0 {
		return &Dataset{err: errors.New("dpnb: too few records to keep some for a test; give CompareSettings a Test")}
	}
	sub.Rows = matrix.Select(all.Rows, index)
	out := &Dataset{design: &sub}
	if table, ok := d.from.(*frame.Table); ok {
		out.from = table.Filter(keep)
	}
	return out
}

// Display lists what was done to the records and what it cost.
func (d *Dataset) Display() display.Item {
	if err := d.Err(); err != nil {
		return display.Failed(err)
	}
	it := withOrigin(d.design.Source, display.Item{
		Title:  fmt.Sprintf("Records for learning: %d features, ‖x‖ ≤ %.4g", len(d.design.Features), d.design.RowNorm),
		Header: []string{"step", "assumes", "costs in privacy"},
	})
	for _, s := range d.design.Steps {
		it.Row(s.What, cmp.Or(s.Assumes, "–"), s.Cost)
	}
	if d.why != "" {
		it.Note("%s", d.why)
	}
	if d.design.DataDependent {
		it.Warning = "Bounds or categories were READ OFF THE DATA: no guarantee covers what is learnt from these " +
			"records."
	}
	return it
}
