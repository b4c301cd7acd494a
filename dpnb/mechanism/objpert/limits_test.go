package objpert_test

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/limits"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// Of every parameter the ends of its range are admitted, and what is next to them is not.
func TestLimits(t *testing.T) {
	c := objpert.Config{Loss: loss.Logistic{}, RowNorm: 1, Epsilon: 1, Delta: 1e-5, Adjacency: privacy.AddRemove,
		Lambda: 3}
	least := 0x1p-100
	limits.Check(t, c, func(c objpert.Config) error { _, err := objpert.Calibrate(c); return err },
		limits.In("Epsilon", limits.None, 1e3), limits.In("Lambda", 0, limits.None),
		limits.In("Rule", float64(objpert.Automatic), float64(objpert.PredictedError)),
		limits.In("NoiseFactor", 1, limits.Below(1e6), 0), limits.In("Reserved", 0, limits.None),
		limits.In("Tolerance", 0, limits.None))
	for _, clip := range []float64{limits.None, -5e-324, math.Inf(1)} {
		clipped := c
		if clipped.Clip = clip; func() error { _, err := objpert.Calibrate(clipped); return err }() == nil {
			t.Errorf("Clip = %v is admitted", clip)
		}
	}
	m := objpert.Objective{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 1, Sigma: 1, Tolerance: 1, OutputSigma: 1}
	limits.Check(t, m, objpert.Objective.Validate, limits.In("RowNorm", limits.None, limits.None),
		limits.In("Lambda", least, 0x1p100), limits.In("Sigma", least, 0x1p100), limits.In("Tolerance", least, 0x1p100),
		limits.In("OutputSigma", least, 0x1p100), limits.In("Centre", limits.None, limits.None),
		limits.NotNegative("Shrinkage"))
	m.Bound = objective.RKW23
	limits.Check(t, m, objpert.Objective.Validate, limits.In("Lambda", limits.Above(m.Smoothness()), limits.None))
	out := objpert.Output{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 1, Tolerance: 1, Sigma: 1}
	limits.Check(t, out, objpert.Output.Validate, limits.In("Sigma", least, 0x1p100), limits.In("Scale", 0, 0))
	out.Sigma, out.Scale = 0, 1
	limits.Check(t, out, objpert.Output.Validate, limits.In("Scale", least, 0x1p100))
	limits.Check(t, objpert.OutputConfig{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 1, Epsilon: 1},
		func(c objpert.OutputConfig) error { _, err := objpert.CalibrateOutput(c); return err },
		limits.In("Epsilon", 1e-6, 1e6, limits.Below(1e-6), limits.Above(1e6)), limits.In("Delta", 0, limits.Below(1)))
	limits.Check(t, objpert.Planned{Records: 1, Features: 1}, objpert.Planned.Validate,
		limits.In("Records", 1, limits.None), limits.In("Features", 1, limits.None), limits.NotNegative("Margin"))
	for share, fine := range map[float64]bool{0: false, 0.01: true, 1: false, limits.None: false} {
		if _, err := objpert.CalibrateCounted(c, share, true); (err == nil) != fine {
			t.Errorf("share %v: %v", share, err)
		}
	}
	counted := objpert.Counted{Fit: m, Count: objpert.Count{Sigma: 1}}
	counted.Fit.Bound = 0
	limits.Check(t, counted, func(m objpert.Counted) error { _, err := m.Profile(); return err },
		limits.In("BaseRate", 0, limits.Below(1)))
	rough := func(first, length int, weight float64) objpert.Penalty {
		return objpert.Penalty{Rough: []objpert.Roughness{{Span: matrix.Span{First: first, Len: length}, Weight: weight}}}
	}
	for i, c := range []struct {
		p    objpert.Penalty
		fine bool
	}{{rough(0, 0, 0), true}, {rough(1, 3, 0x1.fp1019), true}, {rough(2, 3, 1), false}, {rough(-1, 3, 1), false},
		{rough(1, -1, 1), false}, {rough(1, 3, -5e-324), false}, {rough(1, 3, 0x1p1020), false}} {
		if fine := c.p.Validate(1) == nil && c.p.Check(4) == nil; fine != c.fine {
			t.Errorf("%d: %+v", i, c)
		}
	}
}
