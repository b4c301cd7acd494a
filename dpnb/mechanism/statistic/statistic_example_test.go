package statistic_test

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/mechanism/statistic"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// Keys of few people are left out, whoever they are. The noise is of a seed here.
func ExampleSelection() {
	towns, people := []string{"Bern", "Rome", "Urk"}, []int64{120, 80, 2}
	m, err := statistic.SelectionConfig{Keys: 1, Epsilon: 1, Delta: 1e-5}.Calibrate()
	if err != nil {
		panic(err)
	}
	r, err := m.Release(people, noise.NewSeeded(1))
	if err != nil {
		panic(err)
	}
	shown := r.Also.(*statistic.Selected)
	for i, at := range shown.Places {
		fmt.Println(towns[at], shown.Counts[i])
	}
	fmt.Println("threshold:", m.Threshold)
	// Output:
	// Bern 117
	// Rome 80
	// threshold: 11
}
