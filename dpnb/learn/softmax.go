package learn

import (
	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/erm/softmax"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"

	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/interval"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/multiclass"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Softmax is multinomial logistic regression for several classes (Classes), one
// joint fit by objective perturbation. The zero value is right.
type Softmax struct {
	// Lambda fixes the ridge λ of the sum objective Σℓ + (λ/2)‖θ‖²; zero has it
	// chosen. It must not be chosen by looking at the records.
	Lambda float64
	// Noise is the source of the noise; nil is noise.NewSecure().
	Noise noise.Source
	// Workers is the number of goroutines; zero means one for each processor.
	Workers int
	// Bound is how to account; zero is right.
	Bound multiclass.Bound
}

// Fit releases a private model: see Learner.
func (l Softmax) Fit(data *Dataset, allowance Allowance) (*Model, error) {
	return fit(data, allowance, l.plan())
}

// FitWithoutPrivacy returns the ordinary fit, for comparison on public data.
func (l Softmax) FitWithoutPrivacy(data *Dataset) (*Model, error) {
	return fitWithoutPrivacy(data, l.plan())
}

func (l Softmax) plan() plan {
	return plan{
		learner: "Softmax", title: "softmax regression", entry: "softmax", task: frame.ManyClasses,
		lambda: l.Lambda, noise: l.Noise, workers: l.Workers,
		prepare: func(p plan, d *frame.Design, epsilon, delta float64) (prepared, error) {
			type key struct {
				multiclass.Config
				multiclass.Bound
			}
			c := p.classes(d, epsilon, delta)
			m, err := calibrated(key{c, l.Bound}, func() (multiclass.Softmax, error) { return multiclass.CalibrateSoftmax(c, l.Bound) })
			y := places(d)
			return prepared{
				entry: "objective perturbation, " + p.entry, lambda: m.Lambda,
				check: func() error {
					if err := m.Check(d.Rows, y); err != nil {
						return err
					}
					return certifiable(m.Attainable(d.Rows.D))
				},
				run: func(src noise.Source) (*mechanism.Release, error) {
					return released(m.Run(d.Rows, y, src, p.settings()))
				},
				alone: func(theta []float64, level float64) (*interval.Intervals, error) {
					return interval.FromSoftmax(m, theta, level)
				},
			}, err
		},
		plain: func(p plan, d *frame.Design, lambda float64) ([]float64, error) {
			s, err := softmax.Minimize(&softmax.Problem{Rows: d.Rows, Labels: places(d), Classes: len(d.Target.Classes), Lambda: lambda},
				&softmax.Settings{Workers: p.workers, Tolerance: p.tolerance})
			if err != nil {
				return nil, err
			}
			return s.Theta, nil
		},
	}
}

// OneVsRest is one logistic regression for each of several classes (Classes),
// its records against all others, by objective perturbation with composed
// privacy. For the same guarantee it needs more noise than Softmax. The zero
// value is right.
type OneVsRest struct {
	// Lambda fixes the ridge λ of each fit; zero has it chosen. It must not be
	// chosen by looking at the records.
	Lambda float64
	// Noise is the source of the noise; nil is noise.NewSecure().
	Noise noise.Source
	// Workers is the number of goroutines; zero means one for each processor.
	Workers int
}

// Fit releases a private model: see Learner.
func (l OneVsRest) Fit(data *Dataset, allowance Allowance) (*Model, error) {
	return fit(data, allowance, l.plan())
}

// FitWithoutPrivacy returns the ordinary fits, for comparison on public data.
func (l OneVsRest) FitWithoutPrivacy(data *Dataset) (*Model, error) {
	return fitWithoutPrivacy(data, l.plan())
}

func (l OneVsRest) plan() plan {
	return plan{
		learner: "OneVsRest", title: "one-vs-rest logistic regression", entry: "one-vs-rest logistic", task: frame.ManyClasses,
		lambda: l.Lambda, noise: l.Noise, workers: l.Workers,
		prepare: func(p plan, d *frame.Design, epsilon, delta float64) (prepared, error) {
			c := p.classes(d, epsilon, delta)
			m, err := calibrated(c, func() (multiclass.OneVsRest, error) { return multiclass.CalibrateOneVsRest(c, loss.Logistic{}) })
			y := places(d)
			return prepared{
				entry: "objective perturbation, " + p.entry, lambda: m.Binary.Lambda,
				check: func() error {
					if err := m.Check(d.Rows, y); err != nil {
						return err
					}
					return certifiable(m.Binary.Attainable(d.Rows.D, 0))
				},
				run: func(src noise.Source) (*mechanism.Release, error) {
					return released(m.Run(d.Rows, y, src, p.settings()))
				},
				alone: func(theta []float64, level float64) (*interval.Intervals, error) {
					return interval.FromOneVsRest(m, theta, level)
				},
			}, err
		},
		plain: func(p plan, d *frame.Design, lambda float64) ([]float64, error) {
			var theta []float64
			against := make([]float64, len(d.Labels))
			for c := range d.Target.Classes {
				for i, y := range d.Labels {
					if against[i] = -1; y == float64(c) {
						against[i] = 1
					}
				}
				s, err := erm.Minimize(&erm.Problem{Rows: d.Rows, Labels: against, Loss: loss.Logistic{}, Lambda: lambda},
					&erm.Settings{Workers: p.workers, Tolerance: p.tolerance})
				if err != nil {
					return nil, err
				}
				theta = append(theta, s.Theta...)
			}
			return theta, nil
		},
	}
}

// classes asks for a mechanism of several classes with records like those of d.
func (p plan) classes(d *frame.Design, epsilon, delta float64) multiclass.Config {
	return multiclass.Config{
		Classes: len(d.Target.Classes), RowNorm: d.RowNorm, Epsilon: epsilon, Delta: delta,
		Adjacency: privacy.AddRemove, Lambda: p.lambda, Tolerance: p.tolerance,
	}
}

// places returns the labels as the places of their classes.
func places(d *frame.Design) []int {
	y := make([]int, len(d.Labels))
	for i, l := range d.Labels {
		y[i] = int(l)
	}
	return y
}

// released returns the part of a release that all mechanisms have.
func released(r *multiclass.Release, err error) (*mechanism.Release, error) {
	if err != nil {
		return nil, err
	}
	return &r.Release, nil
}
