package learn

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/recent"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/additive"
	"github.com/dpnb/notebooks/dpnb/mechanism/geometry"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/interval"
)

// Shape is what one column adds to what a model predicts: a curve over the values of a number, or a value for each
// category. It is computed from what was released and costs nothing more. It counts from its mean over the records, as
// far as that was released, and is of a row of the typical norm, as the effects are.
//
// A shape can be changed afterwards, which is free, too; Model.With predicts with it. Methods that change it return
// another, and Err says what went wrong. Show displays it with its figure.
type Shape struct {
	model *Model
	term  frame.Component
	part  int
	// was are the forms at the handles of the term as the model has them, own as changed.
	was, own []float64
	unit     string
	// percent says that the unit is a share.
	percent bool
	// to takes a difference of linear forms to the unit.
	to     func(t float64) float64
	places []shapePlace
	// noise is the covariance of that of what is predicted at the handles, nil if it is not known.
	noise *mat.SymDense
	// why there are no bands for the noise, and for the population.
	why [2]error
	did []string
	err error
	// fine says that the column has cells or waves, between which handles say little.
	fine bool
}

// shapePlace is a place of the grid: between which handles, and in what parts of the way.
type shapePlace struct {
	name         string
	at           float64
	below, above int
	part         float64
	// detail is what cells or waves add to what is straight between the handles, released what they did.
	detail, released float64
	// bands of the linear form: of the noise and of the population, by itself and of all places at once.
	noise, noiseAtOnce, population, populationAtOnce *Span
}

// form of the place by the forms at the handles.
func (p shapePlace) form(handles []float64) float64 {
	return handles[p.below] + p.part*(handles[p.above]-handles[p.below]) + p.detail
}

// ShapePoint is a shape at one value of its column, in the unit of the shape.
type ShapePoint struct {
	// Name is the category, or the number as it is written; At is the number, NaN of a category.
	Name string
	At   float64
	// Value is that of the shape, Before what it was before it was changed.
	Value, Before float64
	// Noise is where the same fit without noise has it, Population where the people have it from whom the records were
	// drawn, both of the shape before it was changed; AtOnce those of all values of the column together. nil is not
	// known: of the population also beyond the values where at least a hundredth of the records is at a knot, as far as
	// that was released.
	Noise, NoiseAtOnce, Population, PopulationAtOnce *Span
}

// shapeLevel is that of the bands.
const shapeLevel = 0.95

// Shape returns the shape of a column; of several classes or levels that of the one that is named, such as
// model.Shape("age", "0.9").
//
//	model.Shape("age")
//	model.Shape("age").Monotone(+1)
//
// Errors (in it): a column, class or level that there is not; a model whose records are not centred.
func (m *Model) Shape(column string, of ...string) *Shape {
	all, err := m.shapes([]string{column}, of)
	if err != nil {
		return &Shape{err: err}
	}
	m.bandsOf(all)
	return all[0]
}

// Shapes returns the shapes of all columns, those of largest Importance first; of several classes or levels those of
// the ones that are named, or of all. Show displays a table, and all of them on one page.
//
// Errors: as Shape.
func (m *Model) Shapes(of ...string) (*Shapes, error) {
	if err := m.Err(); err != nil {
		return nil, err
	}
	if _, names := m.parts(); len(of) == 0 {
		of = names
	}
	var all []*Shape
	for part := range max(1, len(of)) {
		own, err := m.shapes(nil, of[part:min(part+1, len(of))])
		if err != nil {
			return nil, err
		}
		m.bandsOf(own)
		all = append(all, own...)
	}
	slices.SortStableFunc(all, func(a, b *Shape) int { return cmp.Compare(b.Importance(), a.Importance()) })
	out := &Shapes{all: all}
	if len(of) <= 1 {
		out.surfaces, out.pairs = m.surfacesOf(of)
	}
	return out, nil
}

// Shapes are those of all columns of a model, with what pairs of them do together (Surfaces).
type Shapes struct {
	all      []*Shape
	surfaces []*Surface
	// pairs is how many were learnt together.
	pairs int
}

// All returns them in their order.
func (s *Shapes) All() []*Shape {
	if s == nil {
		return nil
	}
	return slices.Clone(s.all)
}

