package qop

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/limits"
	"github.com/dpnb/notebooks/dpnb/loss"
)

// Of every parameter the ends of its range are admitted, and what is next to them is not.
func TestLimits(t *testing.T) {
	assumed := AssumeInterpolation([]float64{1}, 0)
	limits.Check(t, Perturbation{Loss: loss.Squared{}, RowNorm: 1, Interpolation: assumed}, func(m Perturbation) error {
		return validateProblem(m.Loss, m.RowNorm, m.Interpolation, nil, nil, m.Lambda)
	}, limits.Positive("RowNorm"), limits.NotNegative("Lambda"))
	for eta, fine := range map[float64]bool{0: true, math.MaxFloat64: true, -5e-324: false, math.Inf(1): false} {
		if err := AssumeInterpolation([]float64{1}, eta).validate(); (err == nil) != fine {
			t.Errorf("η = %v: %v", eta, err)
		}
	}
	for name, change := range map[string]func(*Config){
		"Accuracy": func(c *Config) { c.Accuracy = -5e-324 },
		"Distance": func(c *Config) { c.Distance = -5e-324 },
		"M":        func(c *Config) { c.HiddenDimension = 1 },
	} {
		c := config([]float64{1}, 0)
		change(&c)
		if _, err := Calibrate(c); err == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
