package learn

import (
	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/multiclass"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// Softmax is multinomial logistic regression for several classes (Classes), one joint fit by objective perturbation.
// The zero value has sensible defaults.
type Softmax struct {
	// Lambda fixes the ridge λ of the sum objective Σℓ + (λ/2)‖θ‖²; if zero, λ is chosen automatically. It must not be
	// set by looking at the records.
	Lambda float64
	// Noise is the source of the noise; nil is noise.NewSecure().
	Noise noise.Source
	// Workers is the number of goroutines; zero means one for each processor.
	Workers int
	// Bound selects the accounting; zero is right.
	Bound multiclass.Bound
}

// Fit releases a private model: see Learner.
func (l Softmax) Fit(data *Dataset, allowance Allowance) (*Model, error) {
	return fit(data, allowance, l.spec())
}

// FitWithoutPrivacy returns the ordinary fit, for comparison on public data.
func (l Softmax) FitWithoutPrivacy(data *Dataset) (*Model, error) {
	return fitWithoutPrivacy(data, l.spec())
}

func (l Softmax) spec() spec {
	var known informed
	if l.Bound == multiclass.Vertex {
		known = joint
	}
	return spec{
		learner: "Softmax", title: "softmax regression", entry: "softmax", task: frame.ManyClasses,
		probabilities: true, informed: known,
		lambda: l.Lambda, noise: l.Noise, workers: l.Workers,
		choose: func(p spec, d *frame.Design, epsilon, delta float64) (mechanism.Mechanism, error) {
			type key struct {
				multiclass.Config
				multiclass.Bound
			}
			c := classes(d, p.asked(d, epsilon, delta))
			return chosen(calibrated(key{c, l.Bound}, func() (multiclass.Softmax,
				error) {
				return multiclass.CalibrateSoftmax(c, l.Bound)
			}))
		},
		plain: func(p spec, d *frame.Design, lambda float64) ([]float64, error) {
			return p.solved(erm.Problem{Rows: d.Rows, Labels: d.Labels,
				Joint: loss.Softmax{Classes: len(d.Target.Classes)}, Lambda: lambda}, nil, nil,
				erm.Settings{Tolerance: p.tolerance})
		},
	}
}

// joint calibrates a softmax fit of centred rows.
func joint(_ spec, d *frame.Design, _, _ float64, c objpert.Config) (mechanism.Informed, func(float64) float64,
	error) {
	fit, err := multiclass.CalibrateSoftmax(classes(d, c), multiclass.Vertex)
	return fit, func(share float64) float64 { return fit.Part(share, c.Reserved) }, err
}

// each calibrates fits of centred rows, one for each class.
func each(_ spec, d *frame.Design, _, _ float64, c objpert.Config) (mechanism.Informed, func(float64) float64,
	error) {
	fit, err := multiclass.CalibrateOneVsRest(classes(d, c), loss.Logistic{})
	return fit, func(share float64) float64 { return fit.Part(share, c.Reserved) }, err
}

// OneVsRest is one logistic regression for each of several classes (Classes), its records against all others, by
// objective perturbation with composed privacy. For the same guarantee it needs more noise than Softmax. The zero value
// has sensible defaults.
type OneVsRest struct {
	// Lambda fixes the ridge λ of each fit; if zero, λ is chosen automatically. It must not be chosen by looking at the
	// records.
	Lambda float64
	// Noise is the source of the noise; nil is noise.NewSecure().
	Noise noise.Source
	// Workers is the number of goroutines; zero means one for each processor.
	Workers int
}

// Fit releases a private model: see Learner.
func (l OneVsRest) Fit(data *Dataset, allowance Allowance) (*Model, error) {
	return fit(data, allowance, l.spec())
}

// FitWithoutPrivacy returns the ordinary fits, for comparison on public data.
func (l OneVsRest) FitWithoutPrivacy(data *Dataset) (*Model, error) {
	return fitWithoutPrivacy(data, l.spec())
}

func (l OneVsRest) spec() spec {
	return spec{
		learner: "OneVsRest", title: "one-vs-rest logistic regression", entry: "one-vs-rest logistic",
		task: frame.ManyClasses, probabilities: true, apart: true, informed: each,
		lambda: l.Lambda, noise: l.Noise, workers: l.Workers,
		choose: func(p spec, d *frame.Design, epsilon, delta float64) (mechanism.Mechanism, error) {
			c := classes(d, p.asked(d, epsilon, delta))
			return chosen(calibrated(c, func() (multiclass.OneVsRest, error) {
				return multiclass.CalibrateOneVsRest(c,
					loss.Logistic{})
			}))
		},
		plain: func(p spec, d *frame.Design, lambda float64) ([]float64, error) {
			var theta []float64
			against := make([]float64, len(d.Labels))
			for c := range d.Target.Classes {
				for i, y := range d.Labels {
					if against[i] = -1; y == float64(c) {
						against[i] = 1
					}
				}
				one, err := p.solved(erm.Problem{Rows: d.Rows, Labels: against, Loss: loss.Logistic{}, Lambda: lambda},
					nil, nil, erm.Settings{Tolerance: p.tolerance})
				if err != nil {
					return nil, err
				}
				theta = append(theta, one...)
			}
			return theta, nil
		},
	}
}

// classes asks for a mechanism of several classes, those of d, as c does for one of two.
func classes(d *frame.Design, c objpert.Config) multiclass.Config {
	return multiclass.Config{
		Classes: len(d.Target.Classes), RowNorm: c.RowNorm, Epsilon: c.Epsilon, Delta: c.Delta,
		Adjacency: c.Adjacency, Lambda: c.Lambda, Tolerance: c.Tolerance, Reserved: c.Reserved,
	}
}
