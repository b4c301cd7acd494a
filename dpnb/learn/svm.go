package learn

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism/sgd"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// SVM is the linear support vector machine for two classes (Binary) by objective perturbation, with the hinge smoothed:
// h·log(1 + e^{(1 − m)/h}), m the margin. It is smoothed by a logarithm, not by a parabola, because then it needs no
// more noise than the Gaussian mechanism (docs/theory/gaussian_case.md). The zero value has sensible defaults.
type SVM struct {
	// Lambda fixes the ridge λ of the sum objective Σℓ + (λ/2)‖θ‖²; if zero, λ is chosen automatically. It must not be
	// set by looking at the records.
	Lambda float64
	// Width h > 0 of the smoothing, in the unit of the margin; zero is 1. A smaller one is nearer to the hinge, and
	// makes λ greater in proportion to 1/h.
	Width float64
	// Records is the planned number of records, as in Logistic; if zero, they are counted with noise.
	Records int
	// BaseRate is the share of the positive class if that is public, in (0, 1), for records with a bias: where λ is
	// chosen for a number of records the intercept is then shrunk towards what fits that share. It must not come from
	// the records.
	// Zero: nothing is known.
	BaseRate float64
	// CurvatureShare in (0, 1) is the part of the budget, in μ², that is spent on the curvature at the coefficients and
	// makes Model.Intervals narrow: 0.1 costs a twentieth more noise. Zero spends nothing on it.
	CurvatureShare float64
	// Pure spends no δ, as on a budget without one: pure ε-DP, with more noise where there are many features. BaseRate,
	// CurvatureShare and Bound are then refused.
	Pure bool
	// Noise is the source of the noise; nil is noise.NewSecure().
	Noise noise.Source
	// Workers is the number of goroutines; zero means one for each processor.
	Workers int
	// Bound selects the accounting, as in Logistic.
	Bound objective.Bound
	// suited has no CurvatureShare where there is no δ.
	suited bool `json:"-"`
}

// Fit releases a private model: see Learner.
func (l SVM) Fit(data *Dataset, allowance Allowance) (*Model, error) {
	return fit(data, allowance, l.spec())
}

// FitWithoutPrivacy returns the ordinary fit, for comparison on public data.
func (l SVM) FitWithoutPrivacy(data *Dataset) (*Model, error) {
	return fitWithoutPrivacy(data, l.spec())
}

func (l SVM) spec() spec {
	width := orElse(l.Width, 1)
	return spec{
		learner: "SVM", title: "support vector machine", entry: "smoothed hinge", task: frame.TwoClasses,
		loss:          func(frame.Target) loss.Loss { return loss.Softplus{Width: width} },
		informed:      framed(loss.Softplus{Width: width}, leastRidge{}),
		probabilities: true, hinge: loss.Softplus{Width: width},
		weighs: true,
		lambda: l.Lambda, records: l.Records, baseRate: l.BaseRate, noise: l.Noise, workers: l.Workers, bound: l.Bound,
		curvatureShare: l.CurvatureShare, suited: l.suited, own: parameter{"Width", l.Width}, pure: l.Pure,
		convex: convex{loss: loss.Softplus{Width: width}, framed: loss.Softplus{Width: width}},
	}
}

// parameter is a number as the user stated it.
type parameter struct {
	name  string
	value float64
}

// valid reports whether what the learner was told, records apart, can be meant: once, for whatever it does with that.
func (p spec) valid() error {
	switch own, r, share := p.own.value, p.baseRate, p.curvatureShare; {
	case p.workers < 0:
		return &privacy.ParamError{Name: "Workers", Value: p.workers,
			Want: "a positive number, or 0 for one for each processor"}
	case !(own >= 0) || math.IsInf(own, 1):
		return &privacy.ParamError{Name: p.own.name, Value: own, Want: "a positive number, or 0 to have it chosen"}
	case p.records < 0:
		return &privacy.ParamError{Name: "Records", Value: p.records, Want: "a planned number, or 0 to count them"}
	case r != 0 && !(r > 0 && r < 1):
		return &privacy.ParamError{Name: "BaseRate", Value: r,
			Want: "the public share of the positive class, in (0, 1), or 0 if it is not known"}
	case share != 0 && !(share > 0 && share < 1):
		return &privacy.ParamError{Name: "CurvatureShare", Value: share,
			Want: "a number in (0, 1), for example 0.1, or 0 to spend nothing on intervals"}
	}
	if p.check != nil {
		if err := p.check(); err != nil {
			return err
		}
	}
	if p.levels == nil {
		return nil
	}
	err := sgd.ValidLevels(p.levels)
	if err != nil && p.own.name == "Tau" {
		return &privacy.ParamError{Name: "Tau", Value: p.own.value,
			Want: "a level between 0 and 1, both excluded, or 0 for the median"}
	}
	return err
}

// orElse returns v, or what zero stands for.
func orElse(v, zero float64) float64 {
	if v == 0 {
		return zero
	}
	return v
}
