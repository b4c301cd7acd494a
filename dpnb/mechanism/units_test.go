package mechanism_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/additive"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/constrained"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/convolution"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/interval"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/multiclass"
	"github.com/dpnb/notebooks/dpnb/mechanism/qop"
	"github.com/dpnb/notebooks/dpnb/mechanism/sgd"
	"github.com/dpnb/notebooks/dpnb/mechanism/ssp"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// In other units of features and labels, with the bounds in the same ones, the same noise gives the same fit.
func TestUnitsDoNotMatter(t *testing.T) {
	const n, d = 400, 2
	src := noise.NewSeeded(3)
	rows, labels := matrix.NewDense(n, d, nil), make([]float64, n)
	for i := range labels {
		x := rows.Data[i*d : (i+1)*d]
		x[0], x[1] = 0.7, 1.4*src.Float64()-0.7
		labels[i] = 0.3 + 0.5*x[1] + 0.1*src.Float64()
	}
	for name, of := range map[string]func(r, y float64) mechanism.Mechanism{
		"AdaSSP": func(r, y float64) mechanism.Mechanism {
			return ssp.AdaSSP{RowNorm: r, LabelBound: y, SigmaEigen: 1, SigmaGram: 1, SigmaCross: 1, Failure: 0.05}
		},
		"boosted AdaSSP": func(r, y float64) mechanism.Mechanism {
			m := ssp.AdaSSP{RowNorm: r, LabelBound: y, SigmaEigen: 1, SigmaGram: 1, SigmaCross: 1, Failure: 0.05}
			return ssp.Boosted{AdaSSP: m, Clip: 0.25 * y, Rounds: 3}
		},
		"functional": func(r, y float64) mechanism.Mechanism {
			return ssp.Functional{RowNorm: r, LabelBound: y, Features: d, Noise: ssp.Laplace, Scale: 1}
		},
		"TukeyEM": func(r, y float64) mechanism.Mechanism {
			return ssp.TukeyEM{RowNorm: r, LabelBound: y, Features: d, Models: 40, TestScale: 0.5, Eta: 9, Delta: 0.01}
		},
		"DP-EBM": func(r, y float64) mechanism.Mechanism {
			return additive.Boosting{Cells: additive.Cells{Columns: []additive.Column{{First: 1, Len: 1}}, Bins: 1},
				Clip: 0.5 * y, Leaves: 1, Rounds: 2, LearningRate: 0.5, CountSigma: 1, SumSigma: 1}
		},
		"quantiles": func(r, y float64) mechanism.Mechanism {
			return sgd.Quantiles{Levels: []float64{0.3, 0.6}, RowNorm: r, Steps: 8, NoiseMultiplier: 3,
				Update: sgd.Adaptive{Radius: 2 * y / r, Steps: 8}}
		},
	} {
		fit := func(r, y float64) []float64 {
			x, in := matrix.NewDense(n, d, nil), make([]float64, n)
			floats.AddScaled(x.Data, r, rows.Data)
			floats.AddScaled(in, y, labels)
			return must.Get(of(r, y).Run(x, in, noise.NewSeeded(1), nil)).Coefficients
		}
		want := fit(1, 1)
		if !(floats.Norm(want, 2) > 0.01) {
			t.Errorf("%s: coefficients %v", name, want)
		}
		for _, c := range [][2]float64{{4, 1}, {1, 8}, {0.5, 4}} {
			by := c[1] / c[0]
			if name == "DP-EBM" { // cells are 0 or 1 in any unit
				by = c[1]
			}
			for j, v := range fit(c[0], c[1]) {
				if !(math.Abs(v-by*want[j]) <= 1e-6*by) {
					t.Errorf("%s: coefficient %d is %v where rows are of norm %g and labels within %g, want %v", name,
						j, v, c[0], c[1], by*want[j])
				}
			}
		}
	}
}

