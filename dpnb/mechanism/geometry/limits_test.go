package geometry_test

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/limits"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/geometry"
)

func TestLimits(t *testing.T) {
	c := around(t, loss.Logistic{}, 1, 4)
	c.Curves = []matrix.Span{{First: 0, Len: 1}, {First: 1, Len: 2}}
	limits.Check(t, c, geometry.Centred.Validate, limits.Scale("MeanSigma"), limits.Scale("Mu"),
		limits.Scale("RowNorm"), limits.Scale("Bias"), limits.Scale("CountSigma"), limits.In("Planned", 0, 0),
		limits.In("BaseRate", 0, limits.Below(1)), limits.NotNegative("Gate"), limits.In("Whole", 0, 1),
		limits.NotNegative("Most"), limits.In("Free", 1, limits.None), limits.In("Crossed", 0, 2))
	c.CountSigma, c.Planned = 0, 1
	limits.Check(t, c, geometry.Centred.Validate, limits.In("Planned", limits.None, math.MaxFloat64),
		limits.In("CountSigma", 0, 0))
	c.Numbers = true
	limits.Check(t, c, geometry.Centred.Validate, limits.In("Most", 0, 0))
}
