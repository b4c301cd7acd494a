package learn

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/go-gota/gota/dataframe"
	"github.com/go-gota/gota/series"
	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/numeral"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/additive"
	"github.com/dpnb/notebooks/dpnb/mechanism/geometry"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/constrained"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/interval"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Model is a fitted linear model that predicts classes, a number or a count.
type Model struct {
	// Release has the coefficients and the guarantee, to be looked at; nil for a fit without privacy.
	Release *mechanism.Release
	// HeldOut is the share of its records that was left out of the fit, as dpnb fit --held-out says; 0 where none was
	// or nothing is known of it. Save keeps it.
	HeldOut float64
	// release is what Release is a copy of: what is shown and kept does not depend on what a program makes of that.
	release *mechanism.Release
	// encoding makes rows of features of any table.
	encoding *frame.Encoding
	// learner fitted it; title is what the model is called, target what it predicts.
	learner, title string
	target         frame.Target
	// probabilities and apart as in specification.
	probabilities, apart bool
	// hinge is the loss of a support vector machine, by which margins are probabilities.
	hinge loss.Softplus
	// levels of quantiles; nil of other models.
	levels []float64
	// coefficients θ in the order of features, of centred records effects; of several classes or levels those of each
	// one after the other.
	coefficients []float64
	// theta are those of the encoded rows, where effects are shown and no geometry was bought; nil where they are the
	// coefficients.
	theta []float64
	// plain is where a fit without privacy had records that have products or cells; nil of others.
	plain       *geometry.Bought
	features    []string
	dataWarning string
	// unproved is the warning of a model whose file promises more than this program proves, asked for when it is shown,
	// as that may take a second; "" of others. nil of a model that was not loaded.
	unproved func() string
	lambda   float64
	// ran is the mechanism whose guarantee the release has: Release.Fitted, or what chose that. paid is what the ledger
	// was charged; nil for a simulation. Both are nil of a fit without privacy.
	ran  mechanism.Mechanism
	paid *payment
	// source is what may be said of the records, by the program that made it.
	source provenance
	// once is the name under which it was released once, "" for none; before says that it was given again.
	once, before string
	// partition is that of the ledger if it is the model of a group (FitBy).
	partition string
	// group is which it is; nil of others.
	group *ofGroup
	// base is the released model of which m has changed shapes, by edits; nil of one that was not changed.
	base  *Model
	edits []edit
	// calibration of the probabilities; nil of a model that has none.
	calibration *calibration
}

// keep gives m its release.
func (m *Model) keep(r *mechanism.Release) { m.release, m.Release = r, r.Clone() }

// warning is what is said wherever numbers of m are shown, or "".
func (m *Model) warning() string {
	if m.release == nil {
		return notPrivate
	}
	said := m.release.Warning()
	if m.unproved != nil {
		said = join(said, m.unproved())
	}
	said = join(join(said, m.dataWarning), m.release.Guarantee.Warning())
	if m.calibration != nil {
		said = join(said, m.calibration.Warning)
	}
	return said
}

// readOffTheData is the caveat of what was released of records whose schema is not known without them.
const readOffTheData = "Bounds or categories were READ OFF THE DATA: the guarantee does not cover that."

func newModel(p spec, d *frame.Design, theta []float64, also any) *Model {
	if d.Target.Weighted { // it predicts for records without weights
		plain := *d
		plain.Encoding, p.title = d.Encoding.Weightless(), "weighted "+p.title
		plain.Target = plain.Encoding.Target
		d = &plain
	}
	features, coefficients := shown(d.Encoding, theta, also)
	m := &Model{encoding: d.Encoding, learner: p.learner, title: p.title, target: d.Target,
		probabilities: p.probabilities, apart: p.apart,
		levels: slices.Clone(p.levels), coefficients: coefficients, features: features,
		hinge: p.hinge, source: provenanceOf(d.Source)}
	if _, bought := also.(*geometry.Bought); !bought && d.Encoding.Centred() {
		m.theta = theta
	}
	if d.DataDependent {
		m.dataWarning = readOffTheData
	}
	return m
}