// What a release costs does not depend on the unit of features: rows of norm r with λ r², σ r and τ r, and output noise
// over r, cost what those of norm 1 do.
func TestUnitsCostNothing(t *testing.T) {
	testscale.Slow(t)
	tilt := func(r float64, bound objective.Bound) objpert.Objective {
		return objpert.Objective{Loss: loss.Logistic{}, RowNorm: r, Lambda: 0.6 * r * r, Sigma: 1.5 * r,
			Tolerance: 1e-3 * r, OutputSigma: 0.02 / r, Bound: bound}
	}
	all := map[string]func(r float64) mechanism.Mechanism{
		"one-vs-rest": func(r float64) mechanism.Mechanism {
			return multiclass.OneVsRest{Classes: 3, Binary: tilt(r, 0)}
		},
		"linear": func(r float64) mechanism.Mechanism {
			return constrained.Objective{Objective: tilt(r, 0), Dimension: 3, Adjacency: privacy.AddRemove,
				Epsilon: 100, Delta: 0.5}
		},
		"output": func(r float64) mechanism.Mechanism {
			return objpert.Output{Loss: loss.Logistic{}, RowNorm: r, Lambda: r * r, Tolerance: 0.1 * r, Sigma: 1 / r}
		},
		"convolved": func(r float64) mechanism.Mechanism {
			return convolution.COP{Loss: convolution.Loss{Form: loss.Absolute(smoothing.Logistic{}, 0.5), Forms: 1,
				Norm: r}, Lambda: 2 * r * r, Sigma: 3 * r, Tolerance: 1e-3 * r, OutputSigma: 0.02 / r,
				Account: convolution.ByRank}
		},
		"curvature": func(r float64) mechanism.Mechanism {
			fit := tilt(r, 0)
			fit.Lambda, fit.Sigma = 5*r*r, 3*r
			return interval.Curvature{Fit: fit, Sigma: 0.5 * r * r, ScoreSigma: 2 * r * r}
		},
	}
	bend := must.Get(qop.Calibrate(qop.Config{Loss: loss.Squared{}, RowNorm: 1, Epsilon: 1, Delta: 1e-3,
		Adjacency: privacy.AddRemove, Interpolation: qop.AssumeInterpolation([]float64{0, 0}, 0), HiddenDimension: 24,
		Accuracy: 1e-4}))
	all["quadratic"] = func(r float64) mechanism.Mechanism {
		m := bend
		m.RowNorm, m.Sigma2, m.Shift, m.OutputSigma = r, r*r*m.Sigma2, r*r*m.Shift, m.OutputSigma/r
		return m
	}
	for name, m := range map[string]multiclass.Softmax{"softmax": {Classes: 3, Lambda: 20, Sigma: 3},
		"softmax of two":  {Classes: 2, Lambda: 20, Sigma: 3},
		"softmax by rank": {Classes: 3, Lambda: 0.6, Sigma: 1.5, Bound: multiclass.RankK}} {
		all[name] = func(r float64) mechanism.Mechanism {
			m := m
			m.RowNorm, m.Lambda, m.Sigma, m.Tolerance, m.OutputSigma = r, r*r*m.Lambda, r*m.Sigma, 1e-3*r, 0.02/r
			return m
		}
	}
	for _, bound := range []objective.Bound{0, objective.RKW23, objective.DTZ24, objective.Pointwise,
		objective.Integral, objective.Tight} {
		all["objective, "+bound.String()] = func(r float64) mechanism.Mechanism { return tilt(r, bound) }
	}
	for name, of := range all {
		cost := func(r float64) []float64 {
			p, err := mechanism.Profile(of(r))
			if err != nil {
				t.Fatal(name, err)
			}
			return []float64{p.LogDeltaUpper(privacy.Remove, 0.3), p.LogDeltaUpper(privacy.Add, 2)}
		}
		want := cost(1)
		for _, r := range []float64{0.25, 8} {
			for k, l := range cost(r) {
				if !(math.Abs(l-want[k]) <= 1e-3) || l > -1e-3 || l < -100 {
					t.Errorf("%s: ln δ = %v of rows of norm %g, %v of rows of norm 1", name, l, r, want[k])
				}
			}
		}
	}
}

// Intervals are in the unit of the coefficients: of rows of norm r they are those of rows of norm 1 over r.
func TestIntervalsAreInUnits(t *testing.T) {
	const n, d = 20_000, 2
	src := noise.NewSeeded(3)
	rows, labels := matrix.NewDense(n, d, nil), make([]float64, n)
	for i := range labels {
		x := rows.Data[i*d : (i+1)*d]
		x[0], x[1] = 0.7, 1.4*src.Float64()-0.7
		labels[i] = math.Copysign(1, 0.2+x[1]+src.Float64()-0.5)
	}
	ends := func(r float64) map[string][]float64 {
		x := matrix.NewDense(n, d, nil)
		floats.AddScaled(x.Data, r, rows.Data)
		m := interval.Curvature{Fit: objpert.Objective{Loss: loss.Logistic{}, RowNorm: r, Lambda: 5 * r * r,
			Sigma:     3 * r,
			Tolerance: 1e-3 * r, OutputSigma: 0.02 / r}, Sigma: 0.5 * r * r, ScoreSigma: 2 * r * r}
		out := must.Get(m.Run(x, labels, noise.NewSeeded(1), nil))
		s, also := interval.Settings{Level: 0.9, Linearise: true}, out.Also.(*interval.Moments)
		all := map[string]*interval.Intervals{
			"the release": must.Get(interval.FromRelease(m, out.Coefficients, 0.9)),
			"the fit":     must.Get(interval.Minimiser(m.Fit, out.Coefficients, also, s)),
			"the people":  must.Get(interval.Population(m.Fit, out.Coefficients, also, s)),
		}
		ends := map[string][]float64{}
		for name, iv := range all {
			ends[name] = append(append(ends[name], iv.Lower...), iv.Upper...)
		}
		return ends
	}
	want := ends(1)
	for _, r := range []float64{0x1p-30, 8, 0x1p30} {
		for name, all := range ends(r) {
			for k, v := range all {
				if !(math.Abs(v*r-want[name][k]) <= 1e-6) {
					t.Errorf("%s, rows of norm %g: an end at %v, want %v", name, r, v, want[name][k]/r)
				}
			}
		}
	}
}
