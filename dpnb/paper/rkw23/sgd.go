package rkw23

import (
	"errors"
	"math"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/sgd"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/experiment"
)

// DP-SGD as in section 5 of rkw23: batches of 256 in the mean, Adam, ten learning rates from 1e-8 to 1e-1, more than
// ten honest runs with probability 0.9.
const (
	rkw23Batch    = 256
	rkw23Rates    = 10
	rkw23ManyRuns = 0.9
	rkw23LowRate  = 1e-8
	rkw23HighRate = 1e-1
	SGDEpochs     = 60
)

// HonestDPSGD is DP-SGD whose tuning is paid for: a Poisson number of runs (15.4 in the mean), each with a rate drawn
// from the grid, the best on the public records, by the sharpest accounting that is proved. The number of records is
// taken as public, as in the paper; that is fair to nobody but to DP-SGD.
func HonestDPSGD(epochs int) experiment.Mechanism {
	calibration := func(k experiment.Key) (sgd.Tuner, error) {
		runs, err := sgd.MeanRunsFor(rkw23Rates, rkw23ManyRuns)
		if err != nil {
			return sgd.Tuner{}, err
		}
		t := sgd.Tuner{Base: rkw23Descent(k, epochs), Grid: rkw23Grid(), MeanRuns: runs, Score: sgd.Holdout{}}
		return t.Calibrate(k.Epsilon, k.Delta)
	}
	return descending("honest DP-SGD", calibration, func(t sgd.Tuner, train *experiment.Records,
		src *noise.Seeded) ([]float64, error) {
		return train.Release(t.Run, src)
	})
}

// DishonestDPSGD is the best of the grid, with the noise of one run: what is often reported, and not private at the ε
// that it is reported at.
func DishonestDPSGD(epochs int) experiment.Mechanism {
	calibration := func(k experiment.Key) (sgd.Tuner, error) {
		t := sgd.Tuner{Base: rkw23Descent(k, epochs), Grid: rkw23Grid(), MeanRuns: 1, Score: sgd.Holdout{}}
		c, err := t.Base.Cost().CalibrateNoise(k.Epsilon, k.Delta)
		t.Base.NoiseMultiplier = c.NoiseMultiplier
		return t, err
	}
	return descending("dishonest DP-SGD", calibration, dishonestly)
}

// dishonestly returns the best coefficients of a run for each rate.
func dishonestly(t sgd.Tuner, train *experiment.Records, src *noise.Seeded) ([]float64, error) {
	r, err := t.RunDishonestly(train.Rows, train.Labels, src, &mechanism.Settings{Workers: 1})
	if err != nil {
		return nil, err
	}
	return r.Coefficients, nil
}

// descending is a mechanism by runs that are tuned on public records, whose tuner is calibrated once for each key.
func descending(name string, calibrate func(experiment.Key) (sgd.Tuner, error),
	run func(sgd.Tuner, *experiment.Records, *noise.Seeded) ([]float64, error)) experiment.Mechanism {
	calibration := experiment.Remembered(calibrate)
	return experiment.Mechanism{Name: name, Fit: func(train *experiment.Records, epsilon, delta float64,
		src *noise.Seeded) ([]float64, error) {
		if train.Public == nil {
			return nil, errors.New("experiment: DP-SGD is tuned here on public records; set Records.Public")
		}
		t, err := calibration(train.Key(epsilon, delta))
		if err != nil {
			return nil, err
		}
		t.Score = sgd.Holdout{Rows: train.Public.Rows, Labels: train.Public.Labels}
		return run(t, train, src)
	}}
}

// rkw23Descent is one run on k.Records records.
func rkw23Descent(k experiment.Key, epochs int) sgd.Descent {
	n := float64(k.Records)
	return sgd.Descent{Loss: loss.Logistic{}, Clip: k.RowNorm, Rate: math.Min(1, rkw23Batch/n),
		Steps: epochs * int(math.Ceil(n/rkw23Batch)), PlannedRecords: n, NoiseMultiplier: 1, Update: rkw23Grid()[0]}
}

func rkw23Grid() []sgd.Update { return rates(rkw23Rates) }

// rates are so many of Adam, evenly spaced in the logarithm between the paper's ends.
func rates(count int) []sgd.Update {
	return sgd.LearningRates(rkw23LowRate, rkw23HighRate, count,
		func(eta float64) sgd.Update { return sgd.Adam{LearningRate: eta} })
}
