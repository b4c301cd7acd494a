package learn

import (
	"errors"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/convolution"
	"github.com/dpnb/notebooks/dpnb/mechanism/sgd"
	"github.com/dpnb/notebooks/dpnb/mechanism/ssp"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// boosted chooses boosted AdaSSP: eight rounds, residuals clipped where the learner clips them.
func boosted(p spec, d *frame.Design, epsilon, delta float64) (mechanism.Mechanism, error) {
	return chosen(ssp.CalibrateBoosted(ssp.BoostedConfig{AdaSSPConfig: ssp.AdaSSPConfig{RowNorm: d.RowNorm,
		LabelBound: 1, Epsilon: epsilon, Delta: delta, Adjacency: privacy.AddRemove}, Clip: p.level(d.Target)}))
}

// fullSteps is how many steps fullBatch takes: twice as many gain little.
const fullSteps = 96

// fullBatch chooses gradient descent on all records, with the steps of Quantile, which fit themselves to what was
// released: no number of records need be known. The mean of the second half of the iterates is released.
func fullBatch(p spec, d *frame.Design, epsilon, delta float64) (mechanism.Mechanism, error) {
	s := DescentSetting{Radius: p.either(pureClasses, pureNumber), Steps: fullSteps, Clip: 1}
	return s.choose(p, d, epsilon, delta)
}

// DescentSetting is a setting of GradientDescent. To look for the best one on private records would have to be paid
// for.
type DescentSetting struct {
	// Radius of steps that fit themselves to what was released, over the norm of rows; 0 takes LearningRate, of Adam.
	Radius, LearningRate float64
	// Steps, of which the mean of the second half is released.
	Steps int
	// Clip is where gradients are clipped, in units of the longest that the learner's loss has.
	Clip float64
}

// GradientDescent is the mechanism of that name, on all records in each step, with a setting that is public.
func GradientDescent(s DescentSetting) Mechanism {
	return changed("noisy gradient descent", func(p *spec) { p.instead(s.choose) }, oneForm...)
}

func (s DescentSetting) choose(p spec, d *frame.Design, epsilon, delta float64) (mechanism.Mechanism, error) {
	m := sgd.Descent{Loss: p.loss(d.Target), Clip: s.Clip * d.RowNorm * p.clipped(d).Lipschitz(), Rate: 1,
		Steps: s.Steps, PlannedRecords: 1, Average: s.Steps / 2}
	var err error
	if m.NoiseMultiplier, err = noiseFor(m.Cost(), epsilon, delta); err != nil {
		return nil, err
	}
	if m.Update = sgd.Update(sgd.Adam{LearningRate: s.LearningRate}); s.LearningRate == 0 {
		m.Update = sgd.Adaptive{Radius: s.Radius / d.RowNorm, Steps: s.Steps, Noise: m.NoiseMultiplier * m.Clip}
	}
	return m, nil
}

// errPublicNumber is the error of a mechanism that must be told of how many records there are.
var errPublicNumber = errors.New("dpnb: plan for a public number of records, at least 1")

// TukeyEM is the mechanism of that name for least squares (ssp.TukeyEM), planned for a public number of records:
// dpnb.TukeyEM(20_000). Too few records for so many features are refused.
func TukeyEM(records int) Mechanism {
	return changed("TukeyEM", func(p *spec) {
		p.instead(func(_ spec, d *frame.Design, epsilon, delta float64) (mechanism.Mechanism, error) {
			if records < 1 {
				return nil, errPublicNumber
			}
			return chosen(ssp.CalibrateTukeyEM(ssp.TukeyEMConfig{RowNorm: d.RowNorm, LabelBound: 1,
				Features: d.Width(), Records: records, Epsilon: epsilon, Delta: delta, Adjacency: privacy.AddRemove}))
		})
	}, frame.Number)
}

// TunedSGD is DP-SGD for two classes with its learning rate tuned at the cost of the budget: the best of a Poisson
// number of runs, three on average, each with a rate drawn from five between 0.003 and 0.3, by a noisy count of the
// records predicted correctly; 20 passes in batches of 256 for a public number of records.
func TunedSGD(records int) Mechanism {
	return changed("DP-SGD, tuned", func(p *spec) { p.instead(tunedSGD(records)) }, frame.TwoClasses)
}

func tunedSGD(records int) func(spec, *frame.Design, float64, float64) (mechanism.Mechanism, error) {
	return func(p spec, d *frame.Design, epsilon, delta float64) (mechanism.Mechanism, error) {
		if records < 1 {
			return nil, errPublicNumber
		}
		t := sgd.Tuner{Base: p.batches(d, float64(records)),
			Grid: sgd.LearningRates(0.003, 0.3, 5, func(eta float64) sgd.Update {
				return sgd.Adam{LearningRate: eta}
			}),
			MeanRuns: 3, Score: sgd.Training{Sigma: 20 / epsilon}, Accounting: sgd.Renyi}
		var err error
		t.Base.NoiseMultiplier, err = noiseFor(t.Cost(), epsilon, delta)
		return t, err
	}
}

// ConvolvedMedian is median regression by convolved objective perturbation (cop) with the kink smoothed by a logistic
// kernel, planned for a public number of records.
func ConvolvedMedian(records int) Mechanism {
	return mechanismFunc{"convolved objective perturbation", func(data *Dataset, a Allowance,
		src noise.Source) (*Model, error) {
		if records < 1 {
			return nil, errPublicNumber
		}
		p := Median{Noise: src, Workers: 1}.spec()
		p.instead(func(_ spec, d *frame.Design, epsilon, delta float64) (mechanism.Mechanism, error) {
			c := convolution.Config{Loss: convolution.Loss{Form: loss.Absolute(smoothing.Logistic{}, 0), Forms: 1,
				Norm: d.RowNorm}, Epsilon: epsilon, Delta: delta, Adjacency: privacy.AddRemove,
				Planned: convolution.Planned{Records: records, Features: d.Width(), Radius: quantileRadius / d.RowNorm,
					Residual: 0.5}}
			type key struct {
				norm, epsilon, delta float64
				records, features    int
			}
			return chosen(calibrated(key{d.RowNorm, epsilon, delta, records, d.Width()}, func() (convolution.COP,
				error) {
				return convolution.Calibrate(c)
			}))
		})
		return fit(data, a, p)
	}}
}
