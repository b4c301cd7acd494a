package privacy_test

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

func ExampleGaussianSigma() {
	sigma, err := privacy.GaussianSigma(1, 1e-5)
	fmt.Printf("σ = %.4f, %v\n", sigma, err)
	// Output: σ = 3.7306, <nil>
}

func ExampleHalfNormal_Profile() {
	// dtz24 Theorem 5.1: K = ln(1 + s/λ), a = L/σ.
	p, err := privacy.HalfNormal{K: 0.0953, A: 0.125}.Profile(privacy.AddRemove)
	fmt.Printf("δ(0.25) ≤ %.5f, %v\n", privacy.DeltaUpper(p, 0.25), err)
	// Output: δ(0.25) ≤ 0.01400, <nil>
}

func ExampleReplaceProfile() {
	p, _ := privacy.SubsampledGaussian{Sigma: 2, Sensitivity: 1, Rate: 0.1}.Profile(privacy.AddRemove)
	r, err := privacy.ReplaceProfile(p)
	fmt.Printf("add/remove: δ(0.1) ≤ %.3g; replace-one: δ(0.1) ≤ %.3g, %v\n",
		privacy.DeltaUpper(p, 0.1), privacy.DeltaUpper(r, 0.1), err)
	// Output: add/remove: δ(0.1) ≤ 0.00236; replace-one: δ(0.1) ≤ 0.00853, <nil>
}
