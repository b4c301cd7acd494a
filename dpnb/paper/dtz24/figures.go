package dtz24

import (
	"context"
	"fmt"
	"slices"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/sim/population"
	"github.com/dpnb/notebooks/dpnb/theory/proportional"
)

// people is the population of the figures, a regression or a classification, its numbers of records and features left
// out.
func people(regression bool) population.Population {
	p := population.Population{Design: population.Rademacher, Signal: population.Normal(0, Kappa)}
	if regression {
		p.Noise = population.Normal(0, Noise)
	} else {
		p.Prob = population.Logistic
	}
	return p
}

// familyOf returns the loss of the figures, the ridges of its curves and their names.
func familyOf(regression bool) (l loss.Loss, lambdas []float64, names []string) {
	l, lambdas = loss.Logistic{}, LogisticLambdas
	if regression {
		l, lambdas = loss.Huber{Threshold: Threshold}, HuberLambdas
	}
	for _, lambda := range lambdas {
		names = append(names, fmt.Sprintf("λ = %g", lambda))
	}
	return l, lambdas, names
}

// fitted solves the fixed point of one curve and returns what is seen on the training records besides.
func fitted(regression bool, aspect, lambda, nu float64) (p proportional.FixedPoint, training float64) {
	l, _, _ := familyOf(regression)
	if regression {
		r := proportional.Regression{Loss: l, AspectRatio: aspect, Lambda: lambda, Nu: nu, Kappa: Kappa,
			Noise: proportional.Normal(0, Noise)}
		p = measure.Must(r.Solve(nil))
		return p, r.SlopeMoment(p, 2)
	}
	c := proportional.Classification{Loss: l, Link: proportional.LogisticLink{}, AspectRatio: aspect, Lambda: lambda,
		Nu: nu, Kappa: Kappa}
	p = measure.Must(c.Solve(nil))
	return p, c.TrainingMoment(p, probabilityGap)
}

const squaredError = "‖β̂ − β⋆‖²/d"

// objectiveFigure is Figure 3 (a regression) or 4: the error and what happens on the training records, without privacy
// and with.
func objectiveFigure(ctx context.Context, scale Scale, repetitions int, regression bool, seed uint64) (
	_ []Panel, err error) {
	defer measure.Catch(&err)
	second, of := "‖ρ′(Xβ⋆) − ρ′(Xβ̂)‖²/n", population.ProbabilityGap
	if regression {
		second, of = "‖[y − Xβ̂]_L‖²/n", population.SlopeSquare
	}
	l, lambdas, names := familyOf(regression)
	panels := []Panel{newPanel("estimation error, ν = 0", squaredError, 0, names),
		newPanel("estimation error, ν = 1/5", squaredError, 0.2, names),
		newPanel("training records, ν = 0", second, 0, names), newPanel("training records, ν = 1/5", second, 0.2, names)}
	var arms []arm
	for k, p := range panels[:2] {
		for c, lambda := range lambdas {
			arms = append(arms, arm{10*k + c, people(regression), func(float64) population.Estimator {
				return population.ObjectivePerturbation{Loss: l, Lambda: lambda, Nu: p.Nu}
			}, func(aspect float64) []float64 {
				p, training := fitted(regression, aspect, lambda, p.Nu)
				return []float64{p.MSE(), training}
			}, []place{{k, c, 0, population.MSE}, {k + 2, c, 0, of}}})
		}
	}
	return draw(ctx, scale, repetitions, seed, panels, arms), nil
}

// Figure3 is Figure 3 of dtz24: objective perturbation with the Huber loss (L = 10), κ = 1, ε⋆ ~ N(0, (1/5)²),
// Rademacher rows, n·d = 1,000, means of 100 simulations, ν ∈ {0, 1/5}: estimation error and truncated residuals.
func Figure3(ctx context.Context, scale Scale) ([]Panel, error) {
	return objectiveFigure(ctx, scale, 100, true, 2403)
}

// Figure4 is Figure 4 of dtz24: objective perturbation with the logistic loss, κ = 1, Rademacher rows, n·d = 1,000,
// means of 1,000 simulations, ν ∈ {0, 1/5}: estimation error and the difference of ρ′ on the training records.
func Figure4(ctx context.Context, scale Scale) ([]Panel, error) {
	return objectiveFigure(ctx, scale, 1000, false, 2404)
}

