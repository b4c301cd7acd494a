package explore_test

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/explore"
	"github.com/dpnb/notebooks/dpnb/learn"
)

func ExampleMean() {
	// For a release, leave Noise out.
	age, err := explore.Mean("age").Noise(learn.Seed(1)).Of(people(5000), fresh(1, 1e-6).Spend(0.5))
	low, high := age.Interval()
	fmt.Printf("%.1f, from %.1f to %.1f, %v\n", age.Value(), low, high, err)
	// Output: 44.5, from 44.4 to 44.6, <nil>
}
