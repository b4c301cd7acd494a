package frame

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// Encoding is how one record of a table becomes one row of features and one label. It is made of what is public, the
// names of the columns, the schema and the settings, and is the same whatever the records are: a record more or less in
// a table adds or removes one row and changes no other, nor any text here. No record is refused.
type Encoding struct {
	// Features names the columns of the rows.
	Features []string
	// RowNorm is a proved bound on ‖x‖₂ for every row there can be, the bias included.
	RowNorm float64
	// Steps is what is done to a record.
	Steps []Step
	// Target says what the labels stand for.
	Target Target
	// DataDependent says that the schema was read off the data.
	DataDependent bool

	settings DesignSettings
	label    Field
	fields   []Field // of the features, in their order
	encoders []encoder
	// typicalNorm is TypicalNorm, which every effect asks for, computed once.
	typicalNorm func() float64
	crosses     []cross
	classes     *categories // of a label that has them
}

// newEncoding returns the encoding of tables with the given columns: numbers scaled to [0, 1] by their public bounds,
// categories as indicators, rows scaled, bias appended, labels as the Task wants them. Features are in the order of the
// columns.
//
// Errors: *InputError if the label is not among the columns, a column is not in the schema, or something is wrong with
// the schema or the settings.
func newEncoding(columns []string, schema *Schema, s DesignSettings) (*Encoding, error) {
	if err := checkEncoding(schema, &s); err != nil {
		return nil, err
	}
	e := &Encoding{settings: s, DataDependent: schema.Inferred()}
	if !slices.Contains(columns, s.Label) {
		return nil, schema.noColumn(s.Label, columns)
	}
	if err := e.readTarget(schema); err != nil {
		return nil, err
	}
	if s.Weights != "" && !slices.Contains(columns, s.Weights) {
		return nil, schema.noColumn(s.Weights, columns)
	}
	e.Target.Weighted = s.Weights != "" || s.ClassWeight != [2]float64{}
	for _, name := range columns {
		if name == s.Label || name == s.Weights {
			continue
		}
		f, ok := schema.Field(name)
		if !ok {
			return nil, inputErrorf("column %q is not in the schema%s: give its public bounds or categories, or "+
				"drop it (in a file the type \"ignore\"); if it says whose row it is, say so with %s", name,
				schema.Like(name), whose(name))
		}
		field := *f
		field.Levels = slices.Clone(f.Levels)
		if !s.Centred && (f.termed() || f.Cross != nil || f.Rises != 0) {
			return nil, inputErrorf("field %q has a term%s, which is of centred rows: leave out %s, or the term", name,
				f.inWords(), uncentred)
		}
		e.fields = append(e.fields, field)
	}
	for k := range e.fields {
		c := newEncoder(&e.fields[k], len(e.Features), &e.settings)
		e.Features = append(e.Features, c.names()...)
		e.encoders = append(e.encoders, c)
	}
	var err error
	if e.crosses, err = e.crossed(len(e.Features)); err != nil {
		return nil, err
	}
	for k := range e.crosses {
		e.Features = append(e.Features, e.crosses[k].names(e.encoders)...)
	}
	e.typicalNorm = sync.OnceValue(e.evenNorm)
	if s.InUnits && s.ClipNorm == 0 {
		s.ClipNorm = e.longest()
		e.settings = s
	}
	if s.RowNorm+s.ClipNorm > 0 && slices.ContainsFunc(e.fields, func(f Field) bool { return f.Open }) {
		return nil, inputErrorf("rows with unbounded numbers are not scaled: leave out %s, which whoever learns from "+
			"them does not need", wording.Setting{Field: "RowNorm", Go: "RowNorm and ClipNorm"})
	}
	if len(e.Features) == 0 {
		return nil, inputErrorf("there are no features besides the label %q (d = 0)", s.Label)
	}
	if !s.NoBias {
		e.Features = append(e.Features, "bias")
	}
	e.describe()
	return e, nil
}

