package convolution

import (
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/limits"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

func TestLimits(t *testing.T) {
	c := config(smoothing.Gaussian{}, 1, Paper, 1000)
	m := must.Get(Calibrate(c))
	c.Loss = m.Loss
	limits.Check(t, c, Config.validate, limits.Positive("Epsilon"), limits.NotNegative("Tolerance"),
		limits.NotNegative("Lambda"), limits.In("Loss.Forms", 1, limits.None))
	limits.Check(t, Planned{Records: 1, Features: 1, Radius: 1}, Planned.validate,
		limits.In("Records", 1, limits.None), limits.In("Features", 1, limits.None), limits.Positive("Radius"))
	limits.Check(t, m, COP.Validate, limits.In("Stack", 0, limits.None), limits.In("OutputSigma", limits.None, 0x1p100),
		limits.In("Tolerance", 0x1p-100, limits.None))
}
