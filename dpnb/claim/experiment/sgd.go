package experiment

import (
	"errors"
	"math"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/sgd"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// DP-SGD as in section 5 of rkw23: batches of 256 in the mean, Adam, ten
// learning rates from 1e-8 to 1e-1, more than ten honest runs with probability
// 0.9.
const (
	rkw23Batch     = 256
	rkw23Rates     = 10
	rkw23ManyRuns  = 0.9
	rkw23LowRate   = 1e-8
	rkw23HighRate  = 1e-1
	RKW23SGDEpochs = 60
)

// HonestDPSGD is DP-SGD whose tuning is paid for: a Poisson number of runs (15.4
// in the mean), each with a rate drawn from the grid, the best on the public
// records, by the sharpest accounting that is proved. The number of records is
// taken as public, as in the paper; that is fair to nobody but to DP-SGD.
func HonestDPSGD(epochs int) Mechanism {
	calibration := remembered(func(k key) (sgd.Tuner, error) {
		runs, err := sgd.MeanRunsFor(rkw23Rates, rkw23ManyRuns)
		if err != nil {
			return sgd.Tuner{}, err
		}
		t := sgd.Tuner{Base: rkw23Descent(k, epochs), Grid: rkw23Grid(), MeanRuns: runs, Score: sgd.Holdout{}}
		return t.Calibrate(k.epsilon, k.delta)
	})
	return descending("honest DP-SGD", calibration, func(t sgd.Tuner, train *Records, src *noise.Seeded) ([]float64, error) {
		r, err := t.Run(train.Rows, train.Labels, src, &mechanism.Settings{Workers: 1})
		if err != nil {
			return nil, err
		}
		return r.Coefficients, nil
	})
}

// DishonestDPSGD is the best of the grid, with the noise of one run: what is
// often reported, and not private at the ε that it is reported at.
func DishonestDPSGD(epochs int) Mechanism {
	calibration := remembered(func(k key) (sgd.Tuner, error) {
		t := sgd.Tuner{Base: rkw23Descent(k, epochs), Grid: rkw23Grid(), MeanRuns: 1, Score: sgd.Holdout{}}
		c, err := t.Base.Cost().CalibrateNoise(k.epsilon, k.delta)
		t.Base.NoiseMultiplier = c.NoiseMultiplier
		return t, err
	})
	return descending("dishonest DP-SGD", calibration, func(t sgd.Tuner, train *Records, src *noise.Seeded) ([]float64, error) {
		r, err := t.RunDishonestly(train.Rows, train.Labels, src, &mechanism.Settings{Workers: 1})
		if err != nil {
			return nil, err
		}
		return r.Coefficients, nil
	})
}

func descending(name string, calibration func(key) (sgd.Tuner, error), run func(sgd.Tuner, *Records, *noise.Seeded) ([]float64, error)) Mechanism {
	return Mechanism{Name: name, Fit: func(train *Records, epsilon, delta float64, src *noise.Seeded) ([]float64, error) {
		if train.Public == nil {
			return nil, errors.New("experiment: DP-SGD is tuned here on public records; set Records.Public")
		}
		n, _ := train.Rows.Dims()
		t, err := calibration(key{rowNorm: train.RowNorm, epsilon: epsilon, delta: delta, records: n})
		if err != nil {
			return nil, err
		}
		t.Score = sgd.Holdout{Rows: train.Public.Rows, Labels: train.Public.Labels}
		return run(t, train, src)
	}}
}

// rkw23Descent is one run on k.records records.
func rkw23Descent(k key, epochs int) sgd.Descent {
	n := float64(k.records)
	return sgd.Descent{Loss: loss.Logistic{}, Clip: k.rowNorm, Rate: math.Min(1, rkw23Batch/n),
		Steps: epochs * int(math.Ceil(n/rkw23Batch)), PlannedRecords: n, NoiseMultiplier: 1, Update: rkw23Grid()[0]}
}

func rkw23Grid() []sgd.Update {
	return sgd.LearningRates(rkw23LowRate, rkw23HighRate, rkw23Rates, func(eta float64) sgd.Update { return sgd.Adam{LearningRate: eta} })
}
