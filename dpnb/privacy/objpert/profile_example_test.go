package objpert_test

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objpert"
)

// What λ = 1, σ = 2 cost with rows of norm at most 1, by three bounds.
func ExampleNew() {
	curve, err := objpert.Logistic(1)
	if err != nil {
		panic(err)
	}
	for _, b := range []objpert.Bound{objpert.DTZ24, objpert.Pointwise, objpert.Tight} {
		p, err := objpert.New(objpert.Config{Curve: curve, Lambda: 1, Sigma: 2, Bound: b})
		if err != nil {
			panic(err)
		}
		fmt.Printf("%-10v δ(0.25) = %.4f\n", b, privacy.DeltaUpper(p, 0.25))
	}
	fmt.Println("exactly Gaussian:", objpert.IsGaussian(curve, 1, 2))
	// Output:
	// dtz24      δ(0.25) = 0.3661
	// pointwise  δ(0.25) = 0.1252
	// tight      δ(0.25) = 0.1103
	// exactly Gaussian: true
}

// The smallest ridge for a given σ and target, tight against the older bound.
func ExampleLambda() {
	curve, err := objpert.Logistic(1)
	if err != nil {
		panic(err)
	}
	for _, b := range []objpert.Bound{objpert.DTZ24, objpert.Tight} {
		l, err := objpert.Lambda(objpert.Config{Curve: curve, Sigma: 4.2, Bound: b}, 1, 1e-5)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%v: λ = %.1f\n", b, l)
	}
	// Output:
	// dtz24: λ = 2.9
	// tight: λ = 0.3
}