// errNoModel says what is missing where a fit returned nil.
var errNoModel = errors.New("dpnb: no model: look at the err that the fit returned")

// Err returns the reason if m is not a model, else nil.
func (m *Model) Err() error {
	if m == nil || m.encoding == nil {
		return errNoModel
	}
	return nil
}

// Reading returns how the CSV file was read that m was fitted to, nil if by the defaults: in a file of the same form
// that is read otherwise, numbers are missing or others, without a word.
func (m *Model) Reading() *CSV {
	if m.source.Reading == nil {
		return nil
	}
	r := *m.source.Reading
	r.Missing, r.Header, r.Rename = slices.Clone(r.Missing), slices.Clone(r.Header), maps.Clone(r.Rename)
	return (*CSV)(&r)
}

// FittedTo returns the name of the table that m was fitted to, as of its file; "" if it has none. Another table may
// have the same name.
func (m *Model) FittedTo() string { return m.source.Data }

// Person returns the column that said whose rows m was fitted to (PerPerson), and how many of each person count: 0
// where each row is a person. Files of earlier versions have no column.
func (m *Model) Person() (column string, rows int) {
	if m.Err() != nil || m.release == nil {
		return "", 0
	}
	return m.source.Person, m.release.Guarantee.Rows
}

// Columns returns the names of the columns from which m predicts. They are found by name, in any order; the bounds,
// categories and norms are those of the fit.
func (m *Model) Columns() []string {
	if m.Err() != nil {
		return nil
	}
	return m.encoding.Columns()
}

// Coefficients returns the coefficients as a dataframe with columns feature and coefficient; for several classes with a
// column class before them, for several quantiles with a column level. For a fit without privacy a column privacy says
// so.
func (m *Model) Coefficients() dataframe.DataFrame {
	if err := m.Err(); err != nil {
		return dataframe.DataFrame{Err: err}
	}
	return m.dataFrame([]string{"coefficient"}, m.coefficients)
}

// CoefficientsInUnits is Coefficients in the target's unit for one unit of a feature, as in regressions without bounds:
// for a number, per step of 1 along the line that is nearest to its curve; for a category, against the reference of its
// column; the bias is what the mean record has. On a logarithmic scale it is the whole way from the lower bound to the
// upper one, as the name then says. A number with a period has no such step, and is left out. For two classes they add
// up to the logarithm of the odds, or to the margin. Of records that are not centred they are coefficients: a category
// counts if it is this one, and the bias is where all numbers are 0. They are a function of what was released.
//
// Errors (in it, as is usual with gota): a model of counts or of several classes; records that are not centred without
// a bias, of which rows were scaled or clipped to a norm, or with a logarithmic scale.
func (m *Model) CoefficientsInUnits() dataframe.DataFrame {
	fail := func(err error) dataframe.DataFrame { return dataframe.DataFrame{Err: err} }
	if err := m.hasUnits(); err != nil {
		return fail(err)
	}
	if m.encoding.Centred() {
		return m.effectsInUnits([]string{"coefficient"}, m.coefficients)
	}
	middle, half := m.unitOf()
	scale, shift, err := m.encoding.Units()
	if err != nil {
		return fail(err)
	}
	d := len(m.features)
	if m.features[d-1] != "bias" {
		return fail(errors.New("dpnb: without a bias (NoBias) there is no intercept to move to the units of the " +
			"columns"))
	}
	out := make([]float64, len(m.coefficients))
	for from := 0; from < len(out); from += d {
		intercept := &out[from+d-1]
		*intercept = middle
		for j, v := range m.coefficients[from : from+d] {
			out[from+j] += half * v * scale[j]
			*intercept -= half * v * scale[j] * shift[j]
		}
	}
	return m.dataFrame([]string{"coefficient"}, out)
}

