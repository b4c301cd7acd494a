package geometry_test

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/limits"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/geometry"
)

func TestLimits(t *testing.T) {
	m := around(t, loss.Softplus{Width: 1}, 1, 3)
	m.Curves = []matrix.Span{{First: 0, Len: 2}}
	limits.Check(t, m, geometry.Centred.Validate, limits.Scale("MeanSigma"), limits.Scale("Mu"), limits.Scale("Bias"),
		limits.Scale("CountSigma"), limits.In("BaseRate", 0, limits.Below(1)), limits.NotNegative("Gate"),
		limits.NotNegative("Most"), limits.In("Free", 1, limits.None), limits.In("Crossed", 0, 1))
	planned, counted, numbers := m, m, m
	planned.Planned, planned.CountSigma, counted.Planned, numbers.Most, numbers.Numbers = 100, 0, 100, 1, true
	limits.Check(t, planned, geometry.Centred.Validate, limits.In("Planned", limits.None, math.MaxFloat64))
	limits.Pairs(t, map[string][2]error{"planned": {nil, counted.Validate()}, "numbers": {nil, numbers.Validate()}})
	pure := func(count, mean, eps float64) error {
		_, err := geometry.CalibratePure(geometry.Centred{}, geometry.Share{Count: count, Mean: mean}, eps,
			func(float64) (mechanism.Informed, error) { return nil, nil })
		return err
	}
	limits.Argument(t, "ε", 1e-9, 1e6, func(eps float64) error { return pure(0.02, 0.1, eps) })
	limits.Argument(t, "count", 5e-324, 0.5-0x1p-53, func(s float64) error { return pure(s, 0.5, 1) })
	limits.Argument(t, "mean", 5e-324, 0.5-0x1p-53, func(s float64) error { return pure(0.5, s, 1) })
}
