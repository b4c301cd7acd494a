// Package multiclass has private learning algorithms for more than two classes:
// one joint softmax fit (Softmax) and one binary fit for each class (OneVsRest),
// both by objective perturbation. Softmax needs less noise for the same
// guarantee from three classes on.
package multiclass

import (
	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/mechanism"
)

// Release is the output of a mechanism for K classes. Its Coefficients are those
// of the classes one after another, θ_c at [c·d : (c+1)·d].
type Release struct {
	mechanism.Release
	// Classes is K, Features is d.
	Classes, Features int
}

// Class returns the coefficients of class c, which it shares with the release.
func (r *Release) Class(c int) []float64 {
	return r.Coefficients[c*r.Features : (c+1)*r.Features]
}

// Predict returns the class of the largest xᵀθ_c, the first of them if there are
// several. It panics if x has not d entries.
func (r *Release) Predict(x []float64) int {
	best, top := 0, floats.Dot(r.Class(0), x)
	for c := 1; c < r.Classes; c++ {
		if t := floats.Dot(r.Class(c), x); t > top {
			best, top = c, t
		}
	}
	return best
}

// normSlack is by how much, relatively, a record's computed norm may exceed
// RowNorm; L and s pay for it.
const normSlack = 1e-12
