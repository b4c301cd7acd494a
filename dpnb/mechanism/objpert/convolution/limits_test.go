package convolution

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/limits"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

func TestLimits(t *testing.T) {
	c := config(smoothing.Logistic{}, 1, Predicted, 100)
	c.Form, c.Norm = loss.Absolute(smoothing.Logistic{}, 1), 0.1
	limits.Check(t, c, func(c Config) error { return c.validate() }, limits.Positive("Epsilon"),
		limits.NotNegative("Lambda"), limits.NotNegative("Tolerance"), limits.In("Forms", 1, limits.None))
	limits.Check(t, c.Planned, Planned.validate, limits.In("Records", 1, limits.None),
		limits.In("Features", 1, limits.None), limits.Positive("Radius"))
	limits.Check(t, c, func(c Config) error { return c.predictable() }, limits.Positive("Planned.Residual"))
	m := COP{Loss: c.Loss, Lambda: 1, Sigma: 1, Tolerance: 1, OutputSigma: 1, Account: ByRows}
	limits.Check(t, m, COP.Validate, limits.Scale("Lambda"), limits.Scale("Tolerance"), limits.Scale("OutputSigma"),
		limits.In("Stack", 0, limits.None))
	centred, far, other := m, m, m
	centred.Centre, far.Centre, other.Forms = []float64{1}, []float64{0, math.Inf(-1)}, m.Forms+1
	stages := func(of ...COP) error { return Recentred{Stages: of, Radius: 1}.Validate() }
	limits.Pairs(t, map[string][2]error{"centre": {centred.Validate(), far.Validate()}, "none": {stages(m), stages()},
		"first": {stages(centred, m), stages(m, centred)}, "forms": {stages(m, m), stages(m, other)}})
	limits.Check(t, Recentred{Stages: []COP{m}, Radius: 1}, Recentred.Validate, limits.Scale("Radius"))
}
