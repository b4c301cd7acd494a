package interval

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/limits"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
)

// Of every parameter the ends of its range are admitted, and what is next to them is not.
func TestLimits(t *testing.T) {
	limits.Check(t, Settings{Level: 0.9}, Settings.validate, limits.NotNegative("NormBound"),
		limits.In("Level", 5e-324, limits.Below(1)))
	c := config(loss.Logistic{}, 1)
	fit := must.Get(objpert.Calibrate(c))
	limits.Check(t, Curvature{Fit: fit, Sigma: 1, ScoreSigma: 1}, Curvature.Validate,
		limits.In("Sigma", 0x1p-100, 0x1p100), limits.In("ScoreSigma", 0x1p-100, 0x1p100, 0))
	for _, s := range []struct {
		curvature, scores, reserved float64
		fine                        bool
	}{
		{0.1, 0, 0, true}, {0.1, 0.1, 0.1, true}, {0, 0.1, 0, false}, {1, 0, 0, false}, {0.1, -5e-324, 0, false},
		{0.5, 0.5, 0, false}, {0.5, 0.25, 0.25, false}, {math.NaN(), 0, 0, false}, {0.1, math.NaN(), 0, false},
	} {
		c.Reserved = s.reserved
		if _, k, err := Calibrate(c, Share{s.curvature, s.scores}); (err == nil) != s.fine ||
			err == nil && (k.ScoreSigma > 0) != (s.scores > 0) {
			t.Errorf("%+v: %v, %v", s, k, err)
		}
	}
	for _, theta := range [][]float64{nil, {math.NaN()}, {1, math.Inf(-1)}} {
		if checkTheta(theta) == nil {
			t.Errorf("θ = %v is admitted", theta)
		}
	}
	if err := checkTheta([]float64{1, math.MaxFloat64}); err != nil {
		t.Error(err)
	}
}
