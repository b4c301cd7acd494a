package objpert_test

import (
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/limits"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

func TestLimits(t *testing.T) {
	c := objpert.Config{Loss: loss.Logistic{}, RowNorm: 1, Epsilon: 1, Delta: 1e-5, Adjacency: privacy.AddRemove,
		Lambda: 3}
	calibrate := func(c objpert.Config) error { _, err := objpert.Calibrate(c); return err }
	limits.Check(t, c, calibrate, limits.In("Epsilon", limits.None, 1e3), limits.In("Lambda", 0, limits.None),
		limits.In("Rule", float64(objpert.Automatic), float64(objpert.PredictedError)),
		limits.In("NoiseFactor", 1, limits.Below(1e6), 0), limits.In("Reserved", 0, limits.None),
		limits.In("Tolerance", 0, limits.None))
	limits.Argument(t, "clip", 0, limits.None, func(x float64) error { c := c; c.Clip = x; return calibrate(c) })
	m := objpert.Objective{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 1, Sigma: 1, Tolerance: 1, OutputSigma: 1}
	limits.Check(t, m, objpert.Objective.Validate, limits.Scale("Lambda"), limits.Scale("Sigma"),
		limits.Scale("Tolerance"), limits.Scale("OutputSigma"), limits.NotNegative("Shrinkage"))
	counted := objpert.Counted{Fit: m, Count: objpert.Count{Sigma: 1}}
	limits.Check(t, counted, func(m objpert.Counted) error { _, err := m.Profile(); return err },
		limits.In("BaseRate", 0, limits.Below(1)))
	m.Bound = objective.RKW23
	limits.Check(t, m, objpert.Objective.Validate, limits.In("Lambda", limits.Above(m.Smoothness()), limits.None))
	out := objpert.Output{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 1, Tolerance: 1, Sigma: 1}
	limits.Check(t, out, objpert.Output.Validate, limits.Scale("Sigma"), limits.In("Scale", 0, 0))
	limits.Check(t, objpert.OutputConfig{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 1, Epsilon: 1},
		func(c objpert.OutputConfig) error { _, err := objpert.CalibrateOutput(c); return err },
		limits.In("Delta", 0, limits.Below(1)))
	limits.Check(t, objpert.Planned{Records: 1, Features: 1}, objpert.Planned.Validate,
		limits.In("Records", 1, limits.None), limits.In("Features", 1, limits.None), limits.NotNegative("Margin"))
}
