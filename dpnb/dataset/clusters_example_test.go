package dataset_test

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/dataset"
)

// Four clusters, two of each class, in three of five columns.
func ExampleClusters() {
	s, err := dataset.Clusters{Records: 1000, Features: 5, Informative: 3, Separation: 2, Seed: 1}.Generate()
	if err != nil {
		panic(err)
	}
	train, test := s.Split(0.8)
	d, err := train.Design(1)
	if err != nil {
		panic(err)
	}
	fmt.Println(d.Records(), test.Rows.N, d.Features, s.Informative)
	fmt.Printf("‖x‖ ≤ %.4f\n", d.RowNorm)
	// Output:
	// 800 200 [x1 x2 x3 x4 x5 bias] [false true false true true]
	// ‖x‖ ≤ 1.4142
}
