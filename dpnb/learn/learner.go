// Package learn fits private models to tables. It has tables with what is publicly known about them, budgets, learners,
// models with intervals and predictions, and comparisons. Every learner checks, charges, draws and solves by one and
// the same path. Package dpnb, the command line and programs that build on this module may import it.
package learn

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"sync"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/erm/composite"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/runlog"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
	"github.com/dpnb/notebooks/dpnb/ledger"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// Learner is a way to fit: one of Learners, of which the zero value is right; Quadratic; or Tune.
//
// Fit releases a private model, or returns an error and releases nothing: first everything is checked; then the budget
// is charged; then noise is drawn and the objective minimised to a certified tolerance. An error in the first step
// leaves the ledger as it was; there are no refunds after the second.
//
// FitWithoutPrivacy minimises the same objective, clipping included, without noise and with λ = 1 unless another is
// fixed, with the products and fine cells that a private fit would have at μ = 1, which is ε of about 5. It protects
// nobody and says so wherever it is shown: it is for comparison on public data.
type Learner interface {
	Fit(data *Dataset, allowance Allowance) (*Model, error)
	FitWithoutPrivacy(data *Dataset) (*Model, error)
	// specification says what the one fit path is to do.
	spec() spec
}

// Learners are what the shell offers, errors name and FitOnce knows, beside Quadratic and Tune.
func Learners() []Learner {
	return []Learner{Logistic{}, SVM{}, Linear{}, Huber{}, Quantile{}, Quantiles{}, HeavyTails{}, Poisson{}, Softmax{},
		OneVsRest{}}
}

// those names the learners of which is says so.
func those(is func(p spec) bool) (names string) {
	for _, l := range Learners() {
		if p := l.spec(); is(p) {
			names += ", " + p.learner
		}
	}
	return names[2:]
}

// RecordsFor makes the records that l learns from, as Binary, Regression, Counts or Classes does.
func RecordsFor(l Learner, df DataFrame, target string, opts ...Option) *Dataset {
	return records(df, target, l.spec().task, opts)
}

// own refuses what is not a learner of this package itself: a type that embeds one has its specification, and a Fit
// that could spend on anything the allowance that is for that specification.
func own(l Learner) error {
	if l == nil {
		return errors.New("dpnb: no learner: use Logistic{}, Linear{} or another")
	}
	if t := reflect.TypeOf(l); t.PkgPath() != reflect.TypeFor[Logistic]().PkgPath() {
		return fmt.Errorf("dpnb: a %v is not one of the learners: give the learner itself, such as Logistic{}, and no "+
			"pointer to it or type that embeds it", t)
	}
	return nil
}

// Seed returns the reproducible noise of a seed, for simulations.
func Seed(seed uint64) noise.Source { return noise.NewSeeded(seed) }

// specification is what a learner asks of the fit path. Nothing in it depends on the records, and neither does what its
// functions return: a target is public.
type spec struct {
	// learner as it is typed, what it is called in tables and in the ledger.
	learner, title, entry string
	// task is the records that it learns from.
	task frame.Task
	// loss is that of the labels; level is where its slope is clipped, 0 nowhere.
	loss  func(frame.Target) loss.Loss
	level func(frame.Target) float64
	// informed calibrates the fit of rows that were centred, and of numbers whose unit is their spread (centred); nil
	// has rows as they are.
	informed informed
	// probabilities says that 1/(1 + e^{−xᵀθ}) is the positive class's, or of several classes that the e^{xᵀθ} are in
	// proportion to theirs; if they were fitted apart, each against all others, then the 1/(1 + e^{−xᵀθ}) are.
	probabilities, apart bool
	// hinge is the loss of a support vector machine, by which margins are probabilities.
	hinge loss.Softplus
	// levels of quantiles, which rise; nil for other learners.
	levels []float64

	lambda float64
	// records that were planned for and the share of the positive class; zero if nothing is said of them.
	records  int
	baseRate float64
	bound    objective.Bound
	rule     objpert.LambdaRule
	// ridge ρ > 0 takes λ = σ·max(gρR, s/(2L)) where none is fixed and the bound is Tight, σ the Gaussian mechanism's:
	// the noise alone then moves a prediction xᵀθ by about 1/(gρ) at most, even where there is no data, and the
	// curvature costs little noise. g, from ½ to 1, is few's. Zero leaves λ to the rule. docs/theory/learners.md
	ridge float64
	// curvatureShare is the part of μ² of the budget that the curvature at the coefficients has; zero does not release
	// it.
	curvatureShare float64
	// shared says that what is kept is a μ, of which ε and δ are a part, as of a share of a budget.
	shared bool
	// suited has products and cells in spite of a curvatureShare, with which they make intervals wide.
	suited bool
	// regulariser that is added to the objective.
	regulariser Regulariser
	// own is what the loss has been told by name, zero to have it chosen.
	own parameter
	// check refuses what else the learner was told and cannot be meant; nil for nothing.
	check     func() error
	tolerance float64 // τ; zero has it chosen
	noise     noise.Source
	workers   int
	// weighs says that it learns from records with weights.
	weighs bool
	// pure says that it spends no δ, open that it learns from numbers without bounds.
	pure, open bool
	// convex is what is minimised where there is no δ.
	convex convex
	// replaceOne has the guarantee for a record that is replaced.
	replaceOne bool
	// steps is how many noisy steps there are; 0 for learners that take none.
	steps int
	// smooth is the width by which the loss of a quantile is smoothed; 0 for others.
	smooth float64
	// choose chooses the mechanism and its parameters, with noise what will be drawn from; nil is objective
	// perturbation's.
	choose choice
	// plain fits without privacy at λ; nil minimises the objective of loss.
	plain func(p spec, d *frame.Design, lambda float64) ([]float64, error)
}

