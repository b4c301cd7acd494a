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
	rows := matrix.NewDense(3, 3, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}).Sparse()
	p := &erm.Problem{Rows: rows, Labels: []float64{1, -1, 1}, Loss: loss.Logistic{}, Lambda: 1}
	s, err := erm.Minimize(p, &erm.Settings{Method: erm.SAG{Seed: 1}, Start: []float64{0.4, -0.4, 0.4}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: θ = %.4f\n", s.Method, s.Theta)
	// Output: SAG: θ = [0.4011 -0.4011 0.4011]
}

// Three classes: a vector of coefficients for each.
func ExampleProblem_softmax() {
	p := &erm.Problem{
		Rows:   matrix.NewDense(4, 2, []float64{1, 0, 1, 0, 0, 1, -1, -1}),
		Labels: []float64{0, 0, 1, 2}, Joint: loss.Softmax{Classes: 3}, Lambda: 0.5,
	}
	sol, err := erm.Minimize(p, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	prob, forms := make([]float64, 3), make([]float64, 3)
	for c := range forms {
		forms[c] = sol.Theta[2*c] // of the record (1, 0)
	}
	p.Joint.Derivatives(nil, prob, forms, p.Labels[:1])
	fmt.Printf("%.3f, certified: %v\n", prob, sol.Certificate.Bound() <= sol.Tolerance)
	// Output:
	// [0.743 0.154 0.103], certified: true
}
