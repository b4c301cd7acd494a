package learn

import (
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// Logistic is logistic regression for two classes (Binary) by objective perturbation. With the zero value the noise is
// chosen from (ε, δ) and the bound on the rows alone, λ from a noisy count of the records, which is paid for with the
// fit, and the noise is cryptographic.
type Logistic struct {
	// Lambda fixes the ridge λ of the sum objective Σℓ + (λ/2)‖θ‖²; if zero, λ is chosen automatically. It must not be
	// set by looking at the records.
	Lambda float64
	// Records is the planned number of records, if that is public: the fewer there are per feature, the greater the
	// chosen λ. The true number of records is private. If zero, the records are counted with noise, at the price of
	// half a percent more noise in the fit; of records that are Uncentred not with a CurvatureShare or a Bound that is
	// not tight (docs/theory/lambda_rule.md).
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
	// Seed(s) makes the fit a reproducible simulation that protects nobody.
	Noise noise.Source
	// Workers is the number of goroutines; zero means one for each processor.
	Workers int
	// Bound selects the accounting; zero is right: exact where the Gaussian case is proved, dtz24 elsewhere, which is
	// only at a Lambda that was fixed. objective.Tight costs less noise there and takes up to a second.
	Bound objective.Bound
}

// Fit releases a private model: see Learner.
func (l Logistic) Fit(data *Dataset, allowance Allowance) (*Model, error) {
	return fit(data, allowance, l.spec())
}

// FitWithoutPrivacy returns the ordinary fit, for comparison on public data. It protects nobody and says so wherever it
// is shown.
func (l Logistic) FitWithoutPrivacy(data *Dataset) (*Model, error) {
	return fitWithoutPrivacy(data, l.spec())
}

func (l Logistic) spec() spec {
	return spec{
		learner: "Logistic", title: "logistic regression", entry: "logistic", task: frame.TwoClasses,
		probabilities: true,
		loss:          func(frame.Target) loss.Loss { return loss.Logistic{} },
		informed:      framed(loss.Logistic{}, leastRidge{}),
		weighs:        true,
		lambda:        l.Lambda, records: l.Records, baseRate: l.BaseRate, noise: l.Noise, workers: l.Workers,
		bound:          l.Bound,
		curvatureShare: l.CurvatureShare, pure: l.Pure,
		convex: convex{loss: loss.Logistic{}, framed: loss.Logistic{}},
	}
}
