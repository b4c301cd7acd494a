package explore_test

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/explore"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// A price of quantiles is for their levels, in shares of the records: 0.01 is a percentile.
func ExampleQuery_Price() {
	quartiles := explore.QuantilesOf("age", 0.25, 0.5, 0.75).Planned(5000)
	price, err := quartiles.Price(people(5000), 0.01, 0.95)
	fmt.Printf("ε = %.2f, μ = %.2f, %v\n", price.Epsilon, price.Mu, err)
	// Output: ε = 0.19, μ = 0.07, <nil>
}

func ExampleMean() {
	// For a release, leave Noise out.
	age, err := explore.Mean("age").Noise(learn.Seed(1)).Of(people(5000), fresh(1, 1e-6).Spend(0.5))
	low, high := age.Interval()
	fmt.Printf("%.1f, from %.1f to %.1f, %v\n", age.Value(), low, high, err)
	// Output: 44.5, from 44.4 to 44.6, <nil>
}