// uncentred is what leaves rows uncentred.
var uncentred = wording.Setting{Field: "Unbounded", Value: "numbers", Go: "Uncentred, NoBias and Unbounded numbers"}

func checkEncoding(schema *Schema, s *DesignSettings) error {
	switch {
	case schema == nil:
		return inputErrorf("no public schema: state the bounds and categories that are known without the data " +
			"(WithSchema), or have them read off the data, without any guarantee (InferBounds)")
	case s.Label == "":
		return inputErrorf("name the column to be predicted")
	case s.Task < TwoClasses || s.Task > ManyClasses:
		return inputErrorf("Task = %d, want TwoClasses, Number, Count or ManyClasses", int(s.Task))
	case s.RowNorm < 0 || math.IsNaN(s.RowNorm) || math.IsInf(s.RowNorm, 0):
		return inputErrorf("RowNorm wants a positive number; leave it out for the usual one, or ask for Uncentred rows")
	case s.ClipNorm < 0 || math.IsNaN(s.ClipNorm) || math.IsInf(s.ClipNorm, 0):
		return inputErrorf("ClipNorm wants a positive number; leave it out to clip no rows")
	case s.Weights != "" && !(s.WeightBound > 0 && s.WeightBound <= math.MaxFloat64):
		return inputErrorf("the weights in %q want a public bound, a positive number: the largest weight that a "+
			"record can have", s.Weights)
	case s.Weights != "" && schema.listed(s.Weights):
		return inputErrorf("the weights in %q are to be numbers, but the schema lists categories: name another column",
			s.Weights)
	case s.Weights != "" && s.Weights == s.Label:
		return inputErrorf("%q is to be predicted and cannot be the weight of a record, too", s.Label)
	case (s.Weights != "" || s.ClassWeight != [2]float64{}) && s.Task != TwoClasses && s.Task != Number:
		return inputErrorf("records with weights are of two classes or of a number: leave out %s", wording.Weights)
	case s.RowNorm > 0 && s.ClipNorm > 0:
		return inputErrorf("RowNorm and ClipNorm exclude each other")
	case s.InUnits && !s.Centred:
		return inputErrorf("%s is of centred rows: leave out %s", wording.Of("InUnits"), uncentred)
	case s.InUnits && s.RowNorm > 0:
		return inputErrorf("%s is of rows that are not all scaled to a norm: leave out %s", wording.Of("InUnits"),
			wording.Of("RowNorm"))
	case s.Curves != 0 && (s.Curves < 3 || s.Curves > mostCurves || !s.Centred):
		return inputErrorf("Curves = %d, want 3 to %d of centred rows, or 0 for straight lines", s.Curves, mostCurves)
	}
	return schema.Validate()
}

// mostCurves bounds the hats of a number.
const mostCurves = 256

// Curves returns where the hats of each number are; nil if there are none.
func (e *Encoding) Curves() []matrix.Span {
	var spans []matrix.Span
	for i := range e.encoders {
		if c := &e.encoders[i]; c.hats > 0 {
			spans = append(spans, matrix.Span{First: c.at + 1, Len: c.hats})
		}
	}
	return append(spans, e.CrossedCurves()...)
}

// CrossedCurves returns the last of Curves, those of numbers in each category of what they are crossed with.
func (e *Encoding) CrossedCurves() (spans []matrix.Span) {
	for _, x := range e.crosses {
		for l := 0; x.hats > 0 && l < x.levels; l++ {
			spans = append(spans, matrix.Span{First: x.at + x.place(1, l), Len: x.hats})
		}
	}
	return spans
}

// Straight returns e without hats.
func (e *Encoding) Straight() *Encoding {
	s := e.settings
	if s.Curves == 0 {
		return e
	}
	s.Curves, s.CrossedLines = 0, false
	return e.fewer(s)
}

// Uncrossed returns e without CrossedCurves.
func (e *Encoding) Uncrossed() *Encoding {
	s := e.settings
	s.CrossedLines = true
	return e.fewer(s)
}

