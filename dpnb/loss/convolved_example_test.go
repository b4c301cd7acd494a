package loss_test

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// The absolute loss with two kernels of the same curvature. At large slopes, where a private fit pays for it, Huber's
// has all of it left and log cosh little.
func ExampleAbsolute() {
	for _, k := range []smoothing.Kernel{smoothing.Uniform{}, smoothing.Logistic{}} {
		l := loss.Absolute(k, 0.5)
		c, err := loss.CurveOf(l, 1)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%-8s curvature at most %.0f; %.2f at slope 0.5, %.2f at 0.95\n", k.Name(), l.Smoothness(),
			c.SBar(0.5), c.SBar(0.95))
	}
	fmt.Println(loss.Absolute(smoothing.Logistic{}, -1).Labels())
	// Output:
	// uniform  curvature at most 2; 2.00 at slope 0.5, 2.00 at 0.95
	// logistic curvature at most 2; 1.50 at slope 0.5, 0.20 at 0.95
	// a positive finite Width first, not -1
}
