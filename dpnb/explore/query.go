// Package explore asks private questions about the columns of a table: means, sums, quantiles, correlations. A question
// is a value, which can say what it will cost before anything is paid, and is asked once, of a table, for an allowance:
//
//	age, err := explore.Mean("age").Of(df, budget.Spend(0.1))
//	learn.Show(age, err)
package explore

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/statistic"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Query is a question about a table that has not been asked yet: Mean and the like make it.
type Query struct {
	question
	src noise.Source
	by  []string
	err error
	settings
	// records that are planned, for a Price.
	records float64
	// elsewhere is where the records are added up; nil for here.
	remote func() (func(Adding, func([]byte) error) error, error)
}

// settings of the intervals of an answer: sampling says that they are for the population.
type settings struct {
	confidence float64
	sampling   bool
	// baseRate is the share of the positive class that is expected, for the precision of an AUC; 0 is a half.
	baseRate float64
	// rows of a person that count; 0 if each row is a person.
	rows int
}

// counted is what is counted: of a person who may have more, so many.
func (s settings) counted() string {
	switch s.rows {
	case 0:
		return "records"
	case 1:
		return "records (one of each person)"
	}
	return fmt.Sprintf("records (at most %d of each person)", s.rows)
}

// question is what is asked: it becomes a plan by what is publicly known.
type question interface {
	// plan checks the question against what is known of the columns of a table.
	//
	// Errors: of public numbers alone; nothing has been charged.
	plan(s *frame.Schema) (plan, error)
}

// plan is a question that fits a table.
type plan interface {
	// columns of the table that are read, in the order of the mechanism's.
	columns() []string
	// label names the question in the ledger.
	label() string
	// calibrate returns the mechanism for (ε, δ): with Gaussian noise if the ledger counts μ and δ > 0, else with
	// whatever noise is least.
	calibrate(epsilon, delta float64, countsMu bool) (statistic.Mechanism, error)
	// precision returns half the width of the widest interval to be expected of m, of so many records, and its unit.
	precision(m statistic.Mechanism, records float64, s settings) (half float64, unit string)
	// answer makes of what the mechanism released what is shown.
	answer(m statistic.Mechanism, released []float64, s settings) *Statistic
}

// ask returns a query with the usual settings.
func ask(q question) Query { return Query{question: q, settings: settings{confidence: 0.95}} }

// Noise makes the query draw from src: a Seed for simulations, or nil for the secure source.
func (q Query) Noise(src noise.Source) Query { q.src = src; return q }

// Confidence sets the confidence of the intervals, which is 0.95 without it.
func (q Query) Confidence(c float64) Query {
	if !(c > 0 && c < 1) {
		q.err = &privacy.ParamError{Name: "Confidence", Value: c, Want: "a number between 0 and 1, for example 0.95"}
	}
	q.confidence = c
	return q
}

// ForPopulation makes the intervals cover the value in the population of which the records are independent draws, not
// only that in the records: they are wider, to allow for sampling. It is for means and quantiles, with one row per
// person; the share of a category is the mean of a column that is 1 there and 0 elsewhere (DeriveNumber). Other
// questions are refused.
func (q Query) ForPopulation() Query { q.sampling = true; return q }

// forPopulation refuses questions whose answer is not known for a population.
func (q Query) forPopulation(df learn.DataFrame) error {
	if !q.sampling {
		return nil
	}
	population := wording.Of("ForPopulation")
	switch q.question.(type) {
	case mean, quantiles, losses:
		if column, rows := df.Person(); rows > 1 {
			return fmt.Errorf("dpnb: %s assumes that records are independent draws, which %d rows of one person are "+
				"not: %s", population, rows, wording.Setting{Field: "RowsOfAPerson", Value: "1",
				Go: fmt.Sprintf("PerPerson(%q, 1)", column)})
		}
		return nil
	case sum, counting, keys:
		return fmt.Errorf("dpnb: %s is for means and quantiles: how many records there are, and what they add up "+
			"to, is a fact about these records; the share of a category is the mean of a column that is 1 there%s",
			population,
			wording.Setting{Go: " (DeriveNumber)"})
	}
	if _, ok := q.question.(outcomes); ok {
		return fmt.Errorf("dpnb: %s is for means and quantiles, and LossOf: the share that a model predicts wrongly "+
			"has an interval for the population there", population)
	}
	return fmt.Errorf("dpnb: %s is for means and quantiles: how far chance moves variances and correlations depends "+
		"on more than what is released", population)
}

