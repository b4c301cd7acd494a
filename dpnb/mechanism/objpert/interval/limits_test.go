package interval

import (
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/limits"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
)

func TestLimits(t *testing.T) {
	limits.Check(t, Settings{Level: 0.9}, Settings.validate, limits.NotNegative("NormBound"),
		limits.In("Level", 5e-324, limits.Below(1)))
	c := config(loss.Logistic{}, 1)
	limits.Check(t, Curvature{Fit: must.Get(objpert.Calibrate(c)), Sigma: 1, ScoreSigma: 1}, Curvature.Validate,
		limits.Scale("Sigma"), limits.In("ScoreSigma", 0x1p-100, 0x1p100, 0))
	share := func(curvature, scores, reserved float64) error {
		c := c
		c.Reserved = reserved
		_, k, err := Calibrate(c, Share{curvature, scores})
		if err == nil && (k.ScoreSigma > 0) != (scores > 0) {
			t.Errorf("scores %v: %v", scores, k)
		}
		return err
	}
	limits.Pairs(t, map[string][2]error{"curvature": {share(0.1, 0, 0), share(0, 0.1, 0)},
		"all": {share(0.1, 0.1, 0.1), share(1, 0, 0)}, "scores": {nil, share(0.1, -5e-324, 0)},
		"together": {nil, share(0.5, 0.5, 0)}, "nothing is left": {nil, share(0.5, 0.25, 0.25)}})
}
