package constrained_test

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/erm/composite"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/constrained"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Linear perturbation needs bounded gradients: from a bounded domain, or by clipping.
func ExampleCalibrate() {
	box := composite.NewBox(1)
	bounded, err := constrained.BoundedOn(loss.Squared{}, 1, 2, box, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, adj := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
		for _, rule := range []constrained.Rule{constrained.Theorem51, constrained.LeastNoise} {
			m, err := constrained.Calibrate(constrained.Config{
				Loss: bounded, RowNorm: 1, Dimension: 3, Epsilon: 1, Delta: 1e-3, Adjacency: adj, Rule: rule,
				Constraint: box,
			})
			if err != nil {
				fmt.Println(err)
				return
			}
			fmt.Printf("%v: σ = %.1f, Δ = %.1f\n", adj, m.Sigma, m.Lambda)
		}
	}
	// Output:
	// add-remove: σ = 30.0, Δ = 2.0
	// add-remove: σ = 12.5, Δ = 4.5
	// replace: σ = 62.7, Δ = 4.0
	// replace: σ = 25.1, Δ = 9.8
}