// shapes returns those of the columns, nil for all, without bands.
func (m *Model) shapes(columns, of []string) ([]*Shape, error) {
	if err := m.Err(); err != nil {
		return nil, err
	}
	if _, cells := m.also().(*additive.Cells); cells || !m.encoding.Centred() {
		return nil, fmt.Errorf("dpnb: shapes are of centred records: make them without %s; a step function has a "+
			"coefficient for each cell", wording.Setting{Field: "Unbounded", Value: "numbers",
			Go: "Uncentred, NoBias and numbers that are Unbounded"})
	}
	part, err := m.partOf(of)
	if err != nil {
		return nil, err
	}
	unit, to := m.effectUnit(part)
	var all []*Shape
	for _, t := range m.terms() {
		if columns != nil && !slices.Contains(columns, t.Field.Name) {
			continue
		}
		s := &Shape{model: m, term: t, part: part, unit: unit, to: to, places: placesOf(t, pieces)}
		for k := range t.Shares {
			s.was = append(s.was, m.form(t.Of(k), part))
		}
		s.own = slices.Clone(s.was)
		if b := m.bought(); t.Bent || b != nil && b.HasCells(t.Line()) {
			s.fine = true
			for k := range s.places {
				if p := &s.places[k]; !math.IsNaN(p.at) {
					p.detail = m.form(t.At(p.at), part) - p.form(s.was)
					p.released = p.detail
				}
			}
		}
		all = append(all, s)
	}
	if len(all) < len(columns) {
		return nil, m.noColumn(columns[0])
	}
	return all, nil
}

// noColumn says that there is none of the name.
func (m *Model) noColumn(name string) error {
	return fmt.Errorf("dpnb: there is no column %q among those of the model: %s", name,
		strings.Join(m.Columns(), ", "))
}

// terms returns the columns of m, by what was bought of where the records are.
func (m *Model) terms() []frame.Component {
	return m.encoding.Components(meanRow(m.bought()), meanError(m.bought()))
}

// partOf returns the place of the class or level that is named.
func (m *Model) partOf(of []string) (int, error) {
	kind, names := m.parts()
	switch {
	case kind == "" && len(of) == 0:
		return 0, nil
	case kind == "":
		return 0, fmt.Errorf("dpnb: a %s has one shape for each column, and none of %q", m.title, of[0])
	case len(of) == 1 && slices.Contains(names, of[0]):
		return slices.Index(names, of[0]), nil
	}
	return 0, fmt.Errorf("dpnb: a %s has a shape of each column for every %s: name one of %s", m.title, kind,
		strings.Join(names, ", "))
}

// form returns an effect, which is none of the bias, by the coefficients that predict.
func (m *Model) form(f frame.Effect, part int) float64 {
	b, own, q := m.own(part)
	forms, _ := formsOf(m.encoding, []frame.Effect{f}, b, q)
	return floats.Dot(forms[0], own)
}

// own returns what was bought, the coefficients of a class or level of which formsOf has forms, and their stretch.
func (m *Model) own(part int) (b *geometry.Bought, theta []float64, q float64) {
	theta, q = m.theta, 1
	d := len(m.encoding.Features)
	if b = m.bought(); b != nil {
		theta, d, q = b.Raw, b.Width(), b.Stretch
	}
	return b, theta[part*d : (part+1)*d], q
}

// pieces is into how many a number is cut at least where its shape is drawn.
const pieces = 56

// placesOf returns the grid on which a shape is looked at: knots, places between them, categories.
func placesOf(t frame.Component, pieces int) (all []shapePlace) {
	if k := len(t.Knots); k > 0 {
		n := max(1, (pieces+k-2)/(k-1))
		for i, v := range t.Between(n) {
			p := shapePlace{name: t.Text(v), at: v, below: i / n, above: i / n, part: float64(i%n) / float64(n)}
			if i%n > 0 {
				p.above++
			}
			all = append(all, p)
		}
	}
	for k, name := range t.Categories {
		all = append(all, shapePlace{name: name, at: math.NaN(), below: len(t.Knots) + k, above: len(t.Knots) + k})
	}
	return all
}

// typical returns the linear form of the mean record, which is what the effect of the bias says.
func (m *Model) typical(part int) float64 {
	if m.encoding.Bias() == 0 {
		return 0
	}
	return m.coefficients[(part+1)*len(m.features)-1]
}

// effectUnit returns the unit of an effect and what takes a difference of linear forms to it: for two classes log-odds,
// of a support vector machine those at a typical record; for numbers the target's; for counts the logarithm of the
// mean.
func (m *Model) effectUnit(part int) (string, func(t float64) float64) {
	same, t0, t := func(t float64) float64 { return t }, m.typical(part), m.target
	switch {
	case m.probabilities && t.Task == frame.TwoClasses:
		unit := "log-odds of " + t.Classes[1]
		if _, ok := m.link(); !ok && m.calibration == nil {
			return unit, same
		}
		return unit, func(t float64) float64 { return m.logOdds(t0+t) - m.logOdds(t0) }
	case t.Task == frame.Number && t.Log:
		return t.Name, func(by float64) float64 { return t.Value(t0+by) - t.Value(t0) }
	case t.Task == frame.Number:
		return t.Name, func(by float64) float64 { return t.HalfWidth() * by }
	case t.Task == frame.Count:
		return "logarithm of the mean of " + t.Name, same
	case t.Task == frame.ManyClasses:
		return "score of " + t.Classes[part], same
	}
	return "score of " + t.Classes[1], same
}