// choice is a way to choose a mechanism for (ε, δ). It reads of the records what is public: their features, target and
// bounds.
type choice func(p spec, d *frame.Design, epsilon, delta float64) (mechanism.Mechanism, error)

// chooser is how p chooses a mechanism for records like those of d.
func (p spec) chooser(d *frame.Design) choice {
	switch {
	case p.buys(d):
		return centred
	case p.choose == nil:
		return tilted
	}
	return p.choose
}

// instead has p choose by c, and by nothing else.
func (p *spec) instead(c choice) { p.choose, p.informed, p.weighs = c, nil, false }

// TaskError says that a learner was given records made for another.
type TaskError struct {
	Learner   string
	Want, Got frame.Task
}

// Error implements error.
func (e *TaskError) Error() string {
	return fmt.Sprintf("dpnb: %s learns %s from records made with %s; these were made with %s, for %s",
		e.Learner, e.Want, maker[e.Want], maker[e.Got], those(func(p spec) bool { return p.task == e.Got })) + e.hint()
}

// hint is for the learner that has losses for both tasks.
func (e *TaskError) hint() string {
	if e.Learner == "HeavyTails" && e.Got == frame.TwoClasses {
		return ", or HeavyTails with LogisticLoss or HingeLoss"
	}
	return ""
}

// maker is the function that makes records of a task.
var maker = map[frame.Task]string{frame.TwoClasses: "Binary", frame.Number: "Regression", frame.Count: "Counts",
	frame.ManyClasses: "Classes"}

// suits reports whether p can learn from the records of d.
func (p spec) suits(d *frame.Design) error {
	if d.Target.Task != p.task {
		return &TaskError{Learner: p.learner, Want: p.task, Got: d.Target.Task}
	}
	if d.Encoding != nil && d.Encoding.Open() && !p.open {
		return fmt.Errorf("dpnb: %s needs bounds of every number, and the schema has %s ones: only HeavyTails "+
			"learns from those", p.learner, wording.Of("Unbounded"))
	}
	if d.Target.Weighted {
		switch {
		case !p.weighs:
			return fmt.Errorf("dpnb: %s does not learn from records with weights: leave out %s, or take one of %s",
				p.learner, wording.Weights, those(func(p spec) bool { return p.weighs }))
		case p.pure && d.RowsOfAPerson > 1:
			return fmt.Errorf("dpnb: %s of people with several rows does not learn from records with weights: leave "+
				"out %s, or keep one row of each person", p.learner, wording.Weights)
		case p.pure:
			return fmt.Errorf("dpnb: %s learns from records with weights where there is a δ: leave out %s, or take a "+
				"budget with one", p.learner, wording.Weights)
		case p.curvatureShare > 0:
			return fmt.Errorf("dpnb: %s has no %s where records have weights: what is expected of the curvature is of "+
				"records without; leave it out, or %s", p.learner, wording.Of("CurvatureShare"), wording.Weights)
		case p.regulariser != Regulariser{}:
			return errors.New("dpnb: records with weights are fitted without Regularise: leave one of them out")
		}
	}
	return p.holds(d)
}

