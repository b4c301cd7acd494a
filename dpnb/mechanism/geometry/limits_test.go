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

// Of every parameter the ends of its range are admitted, and what is next to them is not.
func TestLimits(t *testing.T) {
	m := around(t, loss.Softplus{Width: 1}, 1, 3)
	m.Curves = []matrix.Span{{First: 0, Len: 2}}
	scale := func(field string) limits.Range { return limits.In(field, 0x1p-100, 0x1p100) }
	limits.Check(t, m, geometry.Centred.Validate, scale("MeanSigma"), scale("Mu"), scale("RowNorm"), scale("Bias"),
		scale("CountSigma"), limits.In("BaseRate", 0, limits.Below(1)), limits.NotNegative("Gate"),
		limits.NotNegative("Most"), limits.In("Free", 1, limits.None), limits.In("Crossed", 0, 1))
	planned := m
	planned.Planned, planned.CountSigma = 100, 0
	limits.Check(t, planned, geometry.Centred.Validate, limits.In("Planned", limits.None, math.MaxFloat64))
	if planned.Planned = -5e-324; planned.Validate() == nil {
		t.Error("less than no records are planned")
	}
	if planned.Planned, planned.CountSigma = 100, 1; planned.Validate() == nil {
		t.Error("planned records are counted")
	}
	if m.Most, m.Numbers = 1, true; m.Validate() == nil {
		t.Error("numbers are counts")
	}

	fits := func(float64) (mechanism.Informed, error) { return nil, nil }
	for _, c := range []struct {
		share   geometry.Share
		epsilon float64
		fine    bool
	}{
		{geometry.Share{Count: 0.5, Mean: 0.25}, 1, true}, {geometry.Share{Count: 0.5, Mean: 0.5}, 1, false},
		{geometry.Share{Count: 0, Mean: 0.5}, 1, false}, {geometry.Share{Count: 0.5, Mean: 0}, 1, false},
		{geometry.DefaultPure, 1e-9, true}, {geometry.DefaultPure, 1e6, true},
		{geometry.DefaultPure, limits.Below(1e-9), false}, {geometry.DefaultPure, limits.Above(1e6), false},
		{geometry.DefaultPure, limits.None, false},
	} {
		if _, err := geometry.CalibratePure(geometry.Centred{}, c.share, c.epsilon, fits); (err == nil) != c.fine {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
