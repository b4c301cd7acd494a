package ssp_test

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/ssp"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// corners returns n records at two corners of a square, y = 0.8x₁ − 0.4x₂.
func corners(n int) (*matrix.Dense, []float64) {
	x, y := matrix.NewDense(n, 2, nil), make([]float64, n)
	for i := range y {
		x.Data[2*i+i%2] = 1
		y[i] = [2]float64{0.8, -0.4}[i%2]
	}
	return x, y
}

func ExampleAdaSSP() {
	m, err := ssp.CalibrateAdaSSP(ssp.AdaSSPConfig{RowNorm: 1, LabelBound: 1, Epsilon: 1, Delta: 1e-5,
		Adjacency: privacy.AddRemove})
	if err != nil {
		fmt.Println(err)
		return
	}
	x, y := corners(100_000)
	r, err := m.Run(x, y, noise.NewSeeded(1), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f\n", r.Coefficients)
	// Output:
	// [0.80 -0.40]
}

func ExampleFunctional() {
	// Delta zero: pure ε, Laplace noise.
	m, err := ssp.CalibrateFunctional(ssp.FunctionalConfig{RowNorm: 1, LabelBound: 1, Features: 2, Epsilon: 1,
		Adjacency: privacy.AddRemove})
	if err != nil {
		fmt.Println(err)
		return
	}
	x, y := corners(100_000)
	r, err := m.Run(x, y, noise.NewSeeded(1), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := mechanism.Profile(m)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f, δ(1) = %v\n", r.Coefficients, privacy.DeltaUpper(p, 1))
	// Output:
	// [0.80 -0.40], δ(1) = 0
}
