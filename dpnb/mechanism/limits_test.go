package mechanism_test

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/limits"
	"github.com/dpnb/notebooks/dpnb/mechanism"
)

func TestLimits(t *testing.T) {
	limits.Argument(t, "scale", 0x1p-100, 0x1p100, func(x float64) error {
		return mechanism.Scales{{"a", 1}, {"b", x}}.Check()
	})
	limits.Pairs(t, map[string][2]error{"a row": {mechanism.CheckRows(1), mechanism.CheckRows(0)},
		"rows": {mechanism.CheckRows(10_000), mechanism.CheckRows(10_001)},
		"law":  {mechanism.Laplace.Validate(), (mechanism.Laplace + 1).Validate()}})
	for _, c := range [][2]float64{{mechanism.Gaussian.Cost(2, 4), math.Sqrt(0.3125)},
		{mechanism.Laplace.Cost(2, 4), 0.75}, {mechanism.Gaussian.Variance(3), 1}, {mechanism.Laplace.Variance(3), 4}} {
		if c[0] < c[1] || c[0] > c[1]*(1+1e-14) {
			t.Errorf("%v, want %v", c[0], c[1])
		}
	}
}
