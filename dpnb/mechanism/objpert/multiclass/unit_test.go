package multiclass_test

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/multiclass"
)

// Records of another length are the same in another unit: σ goes with the length and λ with its square.
func TestUnitOfRecords(t *testing.T) {
	softmax := func(r float64) (float64, float64) {
		c := config(3, 1)
		c.RowNorm = r
		m := must.Get(multiclass.CalibrateSoftmax(c, multiclass.Vertex))
		return m.Sigma / r, m.Lambda / (r * r)
	}
	sigma, lambda := softmax(1)
	if s, l := softmax(0.125); !(math.Abs(s/sigma-1) <= 1e-6) || !(math.Abs(l/lambda-1) <= 1e-6) {
		t.Errorf("σ = %g·R, λ = %g·R², want %g and %g", s, l, sigma, lambda)
	}
}
