package convolution_test

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/convolution"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// Median regression of records with ‖x‖ ≤ 1: everything is chosen from public numbers.
func ExampleCalibrate() {
	m, err := convolution.Calibrate(convolution.Config{
		Loss:    convolution.Loss{Form: loss.Absolute(smoothing.Logistic{}, 0), Forms: 1, Norm: 1},
		Epsilon: 1, Delta: 1e-5, Adjacency: privacy.AddRemove,
		Planned: convolution.Planned{Records: 2000, Features: 10, Radius: 5, Residual: 1},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("λ = %.1f, σ = %.1f, width %.1f\n", m.Lambda, m.Sigma, m.Form.(loss.Convolved).Width)
	fmt.Println(m.Describe().Bound)
	// Output:
	// λ = 2.6, σ = 4.7, width 0.4
	// composition of the forms (docs/theory/smoothing.md, Theorem 6)
}