// fewer returns e by settings with fewer features, for which another norm is clipped at.
func (e *Encoding) fewer(s DesignSettings) *Encoding {
	if s.InUnits {
		s.ClipNorm = 0
	}
	return e.with(s)
}

// Plain returns e with numbers in [0, 1] and indicators alone: rows are neither centred nor scaled, and have no terms.
func (e *Encoding) Plain() *Encoding {
	s := e.settings
	s.Centred, s.InUnits, s.Curves, s.RowNorm, s.ClipNorm = false, false, 0, 0, 0
	return e.with(s)
}

// Weightless returns e without weights.
func (e *Encoding) Weightless() *Encoding {
	s := e.settings
	s.Weights, s.WeightBound, s.ClassWeight = "", 0, [2]float64{}
	return e.with(s)
}

// with returns e with settings of which less is asked.
func (e *Encoding) with(s DesignSettings) *Encoding {
	if s == e.settings {
		return e
	}
	k := e.Kept()
	k.Settings = s
	for i := range k.Fields {
		if f := &k.Fields[i]; !s.Centred {
			f.Line, f.Cuts, f.Period, f.Cross, f.Rises = false, nil, 0, nil, 0
		}
	}
	out, err := k.Encoding()
	if err != nil {
		panic("frame: " + err.Error())
	}
	return out
}

// Nowhere returns orthonormal directions, over the features, in which no centred row has anything: the indicators of a
// category add up to nothing, and so do the hats of a number, of which its line is a sum besides. nil if rows are not
// centred.
func (e *Encoding) Nowhere() []matrix.Direction {
	var all []matrix.Direction
	for i := range e.encoders {
		all = append(all, e.encoders[i].nowhere()...)
	}
	for i := range e.crosses {
		all = append(all, e.crosses[i].nowhere(e.encoders)...)
	}
	return all
}

// nowhere is Nowhere of a column.
func (e *encoder) nowhere() (all []matrix.Direction) {
	switch {
	case !e.centred:
	case e.levels != nil:
		all = append(all, direction(e.at, slices.Repeat([]float64{1}, e.width())))
	case e.hats > 0:
		all = append(all, direction(e.at+1, slices.Repeat([]float64{1}, e.hats)))
		line := make([]float64, 1+e.hats)
		line[0] = -1
		var mean float64
		for k := range e.hats {
			line[1+k] = (float64(k)/float64(e.hats-1) - e.typical) / e.reach
			mean += line[1+k] / float64(e.hats)
		}
		for k := range e.hats {
			line[1+k] -= mean
		}
		all = append(all, direction(e.at, line))
	}
	return all
}

// direction returns the direction of weights from a feature on.
func direction(first int, weights []float64) matrix.Direction {
	floats.Scale(1/floats.Norm(weights, 2), weights)
	return matrix.Direction{First: first, Weights: weights}
}

// Free returns how many directions rows have that count, hats apart and the bias included: of a number one, of a
// category of K levels K − 1, since its centred indicators add up to nothing.
func (e *Encoding) Free() int {
	straight := e.Straight()
	return len(straight.Features) - len(straight.Nowhere())
}

// Bias returns the constant that is appended to rows, 0 if none is.
func (e *Encoding) Bias() float64 {
	switch {
	case e.settings.NoBias:
		return 0
	case e.settings.Centred:
		return 1.0 / 3
	}
	return 1
}

// Centred reports whether rows are centred by what is public (DesignSettings.Centred).
func (e *Encoding) Centred() bool { return e.settings.Centred }

// Normed reports whether rows are centred and at most as long as the norm that it returns, the bias apart.
func (e *Encoding) Normed() (norm float64, ok bool) {
	norm = e.settings.RowNorm + e.settings.ClipNorm
	return norm, e.settings.Centred && norm > 0
}

// Clone returns a copy, whose exported fields are its own.
func (e *Encoding) Clone() *Encoding {
	out := *e
	out.Features, out.Steps, out.Target.Classes = slices.Clone(e.Features), slices.Clone(e.Steps),
		slices.Clone(e.Target.Classes)
	return &out
}

