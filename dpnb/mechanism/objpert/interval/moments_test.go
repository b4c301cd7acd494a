package interval

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/testing/apart"
	"github.com/dpnb/notebooks/dpnb/mechanism"
)

// A copy of moments is in no memory of theirs, whether or not the scores are known.
func TestCloneOfMoments(t *testing.T) {
	for _, scores := range []*mat.SymDense{nil, mat.NewSymDense(2, []float64{3, 1, 1, 4})} {
		m := &Moments{Hessian: mat.NewSymDense(2, []float64{2, 1, 1, 2}), HessianSigma: 0.5, Scores: scores,
			Guarantee: mechanism.Guarantee{Assumptions: []string{"a"}}}
		c := m.CloneAlso().(*Moments)
		if !mat.Equal(c.Hessian, m.Hessian) || (c.Scores == nil) != (scores == nil) ||
			scores != nil && !mat.Equal(c.Scores, scores) || c.HessianSigma != 0.5 ||
			!slices.Equal(c.Guarantee.Assumptions, m.Guarantee.Assumptions) || apart.Shared(c, m) != nil {
			t.Errorf("%+v, shared %q", c, apart.Shared(c, m))
		}
	}
}
