package mechanism_test

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/additive"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/constrained"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/convolution"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/multiclass"
	"github.com/dpnb/notebooks/dpnb/mechanism/pure"
	"github.com/dpnb/notebooks/dpnb/mechanism/sgd"
	"github.com/dpnb/notebooks/dpnb/mechanism/ssp"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// A release states the standard deviation of its noise in each coordinate, in the units of the records: that of the law
// which is drawn (TestNoiseIsWhatTheParametersSay), which for isotropic Laplace noise of scale b in d dimensions is
// b√(d+1), since E‖z‖² = d(d+1)b².
func TestStatedNoise(t *testing.T) {
	const d = 3
	tilt := objpert.Objective{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 2, Sigma: 3, Tolerance: 1e-6,
		OutputSigma: 1e-4}
	output := objpert.Output{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 1, Tolerance: 1e-6, Sigma: 5}
	isotropic := output
	isotropic.Sigma, isotropic.Scale = 0, 5
	moments := ssp.AdaSSP{RowNorm: 2, LabelBound: 3, SigmaEigen: 1, SigmaGram: 1, SigmaCross: 1.5, Failure: 0.05}
	functional := func(law ssp.Noise) ssp.Functional {
		return ssp.Functional{RowNorm: 2, LabelBound: 3, Features: d, Noise: law, Scale: 1.5}
	}
	steps := sgd.Descent{Loss: loss.Squared{}, Clip: 2, Rate: 1, Steps: 2, NoiseMultiplier: 1.5, PlannedRecords: 1,
		Update: sgd.Plain{LearningRate: 1}}
	tuner := sgd.Tuner{Base: steps, Grid: []sgd.Update{sgd.Plain{LearningRate: 1}}, MeanRuns: 0.3,
		Score: sgd.Training{Sigma: 4}}
	tuner.Base.Update = nil
	long := pure.Config{Loss: loss.LeastAbsolute{}, Epsilon: 1, Adjacency: privacy.AddRemove, Features: d,
		Records: 1000, Radius: 1e5, LeastNorm: 1, Lambda: 1, Tolerance: 1e-5}
	tilted, put := must.Get(long.Calibrate()), must.Get(long.CalibrateOutput())
	test := math.Exp(-1 / 0.5) // the ratio of two neighbouring probabilities
	for name, c := range map[string]struct {
		m    mechanism.Mechanism
		want float64
	}{
		"objective": {tilt, 3}, "output": {output, 5}, "output, pure": {isotropic, 5 * 2},
		"linear": {constrained.Objective{Objective: tilt, Dimension: d, Adjacency: privacy.AddRemove, Epsilon: 100,
			Delta: 0.5}, 3},
		"softmax": {multiclass.Softmax{Classes: 3, RowNorm: 1, Lambda: 2, Sigma: 3, Tolerance: 1e-6, OutputSigma: 1e-4},
			3 * math.Sqrt(2.0/3)},
		"one-vs-rest": {multiclass.OneVsRest{Classes: 3, Binary: tilt}, 3},
		"convolved": {convolution.COP{Loss: convolution.Loss{Form: loss.Absolute(smoothing.Logistic{}, 0.5), Forms: 1,
			Norm: 1}, Lambda: 2, Sigma: 3, Tolerance: 1e-6, OutputSigma: 1e-4, Account: convolution.ByRank}, 3},
		"AdaSSP":              {moments, 1.5 * 2 * 3},
		"boosted AdaSSP":      {ssp.Boosted{AdaSSP: moments, Clip: 0.25, Rounds: 3}, 1.5 * 2 * 0.25},
		"functional":          {functional(ssp.Gaussian), 1.5 * 2 * 3},
		"functional, Laplace": {functional(ssp.Laplace), math.Sqrt2 * 1.5 * 2 * 3},
		"TukeyEM": {ssp.TukeyEM{RowNorm: 2, LabelBound: 3, Features: d, Models: 16, TestScale: 0.5, Eta: 9,
			Delta: 0.01}, math.Sqrt(2*test) / (1 - test)},
		"DP-EBM": {additive.Boosting{Cells: additive.Cells{Columns: []additive.Column{{Len: d}}, Bins: 1}, Clip: 2,
			Leaves: 1, Rounds: 1, LearningRate: 0.5, CountSigma: 1, SumSigma: 1.5}, 1.5 * 2},
		"descent": {steps, 1.5 * 2}, "tuned descent": {tuner, 1.5 * 2},
		"objective, any length": {tilted, tilted.Scale * 2}, "output, any length": {put, put.Scale * 2},
	} {
		r, err := c.m.Run(matrix.NewDense(0, d, nil), nil, noise.NewSeeded(1), nil)
		if err != nil || !(math.Abs(r.NoiseScale/c.want-1) <= 1e-12) {
			t.Errorf("%s: the noise is said to be %v, want %v (%v)", name, r.NoiseScale, c.want, err)
		}
	}
}
