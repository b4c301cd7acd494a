package dtz24

import (
	"context"
	"fmt"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/sim"
	"github.com/dpnb/notebooks/dpnb/sim/population"
	"github.com/dpnb/notebooks/dpnb/theory/proportional"
)

// dtz24Population is the population of the figures, a regression or a classification.
func dtz24Population(n, d int, regression bool) population.Population {
	p := population.Population{Records: n, Features: d, Design: population.Rademacher,
		Signal: population.Normal(0, Kappa)}
	if regression {
		p.Noise = population.Normal(0, Noise)
	} else {
		p.Prob = population.Logistic
	}
	return p
}

func dtz24Loss(regression bool) loss.Loss {
	if regression {
		return loss.Huber{Threshold: Threshold}
	}
	return loss.Logistic{}
}

func lambdaNames(regression bool) []string {
	var out []string
	for _, l := range dtz24Lambdas(regression) {
		out = append(out, fmt.Sprintf("λ = %g", l))
	}
	return out
}

// fitted solves the fixed point of one curve.
func fitted(regression bool, aspect, lambda, nu float64) (p proportional.FixedPoint, residuals, gap float64,
	err error) {
	defer measure.Catch(&err)
	if regression {
		r := proportional.Regression{Loss: dtz24Loss(true), AspectRatio: aspect, Lambda: lambda, Nu: nu, Kappa: Kappa,
			Noise: proportional.Normal(0, Noise)}
		p = measure.Must(r.Solve(nil))
		return p, r.SlopeMoment(p, 2), 0, nil
	}
	c := proportional.Classification{Loss: dtz24Loss(false), Link: proportional.LogisticLink{}, AspectRatio: aspect,
		Lambda: lambda, Nu: nu, Kappa: Kappa}
	p = measure.Must(c.Solve(nil))
	return p, 0, c.TrainingMoment(p, func(star, _, score float64) float64 {
		e := population.Logistic(star) - population.Logistic(score)
		return e * e
	}), nil
}

const squaredError = "‖β̂ − β⋆‖²/d"

// objectiveFigure is Figure 3 (a regression) or 4: the error and what happens on the training records, without privacy
// and with.
func objectiveFigure(ctx context.Context, scale Scale, repetitions int, regression bool, seed uint64) (
	_ []Panel, err error) {
	defer measure.Catch(&err)
	scale = measure.Must(scale.filled(repetitions))
	second, of := "‖ρ′(Xβ⋆) − ρ′(Xβ̂)‖²/n", population.ProbabilityGap
	if regression {
		second, of = "‖[y − Xβ̂]_L‖²/n", population.SlopeSquare
	}
	nus := []float64{0, 0.2}
	names := lambdaNames(regression)
	s := seriesOf{panels: []Panel{newPanel("estimation error, ν = 0", squaredError, nus[0], names),
		newPanel("estimation error, ν = 1/5", squaredError, nus[1], names),
		newPanel("training records, ν = 0", second, nus[0], names), newPanel("training records, ν = 1/5", second,
			nus[1], names)}}
	s.predict = func(aspect float64) ([][]float64, error) {
		out := make([][]float64, 4)
		for k, nu := range nus {
			for _, lambda := range dtz24Lambdas(regression) {
				p, residuals, gap, err := fitted(regression, aspect, lambda, nu)
				if err != nil {
					return nil, err
				}
				out[k] = append(out[k], p.MSE())
				out[k+2] = append(out[k+2], residuals+gap) // one of them is 0
			}
		}
		return out, nil
	}
	s.run = func(ctx context.Context, n, d int) (_ [][]sim.Summary, err error) {
		defer measure.Catch(&err)
		out := make([][]sim.Summary, 4)
		for k, nu := range nus {
			for c, lambda := range dtz24Lambdas(regression) {
				r := measure.Must(population.Simulation{Population: dtz24Population(n, d, regression),
					Estimator:   population.ObjectivePerturbation{Loss: dtz24Loss(regression), Lambda: lambda, Nu: nu},
					Repetitions: scale.Repetitions, Seed: dotSeed(seed, n, 10*k+c), Workers: scale.Workers}.Run(ctx))
				out[k] = append(out[k], r.Of(0, population.MSE))
				out[k+2] = append(out[k+2], r.Of(0, of))
			}
		}
		return out, nil
	}
	return s.draw(ctx, scale)
}