// fitted is a plan for a table, with its records, what is publicly known of them and how their values are read.
type fitted struct {
	plan
	query   Query
	df      learn.DataFrame
	records frame.Scanner
	schema  *frame.Schema
	// read gives the values of a chunk; dataDependent says that what is known of them was read off the data.
	read          reading
	dataDependent bool
	// rows of a person that count.
	rows int
	// group is that of a model, if the records are of it alone.
	group string
}

func (q Query) planned(df learn.DataFrame) (*fitted, error) {
	if q.err != nil {
		return nil, q.err
	}
	if q.question == nil {
		return nil, errors.New("dpnb: an empty query; make one with Mean, Sum, QuantilesOf and the like")
	}
	group := ""
	if asked, ok := q.question.(modelled); ok {
		m, own := asked.about(), false
		if df, own = m.OfGroup(df); own {
			group = ofModel(m)
		}
	}
	records, schema, err := df.Known()
	if err == nil {
		err = q.forPopulation(df)
	}
	if err != nil {
		return nil, err
	}
	p, err := q.plan(schema)
	if asked, ok := q.question.(modelled); ok {
		if err == nil && len(q.by) > 0 {
			err = errors.New("dpnb: what a model does is asked of all records; for that of a group take its " +
				"records (Where)")
		}
		if err == nil {
			_, err = asked.about().Losses(q.src != nil && noise.Simulated(q.src))
		}
	}
	if o, ok := p.(outcomesPlan); ok && err == nil {
		if n := o.model.Records(); q.records > 0 {
			o.records = []float64{q.records}
		} else if n > 0 { // those that were held out, or others that are as many
			o.records = []float64{n / 4, n}
		}
		p = o
	}
	if err == nil && len(q.by) > 0 {
		p, err = grouped(p, schema, q.by)
	}
	if err != nil {
		return nil, err
	}
	for i, c := range p.columns() {
		if slices.Contains(p.columns()[:i], c) {
			return nil, fmt.Errorf("dpnb: column %q is asked for twice", c)
		}
	}
	read, dataDependent, err := reader(p, records, schema)
	if table, ok := records.(*frame.Table); ok && err == nil {
		_, err = read(table.Head(0)) // whether dates can be read: not after the charge
	}
	if err != nil {
		return nil, err
	}
	_, rows := df.Person()
	return &fitted{p, q, df, records, schema, read, dataDependent, rows, group}, nil
}

// ofModel says of which group a model is; "" if of none.
func ofModel(m *learn.Model) string {
	column, category := m.Group()
	if column == "" {
		return ""
	}
	return column + " = " + category
}

// Check returns what is wrong with the question, as far as what is public says. No record is read and nothing spent.
func (q Query) Check(df learn.DataFrame) error {
	_, err := q.prepared(df)
	return err
}

// Of asks the question of df and spends the allowance.
//
// Errors: a column that is not there, of the wrong type or without public bounds, a budget that does not cover it: all
// from public knowledge; a file that cannot be read to its end. Nothing is then spent.
func (q Query) Of(df learn.DataFrame, a learn.Allowance) (*Statistic, error) {
	p, err := q.prepared(df)
	if err != nil {
		return nil, err
	}
	r, err := p.release(a)
	if err != nil {
		return nil, err
	}
	return answer(p, q, r)
}

// answer is what p makes of what was released, which it can do again with another confidence.
func answer(p prepared, q Query, r *released) (*Statistic, error) {
	if q.err != nil {
		return nil, q.err
	}
	s, err := p.answered(q, r)
	if s != nil {
		s.before = r.before
		s.again = func(c float64) (*Statistic, error) { return answer(p, q.Confidence(c), r) }
	}
	return s, err
}

// prepared is a question of which it is known that the table can answer it.
type prepared interface {
	// specification is the question by what is public.
	spec() asked
	// release pays for the question, runs its mechanism and returns what that gave.
	release(a learn.Allowance) (*released, error)
	// answered makes of what was released what is shown: computing, at no cost.
	answered(q Query, r *released) (*Statistic, error)
}

