package learn

import (
	"errors"
	"math"

	"github.com/dpnb/notebooks/dpnb/frame"

	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/sgd"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// outputRidge is ρ of output perturbation in comparisons: λ = ρRσ, σ the Gaussian
// mechanism's at sensitivity L, so that its noise σ/λ in the coefficients moves
// a prediction by 1/ρ at most. It was chosen on the Adult data among 1 to 32.
func outputRidge(t frame.Task) float64 {
	if t == frame.TwoClasses {
		return 2
	}
	return 24
}

// perturbOutput prepares output perturbation.
func perturbOutput(p plan, d *frame.Design, epsilon, delta float64) (prepared, error) {
	lambda := p.lambda
	if lambda == 0 {
		unit, err := privacy.GaussianSigma(epsilon, delta)
		if err != nil {
			return prepared{}, err
		}
		lambda = outputRidge(p.task) * d.RowNorm * d.RowNorm * p.clipped(d).Lipschitz() * unit
	}
	c := objpert.OutputConfig{
		Loss: p.loss(d.Target), RowNorm: d.RowNorm, Lambda: lambda, Epsilon: epsilon, Delta: delta, Tolerance: p.tolerance, Clip: p.clip(d),
	}
	m, err := calibrated(c, func() (objpert.Output, error) { return objpert.CalibrateOutput(c) })
	return ready(m, "output perturbation", m.Lambda, p, d), err
}

// Of DP-SGD in comparisons.
const (
	sgdBatch  = 256
	sgdPasses = 20
)

// learningRate is Adam's in comparisons. It was chosen on the Adult data among six
// from 0.003 to 0.1: on private data that would have to be paid for.
func learningRate(t frame.Task) float64 {
	if t == frame.TwoClasses {
		return 0.03
	}
	return 0.006
}

// descend prepares DP-SGD with gradients clipped where the learner clips them,
// or where they are largest, planned for as many records as there are. That number
// is private, and with it the sampling rate, the number of steps and the noise:
// fit for a comparison, not for a release.
func descend(p plan, d *frame.Design, epsilon, delta float64) (prepared, error) {
	if !noise.Simulated(p.noise) {
		return prepared{}, errors.New("dpnb: DP-SGD is told here how many records there are, which is private: it is for comparisons with noise from a seed; for a release plan for a public number with package mechanism/sgd")
	}
	n := math.Max(1, float64(d.Rows.N))
	rate := math.Min(1, sgdBatch/n)
	m := sgd.Descent{
		Loss: p.loss(d.Target), Clip: d.RowNorm * p.clipped(d).Lipschitz(), Rate: rate, Steps: int(math.Ceil(sgdPasses / rate)),
		PlannedRecords: n, Update: sgd.Adam{LearningRate: learningRate(p.task)},
	}
	type key struct {
		sgd.Cost
		epsilon, delta float64
	}
	k := key{m.Cost(), epsilon, delta}
	cost, err := calibrated(k, func() (sgd.Cost, error) { return k.Cost.CalibrateNoise(epsilon, delta) })
	m.NoiseMultiplier = cost.NoiseMultiplier
	return ready(m, "DP-SGD", m.Ridge, p, d), err
}
