package convolution

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/limits"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// Of every parameter the ends of its range are admitted, and what is next to them is not.
func TestLimits(t *testing.T) {
	scale := func(field string) limits.Range { return limits.In(field, 0x1p-100, 0x1p100) }
	c := config(smoothing.Logistic{}, 1, Predicted, 100)
	c.Form = loss.Absolute(smoothing.Logistic{}, 1)
	valid := func(c Config) error { return c.validate() }
	limits.Check(t, c, valid, limits.Positive("Epsilon"), limits.NotNegative("Lambda"), limits.NotNegative("Tolerance"),
		limits.In("Norm", limits.None, limits.None), limits.In("Forms", 1, limits.None))
	limits.Check(t, c.Planned, Planned.validate, limits.In("Records", 1, limits.None),
		limits.In("Features", 1, limits.None), limits.Positive("Radius"))
	limits.Check(t, c, func(c Config) error { return c.predictable() }, limits.Positive("Planned.Residual"))
	m := COP{Loss: c.Loss, Lambda: 1, Sigma: 1, Tolerance: 1, OutputSigma: 1, Account: ByRows}
	m.Norm = 0.1
	if err := m.Validate(); err != nil {
		t.Fatal(err)
	}
	limits.Check(t, m, COP.Validate, scale("Lambda"), limits.In("Sigma", limits.None, 0x1p100), scale("Tolerance"),
		scale("OutputSigma"), limits.In("Stack", 0, limits.None))
	for _, bad := range []func(*COP){func(m *COP) { m.Stack = -5e-324 }, func(m *COP) { m.Stack = math.Inf(1) },
		func(m *COP) { m.Centre = []float64{0, math.NaN()} }, func(m *COP) { m.Centre = []float64{math.Inf(-1)} }} {
		off := m
		if bad(&off); off.Validate() == nil {
			t.Errorf("%+v is admitted", off)
		}
	}
	all := Recentred{Stages: []COP{m, m}, Radius: 1}
	limits.Check(t, all, Recentred.Validate, scale("Radius"))
	all.Stages[0].Centre = []float64{1}
	if err := all.Validate(); err != nil {
		t.Error(err)
	}
	all.Stages[1].Centre = []float64{1}
	if all.Validate() == nil {
		t.Error("a second stage has a centre of its own")
	}
	all.Stages[1].Centre, all.Stages[1].Forms = nil, m.Forms+1
	if all.Validate() == nil || (Recentred{Radius: 1}).Validate() == nil {
		t.Error("stages of other forms, or none, are admitted")
	}
	for _, stages := range []int{0, 11} {
		if _, err := CalibrateRecentred(config(smoothing.Logistic{}, 1, Predicted, 100), stages); err == nil {
			t.Errorf("%d stages are admitted", stages)
		}
	}
}