// Clipped reports whether rows are clipped to a norm, and not scaled.
func (e *Encoding) Clipped() bool { return e.settings.ClipNorm > 0 }

// Equal reports whether e and o make the same of every record of a table.
func (e *Encoding) Equal(o *Encoding) bool {
	return e == o || e != nil && o != nil &&
		e.DataDependent == o.DataDependent && e.settings == o.settings &&
		reflect.DeepEqual(e.label, o.label) && reflect.DeepEqual(e.fields, o.fields)
}

// Open reports whether a number is not bounded, of the features or the label.
func (e *Encoding) Open() bool {
	return e.Target.Open || math.IsInf(e.RowNorm, 1)
}

// Columns returns the names of the columns that rows are made of, in the order of the features; the label is not among
// them.
func (e *Encoding) Columns() []string {
	var names []string
	for i := range e.fields {
		names = append(names, e.fields[i].Name)
	}
	return names
}

// Field returns what is publicly known of a column of Columns.
func (e *Encoding) Field(name string) (Field, bool) {
	for i := range e.fields {
		if e.fields[i].Name == name {
			return e.fields[i], true
		}
	}
	return Field{}, false
}

// Groups returns how many features each of Columns has become, in their order, and then each cross of two: the bias,
// which is last, is in none.
func (e *Encoding) Groups() []int {
	var sizes []int
	for i := range e.encoders {
		sizes = append(sizes, e.encoders[i].width())
	}
	for i := range e.crosses {
		sizes = append(sizes, e.crosses[i].width())
	}
	return sizes
}

// Unscaled reports whether rows are neither scaled nor clipped to a norm: the indicators of a record then add up to its
// bias.
func (e *Encoding) Unscaled() bool { return e.settings.RowNorm == 0 && e.settings.ClipNorm == 0 }

// Units says how features follow from the values of the columns: feature j is scale[j]·(v − shift[j]) of a number
// within its bounds, and an indicator, of scale 1 and shift 0, of a category. The bias is one too.
//
// Errors: *InputError where there is no such line: rows that are scaled to a norm, or clipped, and numbers on a
// logarithmic scale.
func (e *Encoding) Units() (scale, shift []float64, err error) {
	if !e.Unscaled() {
		return nil, nil, inputErrorf("rows are scaled or clipped to a norm, each by its own factor, so that no " +
			"coefficient has a unit: make the records Uncentred, without RowNorm and ClipNorm; or look at the " +
			"effects of records that are InUnits")
	}
	if e.crosses != nil {
		return nil, nil, inputErrorf("columns are crossed, of which no coefficient has a unit")
	}
	for _, c := range e.encoders {
		if c.levels == nil {
			if c.field.Log {
				return nil, nil, inputErrorf("%q is on a logarithmic scale, where no coefficient has the unit of the "+
					"column", c.field.Name)
			}
			if c.hats > 0 || c.periodic() {
				return nil, nil, inputErrorf("%q has a curve, of which no coefficient has a unit", c.field.Name)
			}
			if c.reach > 0 {
				scale = append(scale, c.scale/c.reach)
				shift = append(shift, c.field.Lower+c.typical*(c.field.Upper-c.field.Lower))
			} else {
				scale, shift = append(scale, c.scale), append(shift, c.field.Lower)
			}
			if c.width() > 1 {
				scale, shift = append(scale, 1), append(shift, 0)
			}
			continue
		}
		mean := 0.0
		if c.centred {
			mean = 1 / float64(c.width())
		}
		for range c.width() {
			scale, shift = append(scale, 1), append(shift, mean)
		}
	}
	if !e.settings.NoBias {
		scale, shift = append(scale, e.Bias()), append(shift, 0)
	}
	return scale, shift, nil
}

