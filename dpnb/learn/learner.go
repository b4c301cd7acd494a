// Package learn fits private models to tables: tables with what is publicly known of
// them, budgets, learners, models with intervals and predictions, comparisons. There is
// one path by which every learner checks, charges, draws and solves. The front door, the
// command line and programs that build on this module may enter; no other room does.
package learn

import (
	"fmt"
	"math"
	"sync"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/runlog"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"

	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"

	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/interval"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// Learner is a way to fit: Logistic, SVM, Linear, Huber, Poisson, Softmax,
// OneVsRest. The zero value of each is right.
//
// Fit releases a private model, or returns an error and releases nothing: first
// everything is checked; then the budget is charged; then noise is drawn and the
// objective minimised to a certified tolerance. An error of the first step leaves
// the ledger as it was; there are no refunds after the second.
//
// FitWithoutPrivacy minimises the same objective, clipping included, without
// noise and with λ = 1 where none is fixed. It protects nobody and says so
// wherever it is shown: it is for comparison on public data.
type Learner interface {
	Fit(data *Dataset, allowance Allowance) (*Model, error)
	FitWithoutPrivacy(data *Dataset) (*Model, error)
	// plan says what the one fit path is to do.
	plan() plan
}

// Seed returns the reproducible noise of a seed, for simulations.
func Seed(seed uint64) noise.Source { return noise.NewSeeded(seed) }

// plan is what a learner asks of the fit path. Nothing in it depends on the
// records, and neither does what its functions return: a target is public.
type plan struct {
	// learner as it is typed, what it is called in tables and in the ledger.
	learner, title, entry string
	// task is the records that it learns from.
	task frame.Task
	// loss is that of the labels; level is where its slope is clipped, 0 nowhere.
	loss  func(frame.Target) loss.Loss
	level func(frame.Target) float64
	// probabilities says that 1/(1 + e^{−xᵀθ}) is the positive class's.
	probabilities bool

	lambda float64
	// records that were planned for and the share of the positive class; zero if
	// nothing is said of them.
	records  int
	baseRate float64
	bound    objective.Bound
	rule     objpert.LambdaRule
	// ridge ρ > 0 takes λ = σ·max(ρR, s/(2L)) where none is fixed and the bound is
	// Tight, σ the Gaussian mechanism's: the noise alone then moves a prediction
	// xᵀθ by about 1/ρ at most, even where there is no data, and the curvature
	// costs little noise. Zero leaves λ to the rule. docs/theory/learners.md
	ridge float64
	// curvatureShare is the part of μ² of the budget that the curvature at the
	// coefficients has; zero does not release it.
	curvatureShare float64
	// own is what the loss has been told by name, zero to have it chosen.
	own       parameter
	tolerance float64 // τ; zero has it chosen
	noise     noise.Source
	workers   int
	// prepare chooses the mechanism's parameters, with p.noise what will be drawn
	// from; nil is objective perturbation's.
	prepare func(p plan, d *frame.Design, epsilon, delta float64) (prepared, error)
	// plain fits without privacy at λ; nil minimises the objective of loss.
	plain func(p plan, d *frame.Design, lambda float64) ([]float64, error)
}

// prepared is a mechanism with all its parameters, before it has met a record.
type prepared struct {
	// entry names it in the ledger.
	entry  string
	lambda float64
	// check refuses records that run would refuse, before any noise is drawn.
	check func() error
	run   func(src noise.Source) (*mechanism.Release, error)
	// settled is what run has made of it, where λ is chosen there; nil elsewhere.
	settled *prepared
	// objective is the mechanism, if it is objective perturbation.
	objective *objpert.Objective
	// alone puts intervals on what is released, from that alone; nil if the noise is
	// not in the objective.
	alone intervalsOf
	// curvature is where run puts what it released of that; nil if nothing.
	curvature *interval.Moments
}

// TaskError says that a learner was given records made for another.
type TaskError struct {
	Learner   string
	Want, Got frame.Task
}

// Error implements error.
func (e *TaskError) Error() string {
	return fmt.Sprintf("dpnb: %s learns %s from records made with %s; these were made with %s, for %s",
		e.Learner, e.Want, maker[e.Want], maker[e.Got], fitting[e.Got])
}

// maker is the function that makes records of a task, fitting the learners that
// take them.
var (
	maker   = map[frame.Task]string{frame.TwoClasses: "Binary", frame.Number: "Regression", frame.Count: "Counts", frame.ManyClasses: "Classes"}
	fitting = map[frame.Task]string{frame.TwoClasses: "Logistic or SVM", frame.Number: "Linear or Huber", frame.Count: "Poisson", frame.ManyClasses: "Softmax or OneVsRest"}
)

// suits reports whether p can learn from the records of d.
func (p plan) suits(d *frame.Design) error {
	if d.Target.Task != p.task {
		return &TaskError{Learner: p.learner, Want: p.task, Got: d.Target.Task}
	}
	return nil
}

// fit is the one path from records to a private model.
func fit(data *Dataset, allowance Allowance, p plan) (*Model, error) {
	if err := data.Err(); err != nil {
		return nil, err
	}
	src := p.noise
	if src == nil {
		src = noise.NewSecure()
	}
	if err := allowance.check(src); err != nil {
		return nil, err
	}
	if err := p.valid(); err != nil {
		return nil, err
	}
	d := data.design
	if err := p.suits(d); err != nil {
		return nil, err
	}
	p.noise = src
	prepare := p.prepare
	if prepare == nil {
		prepare = perturbObjective
	}
	m, err := prepare(p, d, allowance.epsilon, allowance.delta)
	if err != nil {
		return nil, err
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	if err := allowance.charge(m.entry, src); err != nil {
		return nil, err
	}
	r, err := m.run(src)
	if err != nil {
		return nil, err
	}
	r.Guarantee.Epsilon, r.Guarantee.Delta = allowance.epsilon, allowance.delta
	if seed, ok := r.Seed(); ok && r.Simulated() && !allowance.simulation {
		if err := runlog.Append(runlog.KindSeed, runlog.Seed{Name: "noise", Seed: seed}); err != nil {
			return nil, err
		}
	}
	model := newModel(p, d, r.Coefficients)
	if m.settled != nil {
		m = *m.settled
	}
	model.Release, model.lambda, model.objective, model.curvature, model.alone = r, m.lambda, m.objective, m.curvature, m.alone
	return model, nil
}

// fitWithoutPrivacy minimises the same objective without noise.
func fitWithoutPrivacy(data *Dataset, p plan) (*Model, error) {
	if err := data.Err(); err != nil {
		return nil, err
	}
	if err := p.valid(); err != nil {
		return nil, err
	}
	d := data.design
	if err := p.suits(d); err != nil {
		return nil, err
	}
	lambda := p.lambda
	if lambda == 0 {
		lambda = 1
	}
	plain := p.plain
	if plain == nil {
		plain = minimise
	}
	theta, err := plain(p, d, lambda)
	if err != nil {
		return nil, err
	}
	m := newModel(p, d, theta)
	m.lambda = lambda
	return m, nil
}

// minimise returns the minimiser of the objective without noise.
func minimise(p plan, d *frame.Design, lambda float64) ([]float64, error) {
	s, err := erm.Minimize(&erm.Problem{Rows: d.Rows, Labels: d.Labels, Loss: p.clipped(d), Lambda: lambda}, &erm.Settings{Workers: p.workers, Tolerance: p.tolerance})
	if err != nil {
		return nil, err
	}
	return s.Theta, nil
}

// clip returns the norm C at which gradients are clipped, 0 for none: that with
// which the level C/R, R the bound on the rows, is to the last bit the slope asked for.
func (p plan) clip(d *frame.Design) float64 {
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

// clipped returns the loss with its gradients clipped.
func (p plan) clipped(d *frame.Design) loss.Loss {
	l := p.loss(d.Target)
	if c := p.clip(d); c != 0 {
		return loss.ClippedAt(l, c, d.RowNorm)
	}
	return l
}

// calibration asks for the mechanism of p with records like those of d.
func (p plan) calibration(d *frame.Design, epsilon, delta float64) objpert.Config {
	c := objpert.Config{
		Loss: p.loss(d.Target), Clip: p.clip(d), RowNorm: d.RowNorm, Epsilon: epsilon, Delta: delta,
		Adjacency: privacy.AddRemove, Lambda: p.lambda, Bound: p.bound, Rule: p.rule, Tolerance: p.tolerance,
	}
	// In the Gaussian case ridges are raised after the calibration: perturbObjective.
	if p.records != 0 && p.bound != 0 && p.bound != objective.Tight {
		c.Planned = objpert.Planned{Records: p.records, Features: d.Rows.D}
	}
	return c
}

// perturbObjective prepares objective perturbation, and the release of its
// curvature if that has a share of the budget.
func perturbObjective(p plan, d *frame.Design, epsilon, delta float64) (prepared, error) {
	if share := p.curvatureShare; share != 0 && !(share > 0 && share < 1) {
		return prepared{}, &privacy.ParamError{Name: "CurvatureShare", Value: share, Want: "a number in (0, 1), for example 0.1, or 0 to spend nothing on intervals"}
	}
	if r := p.baseRate; r != 0 && !(r > 0 && r < 1) {
		return prepared{}, &privacy.ParamError{Name: "BaseRate", Value: r, Want: "the public share of the positive class, in (0, 1), or 0 if it is not known"}
	}
	if p.counts() {
		return perturbCounted(p, d, epsilon, delta)
	}
	k, err := perturbation(p, d, epsilon, delta)
	if err != nil {
		return prepared{}, err
	}
	if p.records != 0 && p.lambda == 0 && k.Fit.Gaussian() {
		planned := objpert.Planned{Records: p.records, Features: d.Rows.D}
		if err := planned.Validate(); err != nil {
			return prepared{}, err
		}
		k.Fit = k.Fit.Suited(planned, intercept(d), p.baseRate)
	}
	return fitted(k, p, d), nil
}

// perturbation calibrates objective perturbation and, if that has a share, the
// release of its curvature; else only Fit is set.
func perturbation(p plan, d *frame.Design, epsilon, delta float64) (interval.Curvature, error) {
	c, share := p.calibration(d, epsilon, delta), p.curvatureShare
	if c.Lambda == 0 && p.ridge > 0 && c.Bound == objective.Tight {
		unit, err := privacy.GaussianSigma(epsilon, delta)
		if err != nil {
			return interval.Curvature{}, err
		}
		l := p.clipped(d)
		// The fit's share of μ² makes the noise that much larger.
		c.Lambda = unit / math.Sqrt(1-share) * d.RowNorm * d.RowNorm * math.Max(p.ridge*l.Lipschitz(), 0.5*l.Smoothness())
	}
	if share == 0 {
		m, err := calibratedObjective(c)
		return interval.Curvature{Fit: m}, err
	}
	type key struct {
		objpert.Config
		share float64
	}
	return calibrated(key{c, share}, func() (interval.Curvature, error) {
		_, k, err := interval.Calibrate(c, interval.Share{Curvature: share})
		return k, err
	})
}

func calibratedObjective(c objpert.Config) (objpert.Objective, error) {
	return calibrated(c, func() (objpert.Objective, error) { return objpert.Calibrate(c) })
}

// fitted is what perturbation has calibrated, ready to meet the records.
func fitted(k interval.Curvature, p plan, d *frame.Design) prepared {
	if k.Sigma == 0 {
		return objectivePerturbation(k.Fit, p, d)
	}
	return withCurvature(k, p, d)
}

func objectivePerturbation(m objpert.Objective, p plan, d *frame.Design) prepared {
	return prepared{
		entry: "objective perturbation, " + p.entry, lambda: m.Lambda + m.Shrinkage, objective: &m,
		check: func() error {
			if err := m.Check(d.Rows, d.Labels); err != nil {
				return err
			}
			return certifiable(m.Attainable(d.Rows.D, p.records))
		},
		run: func(src noise.Source) (*mechanism.Release, error) {
			return m.Run(d.Rows, d.Labels, src, p.settings())
		},
		alone: func(theta []float64, level float64) (*interval.Intervals, error) {
			return interval.FromRelease(m, theta, level)
		},
	}
}

// certifiable refuses a fit of which it is not known from experience that it comes to
// an end, with what is public alone and before it is paid for.
func certifiable(a objpert.Attainable) error {
	a.Sure = true
	return a.Validate()
}

// withCurvature is objectivePerturbation with the release of the curvature at
// its coefficients: two mechanisms, one charge.
func withCurvature(k interval.Curvature, p plan, d *frame.Design) prepared {
	out := objectivePerturbation(k.Fit, p, d)
	out.entry += ", with its curvature"
	checkFit := out.check
	out.check = func() error {
		if err := k.Validate(); err != nil {
			return err
		}
		return checkFit()
	}
	out.curvature = new(interval.Moments)
	out.run = func(src noise.Source) (*mechanism.Release, error) {
		r, moments, err := k.Release(d.Rows, d.Labels, src, p.settings())
		if err != nil {
			return nil, err
		}
		r.Mechanism += fmt.Sprintf(", and its curvature with noise of %.5g", k.Sigma)
		*out.curvature = *moments
		return r, nil
	}
	return out
}

// settings of a run.
func (p plan) settings() *mechanism.Settings { return &mechanism.Settings{Workers: p.workers} }

// calibrations remembers what was calibrated: the tight bound takes a tenth of a
// second, and a measurement makes the same fit with many seeds.
var calibrations sync.Map

// calibrated returns what find returns for such a key, which says all that find
// depends on.
func calibrated[T any](key any, find func() (T, error)) (T, error) {
	if m, ok := calibrations.Load(key); ok {
		return m.(T), nil
	}
	m, err := find()
	if err == nil {
		calibrations.Store(key, m)
	}
	return m, err
}
