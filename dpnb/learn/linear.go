package learn

import (
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// Linear is least squares for a number (Regression) by objective perturbation with clipped gradients: a residual beyond
// Clip counts by its absolute value, not by its square, so that effects and predictions of a skewed target are not
// those of its mean; a model says where, in the unit of the column. Residuals, thresholds and coefficients are in units
// of half the width of the target's public bounds: the target is scaled to [−1, 1]. The zero value has sensible
// defaults.
type Linear struct {
	// Lambda fixes the ridge λ of the sum objective Σℓ + (λ/2)‖θ‖²; if zero, λ is chosen automatically. It must not be
	// set by looking at the records.
	Lambda float64
	// Clip is the residual at which a record's gradient is clipped, in half the width of the target's bounds and at
	// most 2; zero is about one standard deviation of the target, which is bought before the fit, and up to four of a
	// skewed one where records are many. Of an amount up to 500, Clip: 0.4 is 100; on a logarithmic scale the width is
	// that of the logarithm. What is bought is never more than 1 nor less than 0.04. Zero is 1/2 where rows are not
	// centred: with Lambda, Regularise, NoBias or Uncentred, or passes that are made elsewhere. With a Clip they are
	// not centred either, and there are no intervals for the population. A smaller one needs proportionally less noise,
	// and bends the fit from the mean towards the median.
	Clip float64
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
}

// Fit releases a private model: see Learner.
func (l Linear) Fit(data *Dataset, allowance Allowance) (*Model, error) {
	return fit(data, allowance, l.spec())
}

// FitWithoutPrivacy returns the fit without noise, clipping included, for comparison on public data.
func (l Linear) FitWithoutPrivacy(data *Dataset) (*Model, error) {
	return fitWithoutPrivacy(data, l.spec())
}

func (l Linear) spec() spec {
	level := orElse(l.Clip, 0.5)
	var known informed
	var pureLoss loss.Convex
	if l.Clip == 0 {
		pureLoss = loss.Huber{Threshold: framedClip}
		known = framed(loss.Clipped(loss.Squared{}, framedClip), leastOfSquares)
	}
	return spec{
		informed: known,
		learner:  "Linear", title: "linear regression", entry: "least squares", task: frame.Number,
		loss:   func(frame.Target) loss.Loss { return loss.Squared{} },
		level:  func(frame.Target) float64 { return level },
		weighs: true,
		lambda: l.Lambda, noise: l.Noise, workers: l.Workers, bound: l.Bound, ridge: predictionNoise,
		curvatureShare: l.CurvatureShare, own: parameter{"Clip", l.Clip}, pure: l.Pure,
		convex: convex{loss: loss.Huber{Threshold: level}, framed: pureLoss},
	}.with(l.Regularise)
}

// framedClip is the residual at which gradients are clipped, in units of half the spread of the target.
const framedClip = 2

// predictionNoise is the ridge's ρ of Linear, Huber and Poisson: where there is no data, the noise moves a prediction
// by a quarter of half the width of the bounds, or of the logarithm's unit, and by half of it at most where
// coefficients are few. docs/theory/learners.md says why.
const predictionNoise = 4
