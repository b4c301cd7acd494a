package multiclass

import (
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/limits"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

func TestLimits(t *testing.T) {
	limits.Check(t, Config{Classes: 3, RowNorm: 1, Epsilon: 1, Delta: 1e-5, Adjacency: privacy.AddRemove},
		Config.validate, limits.In("Epsilon", 5e-324, 1e3), limits.NotNegative("Lambda"),
		limits.In("NoiseFactor", 1, limits.Below(1e6), 0), limits.NotNegative("Tolerance"),
		limits.In("Reserved", 0, limits.Below(1)))
}
