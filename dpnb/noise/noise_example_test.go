package noise_test

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/noise"
)

// A seed gives the same numbers again, and says that they protect nobody.
func ExampleNewSeeded() {
	a, b := make([]float64, 2), make([]float64, 2)
	noise.NewSeeded(7).Gaussian(a, 1)
	noise.NewSeeded(7).Gaussian(b, 1)
	fmt.Println(a[0] == b[0], noise.Simulated(noise.NewSeeded(7)), noise.Simulated(noise.NewSecure()))
	// Output: true true false
}
