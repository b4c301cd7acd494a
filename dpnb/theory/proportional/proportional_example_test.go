package proportional_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/theory/proportional"
)

func ExampleRegression_Solve() {
	p := must.Get(proportional.Regression{
		Loss: loss.Huber{Threshold: 1}, AspectRatio: 0.5, Lambda: 0.1, Nu: 0.2, Kappa: 1,
		Noise: proportional.Normal(0, 0.2),
	}.Solve(nil))
	fmt.Printf("RMSE %.4f, τ %.4f\n", p.RMSE, p.Gamma)
	// Output: RMSE 0.3004, τ 0.8443
}

func ExampleClassification_Solve() {
	c := proportional.Classification{
		Loss: loss.Logistic{}, Link: proportional.LogisticLink{}, AspectRatio: 0.2, Kappa: 2.23606797749979,
	}
	p, err := c.Solve(nil) // maximum likelihood
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("α %.4f, σ %.4f, γ %.4f\n", p.Alpha, p.Sigma, p.Gamma)
	c.AspectRatio = 0.4
	_, err = c.Solve(nil)
	fmt.Println(errors.Is(err, proportional.ErrNoSolution))
	// Output:
	// α 1.4994, σ 2.1214, γ 3.0269
	// true
}

func ExampleFixedPoint_Density() {
	prior := proportional.Mix([]float64{0.5, 0.5}, proportional.Point(0), proportional.Normal(2, 0.5))
	p := proportional.FixedPoint{Alpha: 0.9, Sigma: 0.3}
	fmt.Printf("%.4f %.4f\n", p.Density(prior, 0), p.CDF(prior, 0.9))
	// Output: 0.6664 0.5233
}

func ExampleDescent_Trajectory() {
	path := must.Get(proportional.Descent{
		Loss: loss.Logistic{}, Link: proportional.LogisticLink{}, AspectRatio: 0.5,
		Step: 1, Steps: 4, Nu: 0.1, Kappa: 1, Expected: true,
	}.Trajectory(nil))
	for t, m := range path {
		fmt.Printf("%d: %.3f\n", t, m.MSE())
	}
	// Output:
	// 0: 1.000
	// 1: 0.441
	// 2: 0.296
	// 3: 0.220
	// 4: 0.173
}

func ExamplePredict() {
	task := proportional.Task{
		Loss: loss.Logistic{}, Link: proportional.LogisticLink{}, Kappa: 1, Radius: 1, Goal: proportional.SquaredError,
	}
	target := proportional.Target{Epsilon: 1, Delta: 1e-5, Adjacency: privacy.AddRemove}
	got := must.Get(proportional.Predict(task, 10_000, 100, target, proportional.Objective, proportional.Output))
	for _, p := range got {
		fmt.Printf("%s with λ = %.3g and ν = %.3g: ‖β̂ − β⋆‖²/d = %.3g, %.1f %% misclassified\n", p.Mechanism, p.Lambda,
			p.Nu, p.Point.MSE(), 100*p.Quality().Error)
	}
	fmt.Println(len(got[0].Assumptions()), "assumptions")
	// Output:
	// objective perturbation with λ = 1.45 and ν = 3.73: ‖β̂ − β⋆‖²/d = 0.0762, 33.3 % misclassified
	// output perturbation with λ = 12.5 and ν = 0.297: ‖β̂ − β⋆‖²/d = 0.283, 35.0 % misclassified
	// 7 assumptions
}

func ExampleProx() {
	p, slope := make([]float64, 2), make([]float64, 2)
	proportional.Prox(p, slope, loss.Logistic{}, 2, []float64{0, 3}, []float64{1, 1})
	fmt.Printf("%.4f %.4f\n", p, slope)
	// Output: [0.6748 3.0873] [-0.3374 -0.0436]
}

func ExampleTask_Frontier() {
	task := proportional.Task{
		Loss: loss.Huber{Threshold: 1}, Noise: proportional.Normal(0, 0.3), Kappa: 1, Radius: 1,
		Goal: proportional.SquaredError,
	}
	var targets []proportional.Target
	for _, eps := range []float64{0.5, 2} {
		targets = append(targets, proportional.Target{Epsilon: eps, Delta: 1e-5, Adjacency: privacy.AddRemove})
	}
	ratios := []float64{0.01, 0.1}
	grid := must.Get(task.Frontier(proportional.Objective, targets, ratios))
	for i, row := range grid {
		for j, p := range row {
			fmt.Printf("ε = %g, d/n = %g: MSE %.3f at λ = %.2g\n", targets[i].Epsilon, ratios[j], p.Point.MSE(),
				p.Lambda)
		}
	}
	// Output:
	// ε = 0.5, d/n = 0.01: MSE 0.014 at λ = 6.6
	// ε = 0.5, d/n = 0.1: MSE 0.577 at λ = 13
	// ε = 2, d/n = 0.01: MSE 0.002 at λ = 1.5
	// ε = 2, d/n = 0.1: MSE 0.098 at λ = 1.9
}
