package erm_test

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

func ExampleMinimize() {
	p := &erm.Problem{
		Rows:   matrix.NewDense(4, 2, []float64{1, 0, 0.8, 0.6, -0.6, 0.8, -1, 0}),
		Labels: []float64{1, 1, -1, -1},
		Loss:   loss.Logistic{},
		Lambda: 0.5,
	}
	s, err := erm.Minimize(p, &erm.Settings{Tolerance: 1e-10})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("θ = %.4f, ‖∇J(θ)‖ ≤ 1e-10: %v\n", s.Theta, s.Certificate.Bound() <= 1e-10)
	// Output: θ = [1.4720 -0.1333], ‖∇J(θ)‖ ≤ 1e-10: true
}

// The same problem by another method, from a point that is nearly right.
func ExampleSettings() {
	rows, err := matrix.NewCSR(3, 3, []int{0, 1, 2, 3}, []int32{0, 1, 2}, []float64{1, 1, 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	p := &erm.Problem{Rows: rows, Labels: []float64{1, -1, 1}, Loss: loss.Logistic{}, Lambda: 1}
	s, err := erm.Minimize(p, &erm.Settings{Method: erm.SAG{Seed: 1}, Start: []float64{0.4, -0.4, 0.4}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: θ = %.4f\n", s.Method, s.Theta)
	// Output: SAG: θ = [0.4011 -0.4011 0.4011]
}