// AtTypical returns the shape in the unit of what is predicted, as a difference at a typical record, the mean one as
// far as it was released: of two classes in probability, of counts in their mean. Of numbers it is the shape itself.
//
// Errors (in it): classes that have no probabilities, and several of them, whose probabilities depend on all shapes.
func (s *Shape) AtTypical() *Shape {
	if s.Err() != nil {
		return s
	}
	out, m := *s, s.model
	t0 := m.typical(s.part)
	switch {
	case m.probabilities && m.target.Task == frame.TwoClasses:
		out.percent, out.unit = true, "probability of "+m.target.Classes[1]
		out.to = func(t float64) float64 { return m.probability(t0+t) - m.probability(t0) }
	case m.target.Task == frame.Count:
		out.unit = "mean of " + m.target.Name
		out.to = func(t float64) float64 { return math.Exp(t0+t) - math.Exp(t0) }
	case m.target.Task != frame.Number:
		return s.failed("dpnb: a %s has no probabilities that one shape would change by itself", m.title)
	}
	return &out
}

// from is the inverse of to; ok is false where nothing has this value.
func (s *Shape) from(value float64) (t float64, ok bool) {
	const far = 100.0
	if !(s.to(-far) <= value && value <= s.to(far)) {
		return 0, false
	}
	_, t = univariate.Bisect(func(t float64) bool { return s.to(t) >= value }, -far, far, univariate.Arithmetic, 1e-15)
	return t, true
}

// bandsOf gives shapes their bands, or says why they have none.
func (m *Model) bandsOf(all []*Shape) {
	var forms []frame.Effect
	bias := make([]float64, len(m.encoding.Features))
	if effects := m.effects(); m.encoding.Bias() != 0 {
		bias = effects[len(effects)-1].Weights
	}
	for _, s := range all {
		forms = append(forms, s.effects()...)
	}
	places := len(forms)
	for _, s := range all {
		for k := range s.was {
			at := s.term.Of(k)
			floats.Add(at.Weights, bias)
			forms = append(forms, at)
		}
	}
	for kind, population := range []bool{false, true} {
		law, err := m.law(forms, population)
		first, handle := 0, places
		for _, s := range all {
			s.why[kind] = err
			if err == nil {
				s.band(law, first, population)
				if !population {
					s.noise = law.Covariance(handle, len(s.was))
				}
			}
			first, handle = first+len(s.places), handle+len(s.was)
		}
	}
}

// effects are those of the places.
func (s *Shape) effects() (all []frame.Effect) {
	for _, p := range s.places {
		all = append(all, s.effect(p))
	}
	return all
}

// law returns the joint law of effects, about those of the same fit without noise, or of the population.
func (m *Model) law(effects []frame.Effect, population bool) (*interval.Law, error) {
	return m.lawOf(population, func(b *geometry.Bought, q float64) [][]float64 {
		forms, _ := formsOf(m.encoding, effects, b, q)
		return forms
	})
}

// lawOf is law of linear forms of the coefficients of the fit, which are given for a stretch.
func (m *Model) lawOf(population bool, forms func(b *geometry.Bought, q float64) [][]float64) (*interval.Law,
	error) {
	if err := m.hasIntervals(); err != nil {
		return nil, err
	}
	fit, ok := m.ObjectivePerturbation()
	b := m.bought()
	if !ok || b == nil {
		return nil, fmt.Errorf("dpnb: they are known for one linear form by objective perturbation, as of SVM, "+
			"Logistic, Linear, Huber and Poisson, and for records whose mean was bought; this is a %s", m.title)
	}
	if m.weighted() { // the curvature is guessed from imagined records, and of their weights nothing was released
		return nil, errors.New("dpnb: they are not known where records have weights")
	}
	curvature, known := m.Curvature()
	q, less := b.Stretch, lessSure
	if population {
		if err := m.drawnEach(); err != nil {
			return nil, err
		}
		if q, less = 1, lessUsual; !known {
			return nil, fmt.Errorf("dpnb: nothing is known of the population without the curvature of the records: "+
				"fit with %s", wording.Of("CurvatureShare", "0.05"))
		}
	}
	own := forms(b, q)
	law, err := laws.Of(lawKey{m, population}, func() (*interval.Law, error) {
		s := interval.Settings{Level: shapeLevel, Forms: own,
			Basis: matrix.Complement(append(m.encoding.Nowhere(), b.Nowhere()...), b.Width())}
		g := m.guess(b, fit, less)
		if !population { // to first order there are no draws, and lessSure allows for it
			g.Doubts = nil
		}
		if !known {
			curvature = nil
			for cell := range b.CellFeatures() { // which of them have records was not released
				for j := range b.Width() {
					g.Curvature.SetSym(len(b.Mean)+cell, j, 0)
				}
			}
		}
		return interval.LikelyLaw(fit, b.Raw, curvature, g, population, s)
	})
	if err != nil {
		return nil, err
	}
	return law.About(own)
}

