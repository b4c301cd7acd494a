package population_test

import (
	"context"
	"fmt"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/sim/population"
)

// Ten thousand private logistic regressions on 40 records of 25 features.
func Example() {
	s := population.Simulation{
		Population: population.Population{Records: 40, Features: 25, Design: population.Rademacher,
			Signal: population.Normal(0, 1), Prob: population.Logistic},
		Estimator:   population.ObjectivePerturbation{Loss: loss.Logistic{}, Lambda: 1, Nu: 0.2},
		Repetitions: 10_000, Seed: 1,
	}
	r, err := s.Run(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	mse := r.Of(0, population.MSE)
	fmt.Printf("squared error %.2f ± %.2f\n", mse.Mean, mse.StdErr)
	// Output: squared error 0.80 ± 0.00
}

// One solver for many small problems.
func ExampleSolver() {
	p := population.Population{Records: 30, Features: 4, Design: population.Gaussian, Signal: population.Normal(0, 1),
		Prob: population.Logistic}
	var s population.Solver
	var sample *population.Sample
	for k := range 3 {
		sample = p.Draw(noise.NewSeeded(1).Stream(k), sample)
		beta, err := s.Minimize(&erm.Problem{Rows: sample.Rows, Labels: sample.Labels, Loss: loss.Logistic{},
			Lambda: 0.5}, 1e-8)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(len(beta), "coefficients")
	}
	// Output:
	// 4 coefficients
	// 4 coefficients
	// 4 coefficients
}
