package softmax_test

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/erm/softmax"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

func ExampleMinimize() {
	p := &softmax.Problem{
		Rows:   matrix.NewDense(4, 2, []float64{1, 0, 1, 0, 0, 1, -1, -1}),
		Labels: []int{0, 0, 1, 2}, Classes: 3, Lambda: 0.5,
	}
	sol, err := softmax.Minimize(p, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	prob := make([]float64, 3)
	softmax.Probabilities(prob, sol.Theta, []float64{1, 0})
	fmt.Printf("%.3f, certified: %v\n", prob, sol.Certificate.Bound() <= sol.Tolerance)
	// Output:
	// [0.743 0.154 0.103], certified: true
}
