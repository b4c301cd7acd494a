package objpert_test

import (
	"slices"
	"testing"

	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/constrained"

	"github.com/dpnb/notebooks/dpnb/erm/composite"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"

	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/interval"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/multiclass"
	"github.com/dpnb/notebooks/dpnb/mechanism/qop"
	"github.com/dpnb/notebooks/dpnb/mechanism/sgd"
	"github.com/dpnb/notebooks/dpnb/mechanism/ssp"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Every mechanism runs on every dataset in its domain: on none, on one record and on
// records of one class. Whether there are any, and of which classes, is private, so
// that a refusal would be an answer about them that nobody paid for.
func TestNoDatasetIsRefused(t *testing.T) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	const add = privacy.AddRemove
	objective := calibrated(t, 1, 1e-5)
	output, err := objpert.CalibrateOutput(objpert.OutputConfig{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 1, Epsilon: 1, Delta: 1e-5})
	must(err)
	pure, err := objpert.CalibrateOutput(objpert.OutputConfig{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 1, Epsilon: 1})
	must(err)
	descent := sgd.Descent{Loss: loss.Logistic{}, Clip: 1, Rate: 0.1, Steps: 20, PlannedRecords: 100, NoiseMultiplier: 2, Update: sgd.Adam{LearningRate: 0.1}}
	tuner := sgd.Tuner{Base: descent, Grid: []sgd.Update{sgd.Adam{LearningRate: 0.1}}, MeanRuns: 3, Score: sgd.Training{Sigma: 5}}
	adaSSP, err := ssp.CalibrateAdaSSP(ssp.AdaSSPConfig{RowNorm: 1, LabelBound: 1, Epsilon: 1, Delta: 1e-5, Adjacency: add})
	must(err)
	functional, err := ssp.CalibrateFunctional(ssp.FunctionalConfig{RowNorm: 1, LabelBound: 1, Features: 2, Epsilon: 1, Adjacency: add})
	must(err)
	box := composite.NewBox(1)
	bounded, err := constrained.BoundedOn(loss.Squared{}, 1, 2, box, 2)
	must(err)
	tilted, err := constrained.Calibrate(constrained.Config{Loss: bounded, RowNorm: 1, Dimension: 2, Epsilon: 1, Delta: 1e-3, Adjacency: add, Constraint: box})
	must(err)
	curved, err := qop.Calibrate(qop.Config{Loss: loss.Squared{}, RowNorm: 1, Epsilon: 1, Delta: 1e-3, Adjacency: add,
		Interpolation: qop.AssumeInterpolation([]float64{1, 0}, 0), Regulariser: composite.L1{Weight: 0.1}, Constraint: box, Records: 4})
	must(err)
	_, curvature, err := interval.Calibrate(objpert.Config{Loss: loss.Logistic{}, RowNorm: 1, Epsilon: 1, Delta: 1e-5, Adjacency: add}, interval.Share{Curvature: 0.1})
	must(err)
	softmax, err := multiclass.CalibrateSoftmax(multiclass.Config{Classes: 3, RowNorm: 1, Epsilon: 1, Delta: 1e-5, Adjacency: add}, multiclass.Vertex)
	must(err)
	oneVsRest, err := multiclass.CalibrateOneVsRest(multiclass.Config{Classes: 3, RowNorm: 1, Epsilon: 1, Delta: 1e-5, Adjacency: add}, loss.Logistic{})
	must(err)

	type run func(rows matrix.Rows, y []float64, src noise.Source) ([]float64, error)
	type runner interface {
		Run(rows matrix.Rows, labels []float64, src noise.Source, settings *mechanism.Settings) (*mechanism.Release, error)
	}
	of := func(m runner) run {
		return func(rows matrix.Rows, y []float64, src noise.Source) ([]float64, error) {
			r, err := m.Run(rows, y, src, nil)
			if err != nil {
				return nil, err
			}
			return r.Coefficients, nil
		}
	}
	many := func(m runner) run {
		return func(rows matrix.Rows, y []float64, src noise.Source) ([]float64, error) {
			places := make([]float64, len(y))
			for i, v := range y {
				places[i] = 1 + v // 0 or 2: class 1 is absent
			}
			r, err := m.Run(rows, places, src, nil)
			if err != nil {
				return nil, err
			}
			return r.Coefficients, nil
		}
	}
	for name, f := range map[string]run{
		"objective": of(objective), "output": of(output), "output, pure": of(pure), "DP-SGD": of(descent), "AdaSSP": of(adaSSP), "functional": of(functional),
		"linear of quadratic": of(tilted), "quadratic": of(curved), "softmax": many(softmax), "one-vs-rest": many(oneVsRest),
		"tuned DP-SGD": of(tuner),
		"curvature": func(rows matrix.Rows, y []float64, src noise.Source) ([]float64, error) {
			r, moments, err := curvature.Release(rows, y, src, nil)
			if err != nil {
				return nil, err
			}
			_, err = interval.Minimiser(curvature.Fit, r.Coefficients, moments, interval.Settings{Level: 0.9, Linearise: true})
			return r.Coefficients, err
		},
	} {
		sparse, err := matrix.NewCSR(0, 2, []int{0}, nil, nil)
		must(err)
		for data, c := range map[string]struct {
			rows matrix.Rows
			y    []float64
		}{
			"none":                {matrix.NewDense(0, 2, nil), []float64{}},
			"none, nil labels":    {matrix.NewDense(0, 2, nil), nil},
			"none, sparse":        {sparse, nil},
			"one":                 {matrix.NewDense(1, 2, []float64{0.6, 0.8}), []float64{1}},
			"one row of zeros":    {matrix.NewDense(1, 2, nil), []float64{-1}},
			"one class":           {matrix.NewDense(3, 2, []float64{1, 0, 0, 1, 0.6, 0.8}), []float64{-1, -1, -1}},
			"two of three places": {matrix.NewDense(2, 2, []float64{1, 0, 0, 1}), []float64{-1, 1}},
		} {
			theta, err := f(c.rows, c.y, noise.NewSeeded(1))
			if err != nil || len(theta) == 0 || slices.Contains(theta, 0) && data != "none" && name != "quadratic" && name != "linear of quadratic" {
				t.Errorf("%s, %s: θ = %v, %v", name, data, theta, err)
			}
		}
	}
}
