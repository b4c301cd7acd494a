package geometry

import (
	"slices"
	"testing"

	"github.com/dpnb/notebooks/dpnb/matrix"
)

// Rows of nothing but the bias are those of a matrix that has it.
func TestBlank(t *testing.T) {
	const n, d, bias = 4, 3, 0.5
	b, whole := blank{n, d, bias}, matrix.NewDense(n, d, nil)
	for i := range n {
		whole.Data[i*d+d-1] = bias
	}
	of := func(r matrix.Rows) (all []float64) {
		row, margins, sum, norms := []float64{7, 7, 7}, make([]float64, 2), []float64{1, 2, 3}, make([]float64, 2)
		r.Row(row, 1)
		r.Margins(margins, []float64{5, 6, 7}, 1, 3)
		r.AddScaled(sum, []float64{2, -5}, 1, 3)
		r.(interface {
			Norms(dst []float64, lo, hi int)
		}).Norms(norms, 1, 3)
		many, wide := r.Dims()
		return slices.Concat(row, margins, sum, norms, []float64{float64(many), float64(wide), matrix.MaxNorm(r)})
	}
	if got, want := of(b), of(whole); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