// hasUnits reports why coefficients of m have no units.
func (m *Model) hasUnits() error {
	if err := m.Err(); err != nil {
		return err
	}
	t := m.target
	switch {
	case t.Task != frame.Number && t.Task != frame.TwoClasses:
		return fmt.Errorf("dpnb: only the coefficients of a number or of two classes have units; the model predicts %v",
			t.Task)
	case t.Log:
		return fmt.Errorf("dpnb: %s is on a logarithmic scale, where no coefficient has its unit: a model's table has "+
			"effects as factors", t.Name)
	}
	if _, ok := m.also().(*additive.Cells); ok {
		return errors.New("dpnb: a step function has a coefficient for each cell, and none of a unit: see Coefficients")
	}
	return nil
}

// unitOf is the middle of the target, which a bias begins at, and the unit of effects: half the width of the bounds of
// a number.
func (m *Model) unitOf() (middle, half float64) {
	t := m.target
	if t.Task != frame.Number {
		return 0, 1
	}
	half = 0.5 * (t.Upper - t.Lower)
	return t.Lower + half, half
}

// effectsInUnits has the given columns of effects of centred records, or of their ends, in units.
func (m *Model) effectsInUnits(names []string, columns ...[]float64) dataframe.DataFrame {
	middle, half := m.unitOf()
	effects, shown, out := m.effects(), *m, make([][]float64, len(columns))
	shown.features, shown.coefficients = nil, nil
	for j, v := range m.coefficients {
		e := effects[j%len(effects)]
		if e.Periodic {
			continue
		}
		for k, column := range columns {
			v := half * column[j]
			switch {
			case e.Unit > 0:
				v /= e.Unit
			case e.Name == "bias":
				v += middle
			}
			out[k] = append(out[k], v)
		}
		shown.coefficients = append(shown.coefficients, v)
		if j < len(effects) {
			shown.features = append(shown.features, cmp.Or(e.Column, e.Name))
		}
	}
	return shown.dataFrame(names, out...)
}

// dataFrame has a row for each coefficient: its class or level if there are several, its feature, and the given
// columns.
func (m *Model) dataFrame(names []string, columns ...[]float64) dataframe.DataFrame {
	var part, feature []string
	for j := range m.coefficients {
		part, feature = append(part, m.part(j)), append(feature, m.features[j%len(m.features)])
	}
	s := []series.Series{series.New(feature, series.String, "feature")}
	if kind, _ := m.parts(); kind != "" {
		s = slices.Insert(s, 0, series.New(part, series.String, kind))
	}
	for k, values := range columns {
		s = append(s, series.New(values, series.Float, names[k]))
	}
	if m.release == nil {
		none := slices.Repeat([]string{"none"}, len(m.coefficients))
		s = append(s, series.New(none, series.String, "privacy"))
	}
	out := dataframe.New(s...)
	remember(out, m.warning())
	return out
}

// notPrivate is shown above the coefficients of a fit without privacy.
const notPrivate = "NOT PRIVATE: these coefficients can give individual records away. For comparison on public " +
	"data only."

// tables are what was made last of the numbers of models, for Show, which is given a dataframe with no mark.
var tables struct {
	sync.Mutex
	last [256]numbers
	next int
}

// numbers are a table of the numbers of a model: its columns, its rows as they are shown, and its warning.
type numbers struct {
	columns []string
	rows    map[string]bool
	warning string
}

// lineOf is a row of a table as a text that no other row has.
func lineOf(row []string) string { return fmt.Sprintf("%q", row) }

// remember keeps what may be said above rows of df, which are of a model with such a warning.
func remember(df dataframe.DataFrame, warning string) {
	n := numbers{df.Names(), map[string]bool{}, warning}
	for _, row := range df.Records()[1:] {
		n.rows[lineOf(row)] = true
	}
	tables.Lock()
	defer tables.Unlock()
	tables.last[tables.next%len(tables.last)] = n
	tables.next++
}

