package learn

import (
	"slices"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// Mechanism is a way to fit privately that Compare can compare with others.
type Mechanism interface {
	// Name is its name in tables.
	Name() string
	// Fit is Learner.Fit with the given noise. Its error is a *TaskError (wrapped or not) where the mechanism cannot
	// learn from such records.
	Fit(data *Dataset, allowance Allowance, src noise.Source) (*Model, error)
}

// MechanismOf is the mechanism of a learner: dpnb.MechanismOf("SVM", func(src noise.Source) dpnb.Learner { return
// dpnb.SVM{Noise: src} }).
func MechanismOf(name string, learner func(src noise.Source) Learner) Mechanism {
	return mechanismFunc{name, func(data *Dataset, a Allowance, src noise.Source) (*Model, error) {
		l := learner(src)
		if err := own(l); err != nil {
			return nil, err
		}
		return l.Fit(data, a)
	}}
}

type mechanismFunc struct {
	name string
	fit  func(data *Dataset, a Allowance, src noise.Source) (*Model, error)
}

// Name implements Mechanism.
func (m mechanismFunc) Name() string { return m.name }

// Fit implements Mechanism.
func (m mechanismFunc) Fit(data *Dataset, a Allowance, src noise.Source) (*Model, error) {
	return m.fit(data, a, src)
}

// standard returns the learner that stands for a task in comparisons.
func standard(data *Dataset) (spec, error) {
	if err := data.Err(); err != nil {
		return spec{}, err
	}
	switch task := data.design.Target.Task; task {
	case frame.Number:
		return Linear{}.spec(), nil
	case frame.Count:
		return Poisson{}.spec(), nil
	case frame.ManyClasses:
		return Softmax{}.spec(), nil
	default:
		return Logistic{}.spec(), nil
	}
}

// changed is the standard learner of the given tasks with its specification changed.
func changed(name string, change func(*spec), tasks ...frame.Task) Mechanism {
	return mechanismFunc{name, func(data *Dataset, a Allowance, src noise.Source) (*Model, error) {
		p, err := standard(data)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(tasks, p.task) {
			return nil, &TaskError{Learner: name, Want: tasks[0], Got: p.task}
		}
		p.noise, p.workers, p.convex = src, 1, convex{} // compared at a δ
		change(&p)
		return fit(data, a, p)
	}}
}

// smallest calibrates as rkw23, section 5: the smallest λ for 1.3 times the Gaussian mechanism's noise, by the given
// accounting.
func smallest(b objective.Bound) func(*spec) {
	return func(p *spec) { p.bound, p.rule, p.ridge = b, objpert.SmallestLambda, 0 }
}

var oneForm = []frame.Task{frame.TwoClasses, frame.Number, frame.Count}

// AllMechanisms has every mechanism that can be compared; a table leaves out those that do not apply to its records.
// None is tuned on the records.
//
//   - objective perturbation of Logistic, Linear, Poisson or Softmax, whichever
//     suits the records, with λ and σ as this project chooses them;
//   - the same with the smallest λ at 1.3 times the Gaussian mechanism's noise by
//     older accountings (dtz24; rkw23), or as Kifer, Smith and Thakurta 2012
//     fix both (KST12);
//   - OneVsRest;
//   - output perturbation, with the λ at which the noise moves a prediction xᵀθ by
//     1/2 (classes) or 1/24 (numbers, counts);
//   - DP-SGD with Adam: 20 passes in batches of 256, a fixed learning rate that
//     did well on public data; it uses the private number of records:
//     refused for noise that is not from a seed;
//   - AdaSSP, boosted too, and the functional mechanism, for least squares;
//   - gradient descent on all records, with adaptive steps;
//   - DP-EBM, boosted step functions of each column.
//
// TukeyEM, TunedSGD and ConvolvedMedian are separate, because they need a public number of records.
var AllMechanisms = []Mechanism{
	changed("objective perturbation", func(*spec) {}, frame.TwoClasses, frame.Number, frame.Count, frame.ManyClasses),
	changed("objective perturbation, as in dtz24", smallest(objective.DTZ24), oneForm...),
	changed("objective perturbation, as in rkw23", smallest(objective.RKW23), oneForm...),
	changed("objective perturbation, as in KST12", func(p *spec) { p.instead(asKST12) }, oneForm...),
	MechanismOf("one-vs-rest", func(src noise.Source) Learner { return OneVsRest{Noise: src, Workers: 1} }),
	changed("output perturbation", func(p *spec) { p.instead(output) }, oneForm...),
	changed("DP-SGD, learning rate not paid for", func(p *spec) { p.instead(descent) }, oneForm...),
	changed("AdaSSP", func(p *spec) { p.instead(adaSSP) }, frame.Number),
	changed("functional mechanism", func(p *spec) { p.instead(functional) }, frame.Number),
	changed("boosted AdaSSP", func(p *spec) { p.instead(boosted) }, frame.Number),
	changed("noisy gradient descent", func(p *spec) { p.instead(fullBatch) }, oneForm...),
	additiveSteps,
}
