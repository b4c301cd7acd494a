package matrix_test

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/matrix"
)

func ExampleNewDense() {
	rows := matrix.NewDense(2, 3, []float64{1, 0, 2, 0, 3, 0})
	margins, norms := make([]float64, 2), make([]float64, 2)
	rows.Margins(margins, []float64{1, 1, 1}, 0, 2)
	rows.Norms(norms, 0, 2)
	fmt.Println(margins, norms[1], matrix.MaxNorm(rows) == norms[1])
	// Output: [3 3] 3 true
}
