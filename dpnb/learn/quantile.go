package learn

import (
	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/sgd"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Quantile is linear quantile regression for a number (Regression): it predicts the value
// below which a share Tau of the targets of such records lie. Its loss bends at the
// target itself and has no curvature, so that it is fitted by gradient descent: in every
// step all records are read, and noise is added to the sum of their slopes. Its steps fit
// themselves to what has been released, so that nothing need be tuned or planned, the
// number of records included. Targets are scaled to [−1, 1] by their public bounds, as
// for Linear. The zero value is right: the median.
//
//	models, err := dpnb.Quantile{Tau: 0.9}.Fit(data, budget.Spend(0.5))
type Quantile struct {
	// Tau is the level τ in (0, 1); zero means ½, the median.
	Tau float64
	// Radius r bounds the coefficients, ‖θ‖₂ ≤ r, and the steps are in proportion to it;
	// zero means 4/R, R the bound on rows. It must not be chosen by looking at the records.
	Radius float64
	// Steps is how often the records are read; zero means 192. Fewer are faster. The noise
	// of each step is the smaller the fewer there are.
	Steps int
	// Noise is the source of the noise; nil is noise.NewSecure().
	Noise noise.Source
	// Workers is the number of goroutines; zero means one for each processor.
	Workers int
}

// Median is median regression: Quantile at ½.
type Median = Quantile

// Fit releases a private model: see Learner.
func (l Quantile) Fit(data *Dataset, allowance Allowance) (*Model, error) {
	return fit(data, allowance, l.recipe())
}

// FitWithoutPrivacy returns the ordinary fit, to within a thousandth of the bounds, for
// comparison on public data.
func (l Quantile) FitWithoutPrivacy(data *Dataset) (*Model, error) {
	return fitWithoutPrivacy(data, l.recipe())
}

// Of the descent for quantiles: docs/theory/quantiles.md says how they were chosen.
const (
	quantileSteps  = 192
	quantileRadius = 4.0
)

// nearKink is the width at which the pinball loss is smoothed without privacy.
const nearKink = 1e-3

func (l Quantile) recipe() recipe {
	tau := orElse(l.Tau, 0.5)
	steps := l.Steps
	if steps == 0 {
		steps = quantileSteps
	}
	return recipe{
		learner: "Quantile", title: "quantile regression", entry: "quantile", task: frame.Number,
		loss:  func(frame.Target) loss.Loss { return loss.Pinball{Tau: tau} },
		noise: l.Noise, workers: l.Workers, own: parameter{"Tau", l.Tau},
		choose: func(p recipe, d *frame.Design, epsilon, delta float64) (mechanism.Mechanism, error) {
			return steadily(p, d, orElse(l.Radius, quantileRadius/d.RowNorm), steps, epsilon, delta)
		},
		plain: func(p recipe, d *frame.Design, _ float64) ([]float64, error) {
			smooth := loss.SmoothPinball{Tau: tau, Width: nearKink}
			s, err := erm.Minimize(&erm.Problem{Rows: d.Rows, Labels: d.Labels, Loss: smooth, Lambda: nearKink}, &erm.Settings{Workers: p.workers})
			if err != nil {
				return nil, err
			}
			return s.Theta, nil
		},
	}
}

// steadily chooses descent over all records with steps that fit themselves.
func steadily(p recipe, d *frame.Design, radius float64, steps int, epsilon, delta float64) (mechanism.Mechanism, error) {
	cost := sgd.Cost{Rate: 1, Steps: steps, NoiseMultiplier: 1}
	type key struct {
		sgd.Cost
		epsilon, delta float64
	}
	cost, err := calibrated(key{cost, epsilon, delta}, func() (sgd.Cost, error) { return cost.CalibrateNoise(epsilon, delta) })
	if err != nil {
		return nil, err
	}
	l := p.loss(d.Target)
	if slope := l.Lipschitz(); !(slope > 0) {
		return nil, &privacy.ParamError{Name: p.own.name, Value: p.own.value, Want: l.Labels()}
	}
	return sgd.Descent{
		Loss: l, Clip: d.RowNorm * l.Lipschitz(), Rate: 1, Steps: steps, NoiseMultiplier: cost.NoiseMultiplier,
		PlannedRecords: 1, Update: sgd.Adaptive{Radius: radius, Steps: steps}, Average: (steps + 1) / 2,
	}, nil
}