// warningOf returns the warning of the model whose numbers all of the rows are, whatever their order: the least, where
// several models have them. ok is false where there is none, and they may be records of people.
func warningOf(columns []string, rows [][]string) (warning string, ok bool) {
	tables.Lock()
	defer tables.Unlock()
	for _, n := range tables.last {
		same := len(rows) > 0 && slices.Equal(n.columns, columns) &&
			!slices.ContainsFunc(rows, func(row []string) bool { return !n.rows[lineOf(row)] })
		if same && (!ok || len(n.warning) < len(warning)) {
			warning, ok = n.warning, true
		}
	}
	return warning, ok
}

// whatMissing says what values count as that are missing or do not fit, of up to a dozen columns of a kind, and what
// else can be done with them.
func (m *Model) whatMissing() string {
	features, label := m.encoding.WhatMissing(12)
	said := fmt.Sprintf("Of %s %s.", m.target.Name, label)
	if features == "" {
		return said
	}
	return fmt.Sprintf("%s. %s %s in the schema gives what is missing an effect of its own.", capital(features), said,
		wording.Setting{Field: "OrMissing", Go: `OrMissing ("missing": true)`})
}

// parts says what m has a set of coefficients for, each: a class or a level; "" if it has one set.
func (m *Model) parts() (kind string, names []string) {
	switch {
	case m.target.Task == frame.ManyClasses:
		return "class", m.target.Classes
	case len(m.levels) > 1:
		return "level", levelNames(m.levels)
	}
	return "", nil
}

// part returns the class or level of coefficient j, of several; else "".
func (m *Model) part(j int) string {
	if _, names := m.parts(); names != nil {
		return names[j/len(m.features)]
	}
	return ""
}

// mostShown are shown at once, column by column.
const mostShown = 40

// Theta returns a copy of the coefficients in the order of the features. It is nil if there is no model.
func (m *Model) Theta() []float64 {
	if m.Err() != nil {
		return nil
	}
	return slices.Clone(m.coefficients)
}

// Norm returns ‖θ‖₂, NaN if there is no model.
func (m *Model) Norm() float64 {
	if m.Err() != nil {
		return math.NaN()
	}
	return floats.Norm(m.coefficients, 2)
}

// Lambda returns the ridge λ of the sum objective, NaN if there is no model. That of an intercept may be less:
// ObjectivePerturbation has both.
func (m *Model) Lambda() float64 {
	if m.Err() != nil {
		return math.NaN()
	}
	return m.lambda
}

// ObjectivePerturbation returns the mechanism of the fit with all its parameters, which are public: they give the law
// of the noise in the coefficients, from which intervals can be computed. It is false for a fit by another mechanism,
// or without privacy.
func (m *Model) ObjectivePerturbation() (objpert.Objective, bool) {
	if m.Err() != nil || m.release == nil {
		return objpert.Objective{}, false
	}
	return perturbationOf(m.release.Fitted)
}

// weighted reports whether m was fitted to records with weights.
func (m *Model) weighted() bool {
	fit, _ := m.ObjectivePerturbation()
	_, weighted := loss.Weightless(fit.Loss)
	return weighted
}

// perturbationOf returns the objective perturbation that a mechanism is, or releases its curvature after.
func perturbationOf(m mechanism.Mechanism) (objpert.Objective, bool) {
	if k, ok := m.(interval.Curvature); ok {
		return k.Fit, true
	}
	o, ok := m.(objpert.Objective)
	return o, ok
}

