package multiclass_test

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/limits"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/multiclass"
)

func TestLimits(t *testing.T) {
	m := multiclass.Softmax{Classes: 3, RowNorm: 1, Lambda: 1, Sigma: 1, Tolerance: 1, OutputSigma: 1}
	limits.Check(t, m, multiclass.Softmax.Validate, limits.In("Classes", 2, 1<<20), limits.Scale("Lambda"),
		limits.Scale("Sigma"), limits.Scale("Tolerance"), limits.Scale("OutputSigma"), limits.NotNegative("Shrinkage"),
		limits.In("Bound", float64(multiclass.Vertex), float64(multiclass.RankK)))
	fit := objpert.Objective{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 1, Sigma: 1, Tolerance: 1, OutputSigma: 1}
	limits.Check(t, multiclass.OneVsRest{Classes: 3, Binary: fit}, multiclass.OneVsRest.Validate,
		limits.In("Classes", 2, 1<<20))
	c := config(2, 1)
	c.Lambda = 3
	calibrate := func(c multiclass.Config) error {
		_, err := multiclass.CalibrateSoftmax(c, multiclass.Vertex)
		return err
	}
	limits.Check(t, c, calibrate, limits.In("Epsilon", limits.None, 1e3), limits.In("Tolerance", 0, limits.None),
		limits.In("NoiseFactor", 1, limits.Below(1e6), 0), limits.In("Reserved", 0, limits.None))
	c.Lambda, c.Reserved = -5e-324, 0
	all := config(2, 1)
	all.Reserved = 1
	limits.Pairs(t, map[string][2]error{"λ": {nil, calibrate(c)}, "all reserved": {nil, calibrate(all)}})
}

// Records of another length are the same in another unit: σ goes with the length and λ with its square.
func TestUnitOfRecords(t *testing.T) {
	softmax := func(r float64) (float64, float64) {
		c := config(3, 1)
		c.RowNorm = r
		m := must.Get(multiclass.CalibrateSoftmax(c, multiclass.Vertex))
		return m.Sigma / r, m.Lambda / (r * r)
	}
	sigma, lambda := softmax(1)
	if s, l := softmax(0.125); math.Abs(s/sigma-1) > 1e-6 || math.Abs(l/lambda-1) > 1e-6 {
		t.Errorf("σ = %g·R, λ = %g·R², want %g and %g", s, l, sigma, lambda)
	}
}