// dotSeed gives every dot of every curve random numbers of its own.
func dotSeed(seed uint64, n, curve int) uint64 { return seed<<32 + uint64(n)<<8 + uint64(curve) }

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
	scale = measure.Must(scale.filled(100))
	nus := []float64{0, 0.5, 0, 0.5}
	s := seriesOf{panels: []Panel{newPanel("Huber loss, ν = 0", squaredError, 0, lambdaNames(true)),
		newPanel("Huber loss, ν = 1/2", squaredError, 0.5, lambdaNames(true)),
		newPanel("logistic loss, ν = 0", squaredError, 0, lambdaNames(false)), newPanel("logistic loss, ν = 1/2",
			squaredError, 0.5, lambdaNames(false))}}
	s.predict = func(aspect float64) ([][]float64, error) {
		out := make([][]float64, 4)
		for k, nu := range nus {
			for _, lambda := range dtz24Lambdas(k < 2) {
				p, _, _, err := fitted(k < 2, aspect, lambda, 0)
				if err != nil {
					return nil, err
				}
				out[k] = append(out[k], p.WithOutputNoise(nu).MSE())
			}
		}
		return out, nil
	}
	s.run = func(ctx context.Context, n, d int) (_ [][]sim.Summary, err error) {
		defer measure.Catch(&err)
		out := make([][]sim.Summary, 4)
		for k, nu := range nus {
			for c, lambda := range dtz24Lambdas(k < 2) {
				r := measure.Must(population.Simulation{Population: dtz24Population(n, d, k < 2),
					Estimator:   population.OutputPerturbation{Loss: dtz24Loss(k < 2), Lambda: lambda, Nu: nu},
					Repetitions: scale.Repetitions, Seed: dotSeed(2405, n, 10*k+c), Workers: scale.Workers}.Run(ctx))
				out[k] = append(out[k], r.Of(0, population.MSE))
			}
		}
		return out, nil
	}
	return s.draw(ctx, scale)
}

// DTZ24Step is the step size of Figure 6 as printed: ½/(1 + δ). For the Huber loss it is too large below δ = 0.484: the
// largest eigenvalue of XᵀX tends to (1 + 1/√δ)², and its product with the step exceeds 2, so that the error grows
// until the residuals are cut.
func Step(aspect float64) float64 { return 0.5 / (1 + aspect) }

// DTZ24StableStep is ½/(1 + 1/δ), with which the error falls at every δ.
func StableStep(aspect float64) float64 { return 0.5 / (1 + 1/aspect) }

// Figure6 is Figure 6 of dtz24: noisy gradient descent in its "conditional expectation" version with the Huber loss
// (the first two panels) and the logistic loss, ν ∈ {0, 1/10}, y = Xβ⋆, means of 10⁴ simulations: estimation error
// after T steps of the given size, DTZ24Step for what is printed. All the curves of a dot come from the same runs.
func Figure6(ctx context.Context, scale Scale, step func(aspect float64) float64) (_ []Panel, err error) {
	defer measure.Catch(&err)
	scale = measure.Must(scale.filled(10_000))
	nus := []float64{0, 0.1, 0, 0.1}
	var names []string
	last := 0
	for _, t := range Steps {
		names = append(names, fmt.Sprintf("T = %d", t))
		last = max(last, t)
	}
	s := seriesOf{panels: []Panel{newPanel("Huber loss, ν = 0", squaredError, 0, names),
		newPanel("Huber loss, ν = 1/10", squaredError, 0.1, names),
		newPanel("logistic loss, ν = 0", squaredError, 0, names), newPanel("logistic loss, ν = 1/10", squaredError, 0.1,
			names)}}
	s.predict = func(aspect float64) (_ [][]float64, err error) {
		defer measure.Catch(&err)
		out := make([][]float64, 4)
		for k, nu := range nus {
			g := proportional.Descent{Loss: dtz24Loss(k < 2), AspectRatio: aspect, Step: step(aspect), Steps: last,
				Nu: nu, Kappa: Kappa, Expected: true}
			if k < 2 {
				g.Noise = proportional.Normal(0, Noise)
			} else {
				g.Link = proportional.LogisticLink{}
			}
			m := measure.Must(g.Trajectory(&proportional.DescentSettings{Points: 1021}))
			for _, t := range Steps {
				out[k] = append(out[k], m[t].MSE())
			}
		}
		return out, nil
	}
	s.run = func(ctx context.Context, n, d int) (_ [][]sim.Summary, err error) {
		defer measure.Catch(&err)
		out := make([][]sim.Summary, 4)
		for k, nu := range nus {
			p := dtz24Population(n, d, true)
			p.Noise = nil // the labels are the true scores
			slopes := population.Slopes(population.ExpectedLogistic)
			if k < 2 {
				slopes = population.ExpectedHuber(Threshold, Noise)
			}
			r := measure.Must(population.Simulation{Population: p,
				Estimator: population.NoisyDescent{Slopes: slopes, Step: step(float64(d) / float64(n)), Steps: last,
					Nu: nu},
				Repetitions: scale.Repetitions, Seed: dotSeed(2406, n, k), Workers: scale.Workers}.Run(ctx))
			for _, t := range Steps {
				out[k] = append(out[k], r.Of(t, population.MSE))
			}
		}
		return out, nil
	}
	return s.draw(ctx, scale)
}
