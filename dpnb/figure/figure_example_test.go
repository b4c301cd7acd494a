package figure_test

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/figure"
)

func ExampleNew() {
	f := figure.New("σ of the Gaussian mechanism", "ε", "σ").LogX(0.1, 1, 10)
	png, err := f.Line("δ = 1e-6", []float64{0.1, 1, 10}, []float64{35, 4.2, 0.6}, figure.Blue).PNG()
	fmt.Println(len(png) > 5000, err)
	// Output: true <nil>
}
