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

// Of every parameter the ends of its range are admitted, and what is next to them is not.
func TestLimits(t *testing.T) {
	scale := func(field string) limits.Range { return limits.In(field, 0x1p-100, 0x1p100) }
	m := multiclass.Softmax{Classes: 3, RowNorm: 1, Lambda: 1, Sigma: 1, Tolerance: 1, OutputSigma: 1}
	limits.Check(t, m, multiclass.Softmax.Validate, limits.In("Classes", 2, 1<<20), scale("RowNorm"), scale("Lambda"),
		scale("Sigma"), scale("Tolerance"), scale("OutputSigma"), limits.NotNegative("Shrinkage"),
		limits.In("Bound", float64(multiclass.Vertex), float64(multiclass.RankK)))
	limits.Check(t, multiclass.OneVsRest{Classes: 3, Binary: objpert.Objective{Loss: loss.Logistic{}, RowNorm: 1,
		Lambda: 1, Sigma: 1, Tolerance: 1, OutputSigma: 1}}, multiclass.OneVsRest.Validate,
		limits.In("Classes", 2, 1<<20), scale("Binary.Sigma"))
	c := config(2, 1)
	c.Lambda = 3
	limits.Check(t, c, func(c multiclass.Config) error {
		_, err := multiclass.CalibrateSoftmax(c, multiclass.Vertex)
		return err
	}, limits.In("Epsilon", limits.None, 1e3), limits.In("Lambda", limits.None, limits.None),
		limits.In("NoiseFactor", 1, limits.Below(1e6), 0), limits.In("Tolerance", 0, limits.None),
		limits.In("Reserved", 0, limits.None))
	for name, change := range map[string]func(*multiclass.Config){
		"Lambda": func(c *multiclass.Config) { c.Lambda = -5e-324 }, "ε": func(c *multiclass.Config) { c.Epsilon = 0 },
		"all reserved": func(c *multiclass.Config) { c.Reserved = 1 },
	} {
		c := c
		change(&c)
		if _, err := multiclass.CalibrateSoftmax(c, multiclass.Vertex); err == nil {
			t.Errorf("%s is admitted", name)
		}
	}
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
	for _, r := range []float64{0.125, 8} {
		if s, l := softmax(r); math.Abs(s/sigma-1) > 1e-6 || math.Abs(l/lambda-1) > 1e-6 {
			t.Errorf("R = %g: σ = %g·R, λ = %g·R², want %g and %g", r, s, l, sigma, lambda)
		}
	}
}