func (q Query) prepared(df learn.DataFrame) (prepared, error) {
	if err := q.movable(df); err != nil {
		return nil, err
	}
	if k, ok := q.question.(keys); ok && q.err == nil {
		return k.prepared(q, df)
	}
	return q.planned(df)
}

// price is the (ε, δ) that a mechanism was calibrated to, which may be less than what was granted; CountsMu that noise
// was Gaussian because the ledger counts μ.
type price struct {
	Epsilon, Delta float64
	CountsMu       bool
}

// released is what an answer is made of, with what is public: the numbers that a mechanism gave, of Keys their names,
// and the price by which it is calibrated anew.
type released struct {
	Names          []string `json:",omitempty"`
	Numbers        []float64
	Epsilon, Delta float64
	Priced         price
	Mechanism      string
	src            noise.Source
	// ran is the mechanism; nil if this was read back.
	ran mechanism.Mechanism
	// before says that it was given again; "" if it was not.
	before string
}

// by refuses another mechanism than the one that released r.
func (r *released) by(m mechanism.Mechanism) error {
	if m.String() != r.Mechanism {
		return fmt.Errorf("dpnb: this was released by %s, and what is asked would be %s: another version of "+
			"this module read it", r.Mechanism, m)
	}
	return nil
}

func (p *fitted) release(a learn.Allowance) (*released, error) {
	src := a.Noise(p.query.src)
	r := &released{src: src}
	var remote func(Adding, func([]byte) error) error
	if p.query.remote != nil {
		var err error
		if remote, err = p.query.remote(); err != nil {
			return nil, err
		}
	}
	var tally statistic.Tally
	m, alone, err := a.Pay(src, p.label(), p.df,
		func(epsilon, delta float64, countsMu bool) (mechanism.Mechanism, error) {
			r.Priced = price{epsilon, delta, countsMu}
			return r.calibrated(p)
		},
		func(m mechanism.Mechanism) error {
			tally = collector(m).Tally()
			if remote == nil {
				return addUp(tally, p.records, p.columns(), p.read)
			}
			asked, err := p.adding(collector(m))
			if err != nil {
				return err
			}
			return remote(asked, func(part []byte) error { return statistic.MergeTally(tally, part) })
		})
	if err != nil {
		return nil, err
	}
	r.Numbers, r.Epsilon, r.Delta = tally.Release(src), alone.Epsilon, alone.Delta
	r.Mechanism, r.ran = m.String(), m
	return r, nil
}

// calibrated returns the mechanism at its price.
func (r *released) calibrated(p *fitted) (mechanism.Mechanism, error) {
	return forPeople(p, p.rows, r.Priced.CountsMu)(r.Priced.Epsilon, r.Priced.Delta)
}

func (p *fitted) answered(q Query, r *released) (*Statistic, error) {
	m := r.ran
	if m == nil {
		if o, ok := p.plan.(outcomesPlan); ok {
			of := *p
			of.plan = o.in(len(r.Numbers))
			p = &of
		}
		var err error
		if m, err = r.calibrated(p); err != nil {
			return nil, err
		}
	}
	if err := r.by(m); err != nil {
		return nil, err
	}
	if person, _ := p.df.Person(); person != "" {
		q.rows = p.rows
	}
	s := p.answer(collector(m), r.Numbers, q.settings)
	if counted := q.counted(); !strings.Contains(s.meaning, counted) && q.rows > 0 {
		s.meaning += " It is of the " + counted + " that count."
	}
	if _, own := p.plan.(maker); !own {
		s.notes = append(s.notes, whatMissing(p.schema, p.columns())...)
	}
	unknown := func(r Row) bool { return r.unknown }
	if !strings.HasPrefix(s.meaning, buysNothing) && s.of != calibrating && slices.ContainsFunc(s.rows, unknown) {
		s.notes = append([]string{nothingKnown}, s.notes...)
	}
	if asked, ok := p.query.question.(modelled); ok && ofModel(asked.about()) != "" {
		said := "these records alone were asked about" + wording.Setting{Go: " (Drop the column for others)"}.String()
		if p.group == "" {
			said = "the table does not say which these are, and all of its records were asked about"
		}
		s.notes = append(s.notes, fmt.Sprintf("The model is of the records with %s: %s.", ofModel(asked.about()), said))
	}
	s.dataDependent = p.dataDependent
	return s, s.release(m, r, q, p.df)
}