// Display shows the coefficients, column by column, and the guarantee in words. Of several classes or levels each has a
// column.
func (m *Model) Display() display.Item {
	if err := m.Err(); err != nil {
		return display.Failed(err)
	}
	it := display.Item{Header: []string{"feature", "coefficient"}}
	one := "more coefficient"
	if kind, names := m.parts(); kind != "" {
		it.Header = []string{"feature"}
		for _, name := range names {
			if kind == "level" {
				name = "τ = " + name
			}
			it.Header = append(it.Header, name)
		}
		one = "more feature"
	}
	d, shrunk := len(m.features), m.shrunk()
	factors := m.factorWords()
	if factors != "" {
		for _, name := range it.Header[1:] {
			it.Header = append(it.Header, strings.TrimSuffix("factor, "+name, ", coefficient"))
		}
	}
	if shrunk != nil {
		it.Header = append(it.Header, "shrunk by")
	}
	for f := range min(mostShown, d) {
		row := []string{m.features[f]}
		for j := f; j < len(m.coefficients); j += d {
			row = append(row, fmt.Sprintf("%+.3f", m.coefficients[j]))
		}
		for j := f; factors != "" && j < len(m.coefficients); j += d {
			by, _ := m.factor(m.features[f], m.coefficients[j])
			row = append(row, by)
		}
		if shrunk != nil {
			row = append(row, shrunk[f])
		}
		it.Row(row...)
	}
	if n := d - mostShown; n > 0 {
		it.Note("… and %s; %s.", numeral.Count(n, one), m.meaning())
	} else {
		it.Note("Coefficients: %s.", m.meaning())
	}
	for _, said := range []string{factors, m.missingAgainst()} {
		if said != "" {
			it.Notes = append(it.Notes, said)
		}
	}
	if m.release == nil {
		it.Title = fmt.Sprintf("%s for %s, WITHOUT privacy", strings.ToUpper(m.title[:1])+m.title[1:], m.target.Name)
		it.Warning = m.warning()
		if m.lambda > 0 {
			it.Note("λ = %.4g.", m.lambda)
		}
		return it
	}
	if m.bought() != nil {
		of := ", for a row of typical length"
		if m.encoding.Clipped() {
			of = ""
		}
		if r := m.encoding.References(); len(r) > 0 {
			of += ": a category against the reference of its column (" + wording.Names(r) + "), "
		} else {
			of += ": "
		}
		along := ""
		if m.encoding.Curves() != nil {
			along = " along the line that is nearest to its curve where the records are"
		}
		it.Note("Effects%sa number from its lower bound to its upper one%s; bias: of the mean record.", of, along)
		if shrunk != nil {
			it.Note("%s", shrunkBy)
		}
		if more := m.beside(); more != "" {
			it.Note("Rows have %s as well, because records were enough for it by what was bought.", more)
		}
		if m.tooFewForCurves() {
			it.Notes = append(it.Notes, m.whyShaped()...)
		}
	}
	if said := m.counted(); said != "" {
		it.Notes = append(it.Notes, said)
	}
	r := m.release
	it.Title = fmt.Sprintf("Private %s for %s", m.title, m.ofWhat())
	it.Warning = m.warning()
	it.Note("%s", m.whatMissing())
	it.Note("Guarantee: %s", r.Guarantee.Words())
	it.Detail("How: %s. Bound: %s.", r.Mechanism, r.Guarantee.Bound)
	if g := r.Guarantee; g.Delta == 0 && g.Epsilon > 0 && g.Adjacency == privacy.AddRemove {
		it.Note("Where one %s is replaced by another it is at most ε = %s: one removed and one added.", g.Unit(),
			privacy.FormatUp(2*g.Epsilon, 3))
	}
	if c, ok := r.Fitted.(constrained.Objective); ok {
		zeros := 0
		for _, v := range m.coefficients {
			if math.Abs(v) <= 6*c.OutputSigma {
				zeros++
			}
		}
		it.Note("%d of %s are zero but for the noise of the output, %.2g.", zeros,
			numeral.Count(len(m.coefficients), "coefficient"), c.OutputSigma)
	}
	if worth, few := m.hopeless(); few {
		it.Note("Few records for this budget: n̂μ = %.2g, n̂ the noisy number of records, is below %d, where a model "+
			"can hardly be told from a guess. A larger part of the budget, fewer columns or more records help.", worth,
			fewestWorth)
	}
	if iv, err := m.PopulationIntervals(cardLevel); err == nil {
		if said := iv.buysNothing(); said != "" {
			it.Note("%s", said)
		}
	}
	if isDescent(r) {
		note := fmt.Sprintf("there are no intervals without a %s.", wording.Of("CurvatureShare"))
		if _, ok := m.moments(); ok {
			note = fmt.Sprintf("%s says it, as far as that is known.", wording.Of("PopulationIntervals"))
		}
		it.Note("The noise of a step has a standard deviation of %.3g on a sum of slopes; what is left of it in a "+
			"coefficient depends on the records' density: "+note, r.NoiseScale)
	}
	if r.Tolerance > 0 { // else nothing was minimised
		alone := ""
		if interval.Knows(r.Fitted) && m.bought() == nil {
			least := m.lambda
			if o, ok := m.ObjectivePerturbation(); ok {
				least = o.Lambda
			}
			alone = fmt.Sprintf(" The noise alone gives each coefficient a standard deviation of at most about σ/λ = "+
				"%.2g.",
				r.NoiseScale/least)
		}
		it.Detail("Certificate: the objective's gradient is at most τ = %s at the solution.%s",
			privacy.FormatUp(r.Tolerance, 3), alone)
	}
	it.Detail("Assumes: %s.", strings.Join(r.Guarantee.Assumptions, "; "))
	for _, e := range m.edits {
		it.Note("Changed after the fit, which costs nothing: %s.", e.words(m))
	}
	if m.calibration != nil {
		it.Note("%s", m.calibration.words())
	}
	if m.before != "" {
		it.Notes = append(it.Notes, m.before)
	} else if m.once != "" {
		it.Note("Released once, as %q: asked for again under this name, it comes back and costs nothing more.", m.once)
	}
	return it
}

