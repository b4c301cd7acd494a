package learn

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// Poisson is regression for counts (Counts), whose mean is modelled as exp(xᵀθ), by objective perturbation with clipped
// gradients. The zero value has sensible defaults.
type Poisson struct {
	// Lambda fixes the ridge λ of the sum objective Σℓ + (λ/2)‖θ‖²; if zero, λ is chosen automatically. It must not be
	// set by looking at the records.
	Lambda float64
	// Clip c > 0 is the residual exp(xᵀθ) − y, in counts, at which a record's gradient is clipped; zero is √Y rounded
	// up, Y the public upper bound. That is the standard deviation of a Poisson count whose mean is the bound, twice
	// that of one whose mean is a quarter of it: residuals of counts that follow the model are seldom clipped. The rule
	// knows nothing of the records.
	Clip float64
	// CurvatureShare in (0, 1) is the part of the budget, in μ², that is spent on the curvature at the coefficients and
	// makes Model.Intervals narrow: 0.1 costs a twentieth more noise. Zero spends nothing on it.
	CurvatureShare float64
	// Noise is the source of the noise; nil is noise.NewSecure().
	Noise noise.Source
	// Workers is the number of goroutines; zero means one for each processor.
	Workers int
	// Bound selects the accounting; zero is objective.Tight.
	Bound objective.Bound
}

// Fit releases a private model: see Learner.
func (l Poisson) Fit(data *Dataset, allowance Allowance) (*Model, error) {
	return fit(data, allowance, l.spec())
}

// FitWithoutPrivacy returns the fit without noise, clipping included, for comparison on public data.
func (l Poisson) FitWithoutPrivacy(data *Dataset) (*Model, error) {
	return fitWithoutPrivacy(data, l.spec())
}

func (l Poisson) spec() spec {
	return spec{
		informed: func(p spec, d *frame.Design, radius, mu float64, c objpert.Config) (mechanism.Informed,
			func(float64) float64, error) {
			return framed(loss.Clipped(p.loss(d.Target), p.level(d.Target)), leastOfSquares)(p, d, radius, mu, c)
		},
		learner: "Poisson", title: "Poisson regression", entry: "poisson", task: frame.Count,
		loss:   func(t frame.Target) loss.Loss { return loss.Poisson{MaxCount: t.Upper} },
		level:  func(t frame.Target) float64 { return orElse(l.Clip, math.Ceil(math.Sqrt(t.Upper))) },
		lambda: l.Lambda, noise: l.Noise, workers: l.Workers, bound: l.Bound, ridge: predictionNoise,
		curvatureShare: l.CurvatureShare, own: parameter{"Clip", l.Clip},
	}
}
