package learn

import (
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// Huber is robust regression for a number (Regression) by objective perturbation: squared loss for small residuals,
// absolute for large ones. Its gradients are bounded, so nothing need be clipped, and its noise is in proportion to the
// threshold: where targets are seldom far from what can be predicted it needs less noise than Linear. Units are those
// of Linear. The zero value has sensible defaults.
type Huber struct {
	// Lambda fixes the ridge λ of the sum objective Σℓ + (λ/2)‖θ‖²; if zero, λ is chosen automatically. It must not be
	// set by looking at the records.
	Lambda float64
	// Threshold is the residual from which a record counts by its absolute value, in half the width of the target's
	// bounds and at most 2; zero is about half a standard deviation of the target, which is bought before the fit, and
	// up to two of a skewed one where records are many. Of an amount up to 500, Threshold: 0.4 is 100; on a logarithmic
	// scale the width is that of the logarithm. What is bought is never more than 1/2 nor less than 0.02. Zero is 1/4
	// where rows are not centred: with Lambda, Regularise, NoBias or Uncentred, or passes that are made elsewhere. With
	// a Threshold they are not centred either, and there are no intervals for the population.
	Threshold float64
	// Regularise adds ω‖θ‖₁ to the objective, or its like for whole columns:
	// Regularise: dpnb.Regulariser{L1: 30}. It costs no privacy.
	Regularise Regulariser
	// CurvatureShare in (0, 1) is the part of the budget, in μ², that is spent on the curvature at the coefficients and
	// makes Model.Intervals narrow: 0.1 costs a twentieth more noise. Zero spends nothing on it.
	CurvatureShare float64
	// Pure spends no δ, as on a budget without one: pure ε-DP, with more noise where there are many features.
	// Regularise, CurvatureShare and Bound are then refused.
	Pure bool
	// Noise is the source of the noise; nil is noise.NewSecure().
	Noise noise.Source
	// Workers is the number of goroutines; zero means one for each processor.
	Workers int
	// Bound selects the accounting; zero is objective.Tight.
	Bound objective.Bound
	// suited has no CurvatureShare where there is no δ.
	suited bool `json:"-"`
}

// Fit releases a private model: see Learner.
func (l Huber) Fit(data *Dataset, allowance Allowance) (*Model, error) {
	return fit(data, allowance, l.spec())
}

// FitWithoutPrivacy returns the ordinary fit, for comparison on public data.
func (l Huber) FitWithoutPrivacy(data *Dataset) (*Model, error) {
	return fitWithoutPrivacy(data, l.spec())
}

func (l Huber) spec() spec {
	threshold := orElse(l.Threshold, 0.25)
	var known informed
	var pureLoss loss.Convex
	if l.Threshold == 0 {
		pureLoss = loss.Huber{Threshold: 1}
		known = framed(loss.PseudoHuber{Threshold: 1}, leastOfHuber)
	}
	return spec{
		informed: known,
		learner:  "Huber", title: "Huber regression", entry: "huber", task: frame.Number,
		loss:   func(frame.Target) loss.Loss { return loss.Huber{Threshold: threshold} },
		weighs: true,
		lambda: l.Lambda, noise: l.Noise, workers: l.Workers, bound: l.Bound, ridge: predictionNoise,
		curvatureShare: l.CurvatureShare, suited: l.suited, own: parameter{"Threshold", l.Threshold},
		pure: l.Pure, convex: convex{loss: loss.Huber{Threshold: threshold}, framed: pureLoss},
	}.with(l.Regularise)
}