// holds reports whether p can learn what must rise in records like those of d (frame.Encoding.Held).
func (p spec) holds(d *frame.Design) error {
	why := ""
	switch {
	case !mustRise(d.Encoding):
		return nil
	case p.task == frame.ManyClasses:
		why = "of several classes one score rises where others fall"
	case p.informed == nil || p.levels != nil || p.pure:
		why = "that is proved for objective perturbation with a δ of SVM, Logistic, Linear, Huber and Poisson"
	case p.curvatureShare != 0:
		why = fmt.Sprintf("no law of the noise is known there, so that a %s buys no intervals: leave it out",
			wording.Of("CurvatureShare"))
	default:
		return nil
	}
	return fmt.Errorf("dpnb: %s does not learn with %s and %s: %s%s", p.learner, wording.Of("Rising"),
		wording.Of("Falling"), why, wording.Setting{Go: ". Shape.Monotone changes a model after the fit"})
}

// mustRise reports whether a column of an encoding, which may be nil, must rise or fall.
func mustRise(e *frame.Encoding) bool { return e != nil && e.Held() != nil }

// weighed returns l, of records with weights Weighted.
func weighed(d *frame.Design, l loss.Loss) loss.Loss {
	if d.Target.Weighted {
		return loss.Weighted{Of: l}
	}
	return l
}

// priced is the part of the fit path that comes before the records: the mechanism and its parameters for what is
// allowed, and what it costs.
func priced(data *Dataset, allowance Allowance, p *spec) (mechanism.Mechanism, ledger.Entry, error) {
	none := ledger.Entry{}
	if err := data.Err(); err != nil {
		return nil, none, err
	}
	if p.noise = allowance.Noise(p.noise); data.remote {
		if mustRise(data.design.Encoding) {
			rising, there := fmt.Sprint(wording.Of("Rising"), " and ", wording.Of("Falling")), wording.Of("PassesBy")
			return nil, none, fmt.Errorf("dpnb: %s are of records that are centred by a mean that is bought, and "+
				"passes that are made elsewhere (%s) leave records as they are stored: leave out %[2]s, or leave out "+
				"%[1]s%[3]s",
				rising, there, wording.Setting{Go: " and make the shape rise after the fit, by Shape.Monotone"})
		}
		p.informed = nil // rows that are added up elsewhere stay as they are
	}
	if p.convex.loss != nil && (p.pure || allowance.part.Delta == 0) {
		*p = p.withoutDelta()
	}
	if p.pure {
		var err error
		if allowance, err = allowance.withoutDelta(p.learner); err != nil {
			return nil, none, err
		}
	}
	if err := allowance.reads(data); err != nil {
		return nil, none, err
	}
	if err := allowance.check(p.noise); err != nil {
		return nil, none, err
	}
	if err := p.valid(); err != nil {
		return nil, none, err
	}
	d := data.design
	if err := cmp.Or(p.suits(d), p.withinThreshold(d.Target)); err != nil {
		return nil, none, err
	}
	if mustRise(d.Encoding) && !p.buys(d) {
		return nil, none, errors.New("dpnb: Rising and Falling are of records whose mean is bought: leave out " +
			"Lambda, the rule, the bound and Regularise")
	}
	p.shared = allowance.part.Mu > 0
	choose := p.chooser(d)
	one := mechanism.Choice(func(epsilon, delta float64) (mechanism.Mechanism, error) {
		return choose(*p, d, epsilon, delta)
	})
	if p.replaceOne {
		refused := func(why string) (mechanism.Mechanism, ledger.Entry, error) {
			return nil, none, &privacy.ParamError{Name: "ReplaceOne", Value: true, Want: "false " + why}
		}
		switch {
		case d.RowsOfAPerson > 1:
			return refused("where a person has several rows: who replaces a person can have another number of them")
		case p.pure:
			return refused("where no δ is spent: what is of ε for a record more or less is of 2ε for one replaced, " +
				"and every report says so")
		}
		one = mechanism.ForReplacement(one)
	}
	m, price, err := allowance.priced(mechanism.ForPeople(d.RowsOfAPerson, one))
	var bad *privacy.ParamError
	if errors.As(err, &bad) && bad.Name == "Delta" {
		others := "these do not: " + those(func(p spec) bool { return p.pure || p.convex.loss != nil })
		if p.task == frame.ManyClasses {
			others = "so does every learner of several classes"
		}
		err = fmt.Errorf("%w; %s needs a δ, and %s", err, p.learner, others)
	}
	if p.pure {
		price.Delta = 0 // what it is alone, whatever a share was calculated with
	}
	return m, price, err
}