// Figure5 is Figure 5 of dtz24: output perturbation with the Huber loss (the first two panels) and the logistic loss, ν
// ∈ {0, 1/2}, means of 100 simulations: estimation error.
func Figure5(ctx context.Context, scale Scale) (_ []Panel, err error) {
	defer measure.Catch(&err)
	var panels []Panel
	var arms []arm
	for k, title := range []string{"Huber loss, ν = 0", "Huber loss, ν = 1/2", "logistic loss, ν = 0",
		"logistic loss, ν = 1/2"} {
		l, lambdas, names := familyOf(k < 2)
		nu := 0.5 * float64(k%2)
		panels = append(panels, newPanel(title, squaredError, nu, names))
		for c, lambda := range lambdas {
			arms = append(arms, arm{10*k + c, people(k < 2), func(float64) population.Estimator {
				return population.OutputPerturbation{Loss: l, Lambda: lambda, Nu: nu}
			}, func(aspect float64) []float64 {
				p, _ := fitted(k < 2, aspect, lambda, 0)
				return []float64{p.WithOutputNoise(nu).MSE()}
			}, []place{{k, c, 0, population.MSE}}})
		}
	}
	return draw(ctx, scale, 100, 2405, panels, arms), nil
}

// Step is the step size of Figure 6 as printed: ½/(1 + δ). For the Huber loss it is too large below δ = 0.484: the
// largest eigenvalue of XᵀX tends to (1 + 1/√δ)², and its product with the step exceeds 2, so that the error grows
// until the residuals are cut.
func Step(aspect float64) float64 { return 0.5 / (1 + aspect) }

// StableStep is ½/(1 + 1/δ), with which the error falls at every δ.
func StableStep(aspect float64) float64 { return 0.5 / (1 + 1/aspect) }

// Figure6 is Figure 6 of dtz24: noisy gradient descent in its "conditional expectation" version with the Huber loss
// (the first two panels) and the logistic loss, ν ∈ {0, 1/10}, y = Xβ⋆, means of 10⁴ simulations: estimation error
// after T steps of the given size, Step for what is printed. All the curves of a dot come from the same runs.
func Figure6(ctx context.Context, scale Scale, step func(aspect float64) float64) (_ []Panel, err error) {
	defer measure.Catch(&err)
	var names []string
	for _, t := range Steps {
		names = append(names, fmt.Sprintf("T = %d", t))
	}
	last := slices.Max(Steps)
	var panels []Panel
	var arms []arm
	for k, title := range []string{"Huber loss, ν = 0", "Huber loss, ν = 1/10", "logistic loss, ν = 0",
		"logistic loss, ν = 1/10"} {
		l, _, _ := familyOf(k < 2)
		nu, slopes, at := 0.1*float64(k%2), population.Slopes(population.ExpectedLogistic), people(true)
		at.Noise = nil // the labels are the true scores
		g := proportional.Descent{Loss: l, Steps: last, Nu: nu, Kappa: Kappa, Expected: true}
		if k < 2 {
			slopes, g.Noise = population.ExpectedHuber(Threshold, Noise), proportional.Normal(0, Noise)
		} else {
			g.Link = proportional.LogisticLink{}
		}
		panels = append(panels, newPanel(title, squaredError, nu, names))
		var places []place
		for c, t := range Steps {
			places = append(places, place{k, c, t, population.MSE})
		}
		arms = append(arms, arm{k, at, func(aspect float64) population.Estimator {
			return population.NoisyDescent{Slopes: slopes, Step: step(aspect), Steps: last, Nu: nu}
		}, func(aspect float64) (mse []float64) {
			g := g
			g.AspectRatio, g.Step = aspect, step(aspect)
			m := measure.Must(g.Trajectory(&proportional.DescentSettings{Points: 1021}))
			for _, t := range Steps {
				mse = append(mse, m[t].MSE())
			}
			return mse
		}, places})
	}
	return draw(ctx, scale, 10_000, 2406, panels, arms), nil
}

// figureOf computes Figure 3, 4, 5 or 6.
func figureOf(ctx context.Context, number int, scale Scale) ([]Panel, error) {
	switch number {
	case 3:
		return Figure3(ctx, scale)
	case 4:
		return Figure4(ctx, scale)
	case 5:
		return Figure5(ctx, scale)
	case 6:
		return Figure6(ctx, scale, Step)
	}
	return nil, &privacy.ParamError{Name: "number", Value: number, Want: "3, 4, 5 or 6"}
}
