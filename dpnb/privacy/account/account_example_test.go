package account_test

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/account"
)

func ExamplePLD() {
	a, _ := account.NewPLD(privacy.AddRemove, nil)
	_ = a.Compose(privacy.Gaussian{Sigma: 5, Sensitivity: 1}, 10)
	_ = a.Compose(privacy.Laplace{Scale: 3, Sensitivity: 1}, 5)
	_ = a.Compose(privacy.SubsampledGaussian{Sigma: 1, Sensitivity: 1, Rate: 0.01}, 100)
	b, err := a.EpsilonBounds(1e-5)
	fmt.Printf("%.2f ≤ ε ≤ %.2f by %s, %v\n", b.Lower, b.Upper, b.Method, err)
	for _, line := range a.Ledger() {
		fmt.Println(line.Count, "×", line.Event)
	}
	// Output:
	// 3.82 ≤ ε ≤ 3.82 by privacy-loss distribution, <nil>
	// 10 × Gaussian(σ=5, Δ₂=1)
	// 5 × Laplace(b=3, Δ₁=1)
	// 100 × SubsampledGaussian(σ=1, Δ₂=1, q=0.01)
}