// Rows returns the rows of features of t, whose columns may be in any order, others and no label among them. Centred
// rows most of whose features are indicators and hats are kept as these (*matrix.Affine), else rows are dense.
//
// Errors: *InputError for a column that is not there, or texts that are to be dates without a layout.
func (e *Encoding) Rows(t *Table) (matrix.Rows, error) {
	encoders := make([]encoder, len(e.encoders))
	for k, c := range e.encoders {
		column, err := t.Column(c.field.Name)
		if err != nil {
			return nil, err
		}
		if encoders[k], err = c.over(column); err != nil {
			return nil, err
		}
	}
	if e.sparse() {
		return e.thin(t.rows, encoders), nil
	}
	rows := matrix.NewDense(t.rows, len(e.Features), nil)
	const block = 2048
	parallel.Blocks(t.rows, block, func(lo, hi int) {
		own := slices.Clone(encoders) // each remembers its last text
		at := make([]int, 0, len(own))
		if e.settings.Centred {
			for j := range len(e.Features) - 1 {
				at = append(at, j)
			}
			if e.settings.NoBias {
				at = append(at, len(e.Features)-1)
			}
		}
		for i := lo; i < hi; i++ {
			row := rows.Data[i*rows.D : (i+1)*rows.D]
			if e.settings.Centred {
				for k := range own {
					own[k].write(row[own[k].at:own[k].at+own[k].width()], own[k].given(i))
				}
				for _, x := range e.crosses {
					x.add(row[x.at:], row[own[x.a].at:], row[own[x.b].at:])
				}
			} else {
				at = at[:0]
				for k := range own {
					if j := own[k].encode(row, i); j >= 0 {
						at = append(at, j)
					}
				}
			}
			scaleRow(row, at, &e.settings)
			if !e.settings.NoBias {
				row[len(row)-1] = e.Bias()
			}
		}
	})
	return rows, nil
}

// scaleRow brings a row, which is zero but at the given places, to its norm. A row of zeros stays one.
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
	// The computed norm errs by at most (d/2+2)u relatively, the products by a few u more; a row this much shorter is
	// no longer than the target.
	safe := 1 - float64(len(at)+8)*0x1p-53
	if s.ClipNorm > 0 && norm <= s.ClipNorm*safe {
		return
	}
	f := target * safe / norm
	for _, j := range at {
		x[j] *= f
	}
}

// noColumn is the error of a name that is none of columns, which lack those that the schema ignores.
func (s *Schema) noColumn(name string, columns []string) error {
	if slices.Contains(s.Ignored, name) {
		return inputErrorf("column %q has the type \"ignore\" in the schema, and is not read: give it another", name)
	}
	return noColumn(name, columns)
}

func noColumn(name string, columns []string) error {
	for _, c := range columns {
		// It is a record, it seems, whose values are not to be told.
		if v, err := strconv.ParseFloat(c, 64); err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
			return inputErrorf("there is no column %q, and the line with the names of the columns has numbers in it: "+
				"if it is a record, name the columns with %s", name, wording.Of("Header"))
		}
	}
	return inputErrorf("there is no column %q%s; the columns are %s", name, like(name, columns), wording.Names(columns))
}

// Validate checks every field, and that no two have the same name.
func (s *Schema) Validate() error {
	for i := range s.Fields {
		if err := s.Fields[i].validate(); err != nil {
			return err
		}
	}
	return s.distinct()
}

// distinct refuses two fields of the same name.
func (s *Schema) distinct() error {
	seen := map[string]bool{}
	for i := range s.Fields {
		name := s.Fields[i].Name
		if seen[name] {
			return inputErrorf("the schema has two fields named %q", name)
		}
		seen[name] = true
	}
	return nil
}

// Design makes the records of a table: rows of features and labels.
//
// Errors: as Rows, the label's column included.
func (e *Encoding) Design(t *Table) (*Design, error) {
	rows, err := e.Rows(t)
	if err != nil {
		return nil, err
	}
	labels, err := e.labels(t)
	if err != nil {
		return nil, err
	}
	d := e.designOf(t.Source)
	d.Rows, d.Labels = rows, labels
	return d, nil
}