// release fills in what s promises, as r was released of df by m.
func (s *Statistic) release(m mechanism.Mechanism, r *released, q Query, df learn.DataFrame) error {
	profile, err := mechanism.Profile(m)
	if err != nil {
		return err
	}
	d := m.Describe()
	s.guarantee = mechanism.Guarantee{Epsilon: r.Epsilon, Delta: r.Delta, Adjacency: d.Adjacency,
		Bound: d.Bound, Profile: profile, Assumptions: d.Assumptions}
	if person, rows := df.Person(); person != "" {
		s.guarantee.Rows = rows
	}
	s.mechanism, s.settings = m.String(), q.settings
	s.origin, s.from = noise.OriginOf(r.src), df
	return nil
}

// whatMissing says what missing values of those columns that are numbers count as, whether there are any or not, and
// what else can be done with them.
func whatMissing(s *frame.Schema, columns []string) (notes []string) {
	numbers := false
	for _, c := range columns {
		if f, ok := s.Field(c); ok && f.Kind == frame.Numeric {
			notes, numbers = append(notes, f.WhatMissing()), numbers || f.Part == frame.NoDate
		}
	}
	if notes != nil {
		notes = append(notes, fmt.Sprintf("%s states another number for missing ones%s.",
			wording.Setting{Field: "OrMissingAs", Go: "OrMissingAs (missingAs in a schema file)"},
			wording.Setting{Go: "; DropMissing leaves out the records that lack one"}))
	}
	if numbers {
		notes[len(notes)-1] += fmt.Sprintf(" A text with a decimal mark other than the stated one is not a number, "+
			"such as 1,5 where the mark is a point: %s finds them.", wording.Of("Check"))
	}
	return notes
}

// forPeople returns p.calibrate for people with up to so many rows: of several a Gaussian mechanism costs as many times
// its μ, and nothing else is known so well.
func forPeople(p plan, rows int, countsMu bool) mechanism.Choice {
	return mechanism.ForPeople(rows, func(epsilon, delta float64) (mechanism.Mechanism, error) {
		return p.calibrate(epsilon, delta, countsMu || rows > 1)
	})
}

// collector returns what forPeople has calibrated for a row.
func collector(m mechanism.Mechanism) statistic.Mechanism {
	if g, ok := m.(mechanism.Group); ok {
		m = g.Of
	}
	return m.(statistic.Mechanism)
}

// partOf is what of a date a column of the schema is.
func partOf(s *frame.Schema, column string) frame.DatePart {
	f, ok := s.Field(column)
	if !ok {
		return frame.NoDate
	}
	return f.Part
}

// unitOf says in what a precision is.
func unitOf(part frame.DatePart) string {
	switch part {
	case frame.Days:
		return "days"
	case frame.Year:
		return "years"
	case frame.Hour:
		return "hours"
	}
	return "in the unit of the column"
}

// number returns what is publicly known of a column of numbers.
func number(s *frame.Schema, column string) (statistic.Number, error) {
	f, ok := s.Field(column)
	switch {
	case !ok:
		return statistic.Number{}, fmt.Errorf("dpnb: %q is not in the schema%s: state its public bounds "+
			"(%s)", column, s.Like(column), wording.Setting{Field: "Schema",
			Go: fmt.Sprintf("Numeric(%q, lower, upper)", column)})
	case f.Kind != frame.Numeric:
		return statistic.Number{}, fmt.Errorf("dpnb: %q has categories in the schema, and a column of numbers is "+
			"wanted: %s says how many records have each of them, and with another column beside it how many of "+
			"each group", column, wording.Setting{Field: "Crosstab", Value: fmt.Sprintf("%q", column),
			Go: fmt.Sprintf("Crosstab(%q)", column)})
	case f.Open:
		return statistic.Number{}, fmt.Errorf("dpnb: %q is Unbounded in the schema: one record could move its mean by "+
			"any amount; state public bounds, beyond which values are moved to them", column)
	}
	return statistic.Number{Lower: f.Lower, Upper: f.Upper}, nil
}
