package objective_test

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// What λ = 1, σ = 2 cost with rows of norm at most 1, by three bounds.
func ExampleNew() {
	curve, err := loss.CurveOf(loss.Logistic{}, 1)
	if err != nil {
		panic(err)
	}
	for _, b := range []objective.Bound{objective.DTZ24, objective.Pointwise, objective.Tight} {
		p, err := objective.New(objective.Config{Curve: curve, Lambda: 1, Sigma: 2, Bound: b})
		if err != nil {
			panic(err)
		}
		fmt.Printf("%-10v δ(0.25) = %.4f\n", b, privacy.DeltaUpper(p, 0.25))
	}
	fmt.Println("exactly Gaussian:", objective.IsGaussian(curve, 1, 2))
	// Output:
	// dtz24      δ(0.25) = 0.3661
	// pointwise  δ(0.25) = 0.1252
	// tight      δ(0.25) = 0.1103
	// exactly Gaussian: true
}
