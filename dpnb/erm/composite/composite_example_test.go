package composite_test

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/erm/composite"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// Two records, a quadratic term around (1, 0), ℓ₁ and a box.
func ExampleSolve() {
	p := &composite.Problem{
		Problem: erm.Problem{Rows: matrix.NewDense(2, 2, []float64{1, 0, 0, 1}), Labels: []float64{3, 0.1},
			Loss: loss.Squared{}, Quadratic: mat.NewSymDense(2, []float64{1, 0, 0, 1}), Centre: []float64{1, 0}},
		Regulariser: composite.L1{Weight: 0.5},
		Constraint:  composite.NewBox(1.5),
	}
	s, err := composite.Solve(p, &composite.Settings{Tolerance: 1e-6, Modulus: 1})
	if err != nil {
		panic(err)
	}
	fmt.Println(s.Theta, s.Certificate.Bound() <= 1e-6, s.Certificate.Distance() <= 1e-6)
	// Output: [1.5 0] true true
}

func ExampleStochastic() {
	p := &composite.Problem{
		Problem: erm.Problem{Rows: matrix.NewDense(2, 1, []float64{1, 2}), Labels: []float64{1, 2},
			Loss: loss.Squared{}, Lambda: 1},
		Regulariser: composite.L1{Weight: 0.5},
		Constraint:  composite.NewBox(5),
	}
	s, err := composite.Stochastic(p, &composite.StochasticSettings{Indices: noise.NewSeeded(1), Iterations: 20_000})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.2f, certified within 0.1: %v\n", s.Theta[0], s.Certificate.Distance() < 0.1)
	// Output: 0.75, certified within 0.1: true
}

// How far a guess is from the minimiser, without solving.
func ExampleVerify() {
	p := &composite.Problem{
		Problem: erm.Problem{Rows: matrix.NewDense(1, 2, []float64{1, 0}), Labels: []float64{3},
			Loss: loss.Squared{}, Lambda: 1},
		Constraint: composite.Ball{Radius: 1},
	}
	for _, theta := range [][]float64{{1, 0}, {0.6, 0}} {
		c, err := composite.Verify(p, theta, 1)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%.3f %.3f\n", c.Bound(), c.Distance())
	}
	// Output:
	// 0.000 0.000
	// 1.800 1.800
}

// At (0, 1) the gradient (0.5, −3) is balanced by ℓ₁ in the first coordinate; in the second ℓ₁ adds 1, and the bound of
// the box takes the rest.
func ExampleJointDistance() {
	fmt.Println(composite.JointDistance(composite.L1{Weight: 1}, composite.NewBox(1), []float64{0.5, -3},
		[]float64{0, 1}))
	// Output: 0 true
}

func ExampleLeastEigenvalue() {
	bound, ok := composite.LeastEigenvalue(mat.NewSymDense(2, []float64{2, 1, 1, 2}))
	fmt.Println(bound <= 1, bound > 0.99999999, ok)
	// Output: true true true
}
