package audit

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/interval"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/multiclass"
	"github.com/dpnb/notebooks/dpnb/mechanism/sgd"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Whatever is released as a sum with noise is a multiple of its public grid, and not all of it one of twice the grid.
func TestReleasesAreOnTheGrid(t *testing.T) {
	x, y := lowBitsRecords(60, 20)
	classes := make([]float64, len(y))
	for i := range classes {
		classes[i] = float64(i % 4)
	}
	src := noise.NewSeeded(1) // of 20 fair bits none is odd once in a million releases, and there are eight
	check := func(name string, values []float64, grid float64) {
		t.Helper()
		odd := 0
		for _, v := range values {
			k := v / grid
			if k != math.Trunc(k) {
				t.Errorf("%s: %v is no multiple of %v", name, v, grid)
			}
			if math.Mod(k, 2) != 0 {
				odd++
			}
		}
		if len(values) >= 20 && odd == 0 {
			t.Errorf("%s: all multiples of twice the grid", name)
		}
	}
	for _, delta := range []float64{0, 1e-5} {
		m := must.Get(objpert.CalibrateOutput(objpert.OutputConfig{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 1,
			Epsilon: 1, Delta: delta}))
		for range 3 {
			r := must.Get(m.Run(x, y, src, nil))
			check(m.String(), r.Coefficients, exact.Grid(m.Sigma+m.Scale))
		}
	}
	m := must.Get(objpert.Calibrate(objpert.Config{Loss: loss.Logistic{}, RowNorm: 1, Epsilon: 1, Delta: 1e-5,
		Adjacency: privacy.AddRemove}))
	r := must.Get(m.Run(x, y, src, nil))
	check(m.String(), r.Coefficients, exact.Grid(m.OutputSigma))
	mo := must.Get(interval.Curvature{Fit: m, Sigma: 10}.At(x, y, r.Coefficients, src))
	check("curvature", mo.Hessian.RawSymmetric().Data[:20], exact.Grid(10/math.Sqrt2))
	soft := must.Get(multiclass.CalibrateSoftmax(multiclass.Config{Classes: 4, RowNorm: 1, Epsilon: 1, Delta: 1e-5,
		Adjacency: privacy.AddRemove}, multiclass.Vertex))
	s := must.Get(soft.Run(x, classes, src, nil))
	// Centring four classes leaves multiples of a quarter.
	check(soft.String(), s.Coefficients, exact.Grid(soft.OutputSigma)/4)
	rest := multiclass.OneVsRest{Classes: 4, Binary: m}
	s = must.Get(rest.Run(x, classes, src, nil))
	check(rest.String(), s.Coefficients, exact.Grid(m.OutputSigma))
	tuner := sgd.Tuner{
		Base: sgd.Descent{Loss: loss.Logistic{}, Clip: 1, Rate: 0.1, Steps: 5, NoiseMultiplier: 4,
			PlannedRecords: 60},
		Grid:     sgd.LearningRates(1e-2, 1, 3, func(eta float64) sgd.Update { return sgd.Adam{LearningRate: eta} }),
		MeanRuns: 20, Score: sgd.Training{Sigma: 30},
	}
	tuned := must.Get(tuner.Run(x, y, src, nil))
	check("training score", []float64{tuned.Also.(*sgd.Selected).Score}, exact.Grid(30))
}
