package wishart_test

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/wishart"
)

// The curvature that a (0.5, 0.01) release of 100 coefficients needs, by the paper's theorem and by what is proved
// here.
func ExampleSetting_Noise() {
	for _, a := range []wishart.Accounting{wishart.Theorem31, wishart.Spectral, wishart.Directional, wishart.Exact} {
		split := wishart.Split{Epsilon1: 0.5, Delta1: 0.005, Delta3: 0.005}
		if a >= wishart.Directional {
			split = wishart.Split{Epsilon1: 0.5, Delta1: 0.01} // λ_min has no part in it
		}
		n, err := wishart.Setting{
			Wishart: wishart.Wishart{D: 100, M: 200}, Smoothness: 2500, Rank: 1,
			Structure: wishart.LeastSquares, Accounting: a,
		}.Noise(split)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%v: σ² = %s\n", a, privacy.FormatUp(n.Sigma2, 5))
	}
	// Output:
	// theorem 3.1: σ² = 117480
	// spectral: σ² = 25593
	// directional: σ² = 2129.6
	// exact: σ² = 1123.4
}

func ExampleOptimise() {
	plan, err := wishart.Optimise(
		wishart.Setting{Wishart: wishart.Wishart{D: 12}, Smoothness: 1, Rank: 1, Structure: wishart.LinearModel},
		1, 1e-3, wishart.Risk{Records: 100, Distance: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("m = %d, excess risk at most %s\n", plan.Setting.M, privacy.FormatUp(plan.Risk, 3))
	// Output:
	// m = 44, excess risk at most 24.5
}

func ExampleWishart_Constants() {
	k, err := wishart.Wishart{D: 2000, M: 20000}.Constants(1e-12, 1e-12, 1e-12)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("α = %.1f, α₁ = %.2f, β = %.0f, μ = %.0f\n", k.Alpha, k.Alpha1, k.Beta, k.Mu)
	// Output:
	// α = 6667.9, α₁ = 0.82, β = 37508, μ = 20000
}
