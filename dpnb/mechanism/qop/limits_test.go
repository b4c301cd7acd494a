package qop

import (
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/limits"
	"github.com/dpnb/notebooks/dpnb/loss"
)

func TestLimits(t *testing.T) {
	assumed := func(eta float64) Interpolation { return AssumeInterpolation([]float64{1}, eta) }
	limits.Check(t, Perturbation{Loss: loss.Squared{}, RowNorm: 1, Interpolation: assumed(0)}, func(m Perturbation) error {
		return validateProblem(m.Loss, m.RowNorm, m.Interpolation, nil, nil, m.Lambda)
	}, limits.Positive("RowNorm"), limits.NotNegative("Lambda"))
	limits.Pairs(t, map[string][2]error{"η": {assumed(0).validate(), assumed(-5e-324).validate()}})
	for i, change := range []func(*Config){func(c *Config) { c.Accuracy = -5e-324 },
		func(c *Config) { c.Distance = -5e-324 }, func(c *Config) { c.HiddenDimension = 1 }} {
		c := config([]float64{1}, 0)
		change(&c)
		if _, err := Calibrate(c); err == nil {
			t.Errorf("change %d is admitted", i)
		}
	}
}
