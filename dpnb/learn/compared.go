package learn

import (
	"errors"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/sgd"
	"github.com/dpnb/notebooks/dpnb/mechanism/ssp"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// asKST12 chooses objective perturbation with the parameters of Kifer, Smith and Thakurta 2012,
//
//	λ = 2s/ε,  σ = L√(8 ln(2/δ) + 4ε)/ε.
//
// Their theorem is not proved here: that the result, output noise included, satisfies (ε, δ) is checked by this
// project's accounting, or it is an error.
func asKST12(p spec, d *frame.Design, epsilon, delta float64) (mechanism.Mechanism, error) {
	p.bound, p.ridge = 0, 0
	m, err := calibratedObjective(p.calibration(d, epsilon, delta))
	if err != nil {
		return nil, err
	}
	m.Lambda = orElse(p.lambda, 2*m.Smoothness()/epsilon)
	m.Sigma = m.Lipschitz() * math.Sqrt(8*math.Log(2/delta)+4*epsilon) / epsilon
	m.OutputSigma = 2 * m.Tolerance * m.Sigma / (m.Lambda * objpert.OutputShare * m.Lipschitz())
	profile, err := m.Profile()
	if err != nil {
		return nil, err
	}
	if !(privacy.DeltaUpper(profile, math.Nextafter(epsilon, 0)) <= math.Nextafter(delta, 0)) {
		return nil, fmt.Errorf("%w: λ = 2s/ε and σ = L√(8 ln(2/δ) + 4ε)/ε are not proved to satisfy (ε = %g, δ = %g) "+
			"here", privacy.ErrUnsupported, epsilon, delta)
	}
	return m, nil
}

// either returns the one for two classes, or the other.
func (p spec) either(classes, numbers float64) float64 {
	if p.task == frame.TwoClasses {
		return classes
	}
	return numbers
}

// output chooses output perturbation, with λ = ρRσ, σ the Gaussian mechanism's at sensitivity L, so that its noise σ/λ
// in the coefficients moves a prediction by 1/ρ at most. ρ was chosen on the Adult data among 1 to 32.
func output(p spec, d *frame.Design, epsilon, delta float64) (mechanism.Mechanism, error) {
	lambda := p.lambda
	if lambda == 0 {
		unit, err := privacy.GaussianSigma(epsilon, delta)
		if err != nil {
			return nil, err
		}
		lambda = p.either(2, 24) * d.RowNorm * d.RowNorm * p.clipped(d).Lipschitz() * unit
	}
	c := objpert.OutputConfig{
		Loss: p.loss(d.Target), RowNorm: d.RowNorm, Lambda: lambda, Epsilon: epsilon, Delta: delta,
		Tolerance: p.tolerance, Clip: p.clip(d),
	}
	return chosen(calibrated(c, func() (objpert.Output, error) { return objpert.CalibrateOutput(c) }))
}

// Of DP-SGD in comparisons. The rate of Adam was chosen on the Adult data among six from 0.003 to 0.1: on private data
// that would have to be paid for.
const (
	sgdBatch    = 256
	sgdPasses   = 20
	classesRate = 0.03
	numbersRate = 0.006
)

// descent chooses DP-SGD with gradients clipped where the learner clips them, or where they are largest, planned for as
// many records as there are. That number is private, and with it the sampling rate, the number of steps and the noise:
// fit for a comparison, not for a release.
func descent(p spec, d *frame.Design, epsilon, delta float64) (mechanism.Mechanism, error) {
	if !noise.Simulated(p.noise) {
		return nil, errors.New("dpnb: DP-SGD uses the private number of records here: it is for comparisons with " +
			"noise from a seed; for a release plan for a public number with package mechanism/sgd")
	}
	m := p.batches(d, math.Max(1, float64(d.Records())))
	m.Update = sgd.Adam{LearningRate: p.either(classesRate, numbersRate)}
	var err error
	m.NoiseMultiplier, err = noiseFor(m.Cost(), epsilon, delta)
	return m, err
}

// batches is DP-SGD of sgdPasses in batches of sgdBatch for so many records, but for its noise and its update.
func (p spec) batches(d *frame.Design, records float64) sgd.Descent {
	rate := math.Min(1, sgdBatch/records)
	return sgd.Descent{Loss: p.loss(d.Target), Clip: d.RowNorm * p.clipped(d).Lipschitz(), Rate: rate,
		Steps: int(math.Ceil(sgdPasses / rate)), PlannedRecords: records}
}

// noiseFor returns the noise multiplier with which a cost is (ε, δ): it is all that depends on nothing else.
func noiseFor(c sgd.Cost, epsilon, delta float64) (float64, error) {
	type key struct {
		sgd.Cost
		epsilon, delta float64
	}
	c.NoiseMultiplier = 0 // which is looked for
	c, err := calibrated(key{c, epsilon, delta}, func() (sgd.Cost, error) {
		c, err := c.CalibrateNoise(epsilon, delta)
		for err == nil && c.Accounting == sgd.Renyi && c.NoiseMultiplier < 1e9 { // its profile has fewer orders
			var p privacy.Profile
			if p, err = c.Profile(privacy.AddRemove); err != nil || privacy.DeltaUpper(p, epsilon) <= delta {
				break
			}
			c.NoiseMultiplier *= 1.002
		}
		return c, err
	})
	return c.NoiseMultiplier, err
}

// adaSSP chooses adaptive sufficient-statistics perturbation; the labels of a number are in [−1, 1].
func adaSSP(p spec, d *frame.Design, epsilon, delta float64) (mechanism.Mechanism, error) {
	return chosen(ssp.CalibrateAdaSSP(ssp.AdaSSPConfig{RowNorm: d.RowNorm, LabelBound: 1, Epsilon: epsilon,
		Delta: delta, Adjacency: privacy.AddRemove}))
}

// functional chooses the functional mechanism with Gaussian noise.
func functional(p spec, d *frame.Design, epsilon, delta float64) (mechanism.Mechanism, error) {
	return chosen(ssp.CalibrateFunctional(ssp.FunctionalConfig{RowNorm: d.RowNorm, LabelBound: 1, Features: d.Width(),
		Epsilon: epsilon, Delta: delta,
		Adjacency: privacy.AddRemove}))
}

// chosen is a calibration's answer as a choice's.
func chosen[M mechanism.Mechanism](m M, err error) (mechanism.Mechanism, error) { return m, err }