// laws are those that were asked for last, some megabytes each: a model is asked about one column after another, for
// its table and for its card, and the law is that of all its forms.
var laws = recent.Values[lawKey, *interval.Law]{Kept: 2}

type lawKey struct {
	of         *Model
	population bool
}

// band sets the bands of one kind by a law of which the first of the shape's places is one form. Those of the
// population are where people are.
func (s *Shape) band(law *interval.Law, first int, population bool) {
	from, to := 0, len(s.places)
	if population {
		from, to = s.peopled()
	}
	in := func(k int) bool { return math.IsNaN(s.places[k].at) || from <= k && k < to }
	each := law.Halves(first, len(s.places), shapeLevel)
	all := law.HalvesAtOnce(first, len(s.places), in, shapeLevel)
	for k := range s.places {
		if !in(k) {
			continue
		}
		p, centre, half := &s.places[k], law.Centre[first+k], each[k]
		one, atOnce := &Span{centre, centre - half, centre + half}, &Span{centre, centre - all[k], centre + all[k]}
		if population {
			p.population, p.populationAtOnce = one, atOnce
		} else {
			p.noise, p.noiseAtOnce = one, atOnce
		}
	}
}

// hardly is the share of the records below which nothing is said of the population.
const hardly = 0.01

// peopled returns the first place of a number's grid and the one after the last that have a share of hardly or more, as
// far as was released: that of the two knots beside it, weighed as they are there.
func (s *Shape) peopled() (from, to int) {
	from = len(s.places)
	for k, p := range s.places {
		share := s.term.Shares[p.below] + p.part*(s.term.Shares[p.above]-s.term.Shares[p.below])
		if !math.IsNaN(p.at) && share >= hardly {
			from, to = min(from, k), k+1
		}
	}
	return from, to
}

// Err returns what went wrong, nil for nothing.
func (s *Shape) Err() error {
	if s == nil {
		return errors.New("dpnb: no shape")
	}
	return s.err
}

func (s *Shape) failed(format string, a ...any) *Shape { return &Shape{err: fmt.Errorf(format, a...)} }

// Column returns the name of the column, "" if there is no shape.
func (s *Shape) Column() string {
	if s.Err() != nil {
		return ""
	}
	return s.term.Field.Name
}

// Unit says what the values of the shape are.
func (s *Shape) Unit() string { return s.unit }

// Importance is the standard deviation of the shape over the records, as far as it was released where they are: at the
// knots of a number and the categories, in the unit of the shape. Of a number that is straight only their mean was, and
// their spread about it is a guess (frame.Component.Spread). It includes what is noise of it.
func (s *Shape) Importance() float64 {
	if s.Err() != nil {
		return 0
	}
	values := make([]float64, len(s.own))
	for k, v := range s.own {
		values[k] = s.to(v)
	}
	shares := s.term.Shares
	if numbers := shares[0] + shares[1]; s.guessed() && numbers > 0 { // all at their mean, and their spread about it
		mean, step := (values[0]*shares[0]+values[1]*shares[1])/numbers, values[1]-values[0]
		about := stat.PopStdDev(append([]float64{mean}, values[2:]...), append([]float64{numbers}, shares[2:]...))
		return math.Hypot(math.Sqrt(numbers)*step*s.term.Spread, about)
	}
	return stat.PopStdDev(values, shares)
}

// guessed reports whether nothing was released of where the records are but their mean, at most.
func (s *Shape) guessed() bool { return s.term.Spread > 0 }

// span is a band's in the unit of the shape, nil for nil.
func (s *Shape) span(p *Span) *Span {
	if p == nil {
		return nil
	}
	return &Span{s.to(p.Estimate), s.to(p.Lower), s.to(p.Upper)}
}

// Points returns the shape at the places of a grid: of a number its knots and places between them, then its categories.
func (s *Shape) Points() []ShapePoint {
	if s.Err() != nil {
		return nil
	}
	all := make([]ShapePoint, len(s.places))
	for k, p := range s.places {
		all[k] = ShapePoint{p.name, p.at, s.to(p.form(s.own)), s.to(p.form(s.was) + p.released - p.detail),
			s.span(p.noise), s.span(p.noiseAtOnce), s.span(p.population), s.span(p.populationAtOnce)}
	}
	return all
}