// fit is the one path from records to a private model.
func fit(data *Dataset, allowance Allowance, p spec) (model *Model, err error) {
	defer matrix.Reading(&err)()
	data = p.seen(data, allowance.part.Delta == 0)
	m, price, err := priced(data, allowance, &p)
	if err != nil {
		return nil, err
	}
	free, err := data.affords(m, p.learner)
	if err != nil {
		return nil, err
	}
	defer free()
	d, err := data.whole()
	if err != nil {
		return nil, err
	}
	if err := m.Feasible(d.Width(), p.records); err != nil {
		return nil, err
	}
	if err := movable(d, m); err != nil {
		return nil, err
	}
	charge := sync.OnceValue(func() error {
		return allowance.charge(price, m, p.named(m.Describe()), p.noise)
	})
	r, err := m.Run(d.Rows, d.Labels, p.noise, &mechanism.Settings{Workers: p.workers, Charge: charge})
	if err == nil {
		err = charge() // of a mechanism that has not charged: nothing is released unpaid
	}
	if err != nil {
		return nil, err
	}
	r.Guarantee.Epsilon, r.Guarantee.Delta = price.Epsilon, price.Delta
	protects(&r.Guarantee, data.design)
	if seed, ok := r.Seed(); ok && r.Simulated() && !allowance.simulation {
		if err := runlog.Append(runlog.KindSeed, runlog.Seed{Name: "noise", Seed: seed}); err != nil {
			return nil, err
		}
	}
	fitted := r.Fitted
	if best, ok := fitted.(bestOf); ok { // of records that another choice may have
		fitted, p, d = best.Won, best.choices[best.Chosen].spec, best.choices[best.Chosen].design
	}
	design, theta := used(d, r)
	model = newModel(p, design, theta, r.Also)
	model.keep(r)
	model.source.Person = data.design.Person
	model.lambda, model.ran, model.hinge = r.Fitted.Describe().Lambda, m, hingeOf(model.hinge, fitted)
	model.paid, model.partition = allowance.paid(price), allowance.partition
	return model, nil
}

// protects says in g that it is of people, where one row of each of them is in d.
func protects(g *mechanism.Guarantee, d *frame.Design) {
	if d.RowsOfAPerson == 1 {
		g.Rows = 1
	}
}

// named is the entry of a mechanism in the ledger.
func (p spec) named(d mechanism.Description) string {
	name := d.Name + ", " + p.entry
	if d.Also != "" {
		name += ", " + d.Also
	}
	return name
}

// fitWithoutPrivacy minimises the same objective without noise.
func fitWithoutPrivacy(data *Dataset, p spec) (m *Model, err error) {
	defer matrix.Reading(&err)()
	if err := data.Err(); err != nil {
		return nil, err
	}
	if err := p.valid(); err != nil {
		return nil, err
	}
	if err := p.suits(data.design); err != nil {
		return nil, err
	}
	hatted := p
	hatted.lambda = 0 // a ridge that is fixed keeps curves where nothing is drawn
	d, err := hatted.seen(data, false).whole()
	if err != nil {
		return nil, err
	}
	lambda, plain := orElse(p.lambda, 1), p.plain
	if plain == nil {
		plain = minimise
	}
	detailed, b := hatted.detailed(d)
	theta, err := plain(p, detailed, lambda)
	if err != nil {
		return nil, err
	}
	if b != nil {
		b.Raw = theta
		m = newModel(p, d, theta, b)
		m.plain, m.theta = b, b.Placing()
	} else {
		m = newModel(p, d, theta, nil)
	}
	if p.levels == nil && !p.open { // others have no ridge
		m.lambda = lambda
	}
	return m, nil
}

// minimise returns the minimiser of the objective without noise.
func minimise(p spec, d *frame.Design, lambda float64) ([]float64, error) {
	var added composite.Regulariser
	held := p.regulariser.constraint(d)
	if p.regulariser != (Regulariser{}) {
		r, err := p.regulariser.composite(d)
		if err != nil {
			return nil, err
		}
		added = r
	} else if mustRise(d.Encoding) {
		_, width := d.Rows.Dims()
		cone, err := composite.NewCone(width, d.Encoding.Held())
		if err != nil {
			return nil, err
		}
		held = cone
	}
	return p.solved(erm.Problem{Rows: d.Rows, Labels: d.Labels, Loss: p.clipped(d), Lambda: lambda}, added, held,
		erm.Settings{Tolerance: p.tolerance})
}

// clip returns the norm C at which gradients are clipped, 0 for none: that with which the level C/R, R the bound on the
// rows, is to the last bit the slope asked for.
func (p spec) clip(d *frame.Design) float64 {
	if p.level == nil {
		return 0
	}
	level := p.level(d.Target)
	c := level * d.RowNorm
	for _, near := range []float64{c, math.Nextafter(c, 0), math.Nextafter(c, math.Inf(1))} {
		if near/d.RowNorm == level {
			return near
		}
	}
	return c
}

func (p spec) clipped(d *frame.Design) loss.Loss {
	l := weighed(d, p.loss(d.Target))
	if c := p.clip(d); c != 0 {
		return loss.ClippedAt(l, c, d.RowNorm)
	}
	return l
}