// fewestWorth is the n̂μ below which nothing much can be expected: docs/theory/geometry.md, section 6.
const fewestWorth = 25

// hopeless says whether n̂μ, by the count that was bought, is so small that nothing much can be expected.
func (m *Model) hopeless() (worth float64, few bool) {
	b := m.bought()
	if b == nil {
		return 0, false
	}
	worth = b.Records * m.release.Guarantee.Epsilon
	if delta := m.release.Guarantee.Delta; delta > 0 {
		mu, err := privacy.MuOf(m.release.Guarantee.Epsilon, delta)
		if err != nil {
			return 0, false
		}
		worth = b.Records * mu
	}
	return worth, worth < fewestWorth
}

// meaning says what a positive coefficient does.
func (m *Model) meaning() string {
	switch t := m.target; t.Task {
	case frame.TwoClasses:
		favours := "a positive one favours " + t.Name
		if t.Classes[1] != t.Name {
			favours += " = " + t.Classes[1]
		}
		if _, hinge := m.link(); hinge {
			favours += "; the unit is that of margins, while shapes are in log-odds"
		}
		return favours
	case frame.ManyClasses:
		return "a positive one favours its class"
	case frame.Count:
		return fmt.Sprintf("a positive one raises the logarithm of the mean of %s", t.Name)
	default:
		unit := fmt.Sprintf("%g, half the width of its bounds", 0.5*(t.Upper-t.Lower))
		if t.Open {
			unit = fmt.Sprintf("%g, half the width of its scale", 0.5*(t.Upper-t.Lower))
		}
		if t.Log {
			unit = "half the range on its logarithmic scale"
		}
		return fmt.Sprintf("a positive one raises %s; the unit is %s", t.Name, unit)
	}
}

// join puts a space between two sentences, if there are two.
func join(a, b string) string { return strings.TrimSpace(a + " " + b) }
