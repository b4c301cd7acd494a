package dtz24

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/sim"
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

// familyOf returns the loss of the figures and the ridges of its curves.
func familyOf(regression bool) (loss.Loss, []float64) {
	if regression {
		return loss.Huber{Threshold: Threshold}, HuberLambdas
	}
	return loss.Logistic{}, LogisticLambdas
}

// fitted solves the fixed point of one curve and returns what is seen on the training records besides.
func fitted(regression bool, aspect, lambda, nu float64) (p proportional.FixedPoint, training float64) {
	l, _ := familyOf(regression)
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
	l, lambdas := familyOf(regression)
	panels := []Panel{{"estimation error, ν = 0", squaredError, 0, nil}, {"estimation error, ν = 1/5", squaredError,
		0.2, nil}, {"training records, ν = 0", second, 0, nil}, {"training records, ν = 1/5", second, 0.2, nil}}
	var arms []arm
	for k, p := range panels[:2] {
		for c, lambda := range lambdas {
			arms = append(arms, arm{10*k + c, people(regression), func(float64) population.Estimator {
				return population.ObjectivePerturbation{Loss: l, Lambda: lambda, Nu: p.Nu}
			}, func(aspect float64) []float64 {
				limit, training := fitted(regression, aspect, lambda, p.Nu)
				return []float64{limit.MSE(), training}
			}, []place{{k, ridge(lambda), 0, population.MSE}, {k + 2, ridge(lambda), 0, of}}})
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
		l, lambdas := familyOf(k < 2)
		nu := 0.5 * float64(k%2)
		panels = append(panels, Panel{title, squaredError, nu, nil})
		for c, lambda := range lambdas {
			arms = append(arms, arm{10*k + c, people(k < 2), func(float64) population.Estimator {
				return population.OutputPerturbation{Loss: l, Lambda: lambda, Nu: nu}
			}, func(aspect float64) []float64 {
				p, _ := fitted(k < 2, aspect, lambda, 0)
				return []float64{p.WithOutputNoise(nu).MSE()}
			}, []place{{k, ridge(lambda), 0, population.MSE}}})
		}
	}
	return draw(ctx, scale, 100, 2405, panels, arms), nil
}

// Step is the step size of Figure 6 as printed: ½/(1 + δ). For the Huber loss it is too large below δ = 0.484: the
// largest eigenvalue of XᵀX tends to (1 + 1/√δ)², and its product with the step exceeds 2, so that the error grows
// until the residuals are cut.
func Step(aspect float64) float64 { return 0.5 / (1 + aspect) }

// Figure6 is Figure 6 of dtz24: noisy gradient descent in its "conditional expectation" version with the Huber loss
// (the first two panels) and the logistic loss, ν ∈ {0, 1/10}, y = Xβ⋆, means of 10⁴ simulations: estimation error
// after T steps of the given size, Step for what is printed. All the curves of a dot come from the same runs.
func Figure6(ctx context.Context, scale Scale, step func(aspect float64) float64) (_ []Panel, err error) {
	defer measure.Catch(&err)
	last := slices.Max(Steps)
	var panels []Panel
	var arms []arm
	for k, title := range []string{"Huber loss, ν = 0", "Huber loss, ν = 1/10", "logistic loss, ν = 0",
		"logistic loss, ν = 1/10"} {
		l, _ := familyOf(k < 2)
		nu, slopes, at := 0.1*float64(k%2), population.Slopes(population.ExpectedLogistic), people(true)
		at.Noise = nil // the labels are the true scores
		g := proportional.Descent{Loss: l, Steps: last, Nu: nu, Kappa: Kappa, Expected: true}
		if k < 2 {
			slopes, g.Noise = population.ExpectedHuber(Threshold, Noise), proportional.Normal(0, Noise)
		} else {
			g.Link = proportional.LogisticLink{}
		}
		panels = append(panels, Panel{title, squaredError, nu, nil})
		var places []place
		for _, t := range Steps {
			places = append(places, place{k, fmt.Sprintf("T = %d", t), t, population.MSE})
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

// Graph is one line of a plot.
type Graph struct{ X, Y []float64 }

// graphsOf returns a loss, its slope and its curvature at label y.
func graphsOf(l loss.Loss, y float64, x []float64) []Graph {
	out := make([]Graph, 3)
	for k := range out {
		out[k] = Graph{x, make([]float64, len(x))}
	}
	for i, t := range x {
		out[0].Y[i] = l.ValueSlope(out[1].Y[i:i+1], []float64{t}, []float64{y})
		l.Curvature(out[2].Y[i:i+1], []float64{t}, []float64{y})
	}
	return out
}

// Figure1 returns the graphs of H_L, H_L′ and H_L″ for L = 1: the Huber loss of the residual r on [−3, 3].
func Figure1() []Graph {
	return graphsOf(loss.Huber{Threshold: 1}, 0, figure.Span(-3, 3, 600))
}

// Figure2 returns the graphs of ρ(t) = log(1 + e^t), ρ′, ρ″ and prox_{γρ} for γ = 3 on [−6, 6]. ρ is the logistic loss
// at the label −1.
func Figure2() []Graph {
	x := figure.Span(-6, 6, 600)
	out := graphsOf(loss.Logistic{}, -1, x)
	p, slope := make([]float64, len(x)), make([]float64, len(x))
	proportional.Prox(p, slope, loss.Logistic{}, Gamma, x, slices.Repeat([]float64{-1}, len(x)))
	return append(out, Graph{x, p})
}

// Settings of the simulations of dtz24: Figures 3 to 6.
const (
	// Gamma is γ of Figure 2.
	Gamma = 3
	// Threshold is L, Kappa κ, Noise the standard deviation of ε⋆, and Entries n·d.
	Threshold = 10
	Kappa     = 1
	Noise     = 0.2
	Entries   = 1000
)

// Ridges of the curves of Figures 3 to 5 and numbers of steps of those of Figure 6. The paper names them in its
// drawings alone, so these are ours. For the logistic loss a ridge of 0.01 would be too small for problems of this
// size: near the threshold of separability they are then off by half.
var (
	HuberLambdas    = []float64{0.01, 0.1, 1}
	LogisticLambdas = []float64{0.1, 0.3, 1}
	Steps           = []int{1, 2, 4, 8}
)

// Scale is how large an experiment is. Zero fields mean what the paper did.
type Scale struct {
	// Dots is the number of shapes n×d in each panel; zero means 19.
	Dots int
	// Repetitions of the simulation of each dot.
	Repetitions int
	// Curve is the number of points of each theoretical curve; zero means 60.
	Curve int
	// Workers is the number of goroutines; zero means one for each processor.
	Workers int
}

func (s Scale) filled(repetitions int) (Scale, error) {
	if s.Dots == 0 {
		s.Dots = 19
	}
	if s.Repetitions == 0 {
		s.Repetitions = repetitions
	}
	if s.Curve == 0 {
		s.Curve = 60
	}
	if s.Dots < 1 || s.Repetitions < 2 || s.Curve < 2 {
		return s, fmt.Errorf("experiment: Scale %+v, want at least one dot, two repetitions and two points of a curve",
			s)
	}
	return s, nil
}

// Dot is one simulated point with the prediction for its own d/n.
type Dot struct {
	Prediction
	Records, Features int
	// Share is n/(n + d), the abscissa.
	Share float64
}

// Prediction is a measure of fits as simulated, beside what theory predicts.
type Prediction struct {
	Measure   population.Measure
	Predicted float64
	Simulated sim.Summary
}

// StandardErrors is how many standard errors the simulation is off (sim.Summary.Sigmas).
func (p Prediction) StandardErrors() float64 { return p.Simulated.Sigmas(p.Predicted) }

// Off reports whether the simulation is farther than 4 standard errors from the prediction, and whether it is farther
// than 10 % of it. The first flags a difference that is not chance, however small; the second one that matters, however
// few the repetitions. Either is to be told.
func (p Prediction) Off() (errors, percent bool) {
	return math.Abs(p.StandardErrors()) > 4, math.Abs(p.Simulated.Mean-p.Predicted) > 0.1*p.Predicted
}

// Curve is a prediction with the simulation laid over it.
type Curve struct {
	// Name says what distinguishes the curve in its panel.
	Name string
	// Theory is drawn over n/(n + d).
	Theory Graph
	Dots   []Dot
}

// Panel is one plot of a figure.
type Panel struct {
	Title, Quantity string
	Nu              float64
	Curves          []Curve
}

// shape returns n and d with n·d ≈ 1,000 and n/(n + d) ≈ share.
func shape(share float64) (n, d int) {
	n = max(1, int(math.Round(math.Sqrt(Entries*share/(1-share)))))
	return n, max(1, int(math.Round(Entries/float64(n))))
}

// arm is one simulated fit of any shape and what is predicted of it, for one curve or several.
type arm struct {
	// seed gives every dot of every curve random numbers of its own.
	seed    int
	people  population.Population
	by      func(aspect float64) population.Estimator
	predict func(aspect float64) []float64
	// places are those of what is predicted.
	places []place
}

// place is a curve of a panel, by its name, and what of the fit it shows.
type place struct {
	panel   int
	curve   string
	iterate int
	of      population.Measure
}

// ridge is the name of the curve of a ridge.
func ridge(lambda float64) string { return fmt.Sprintf("λ = %g", lambda) }

// draw adds the arms' curves to the panels, with dots at equidistant abscissas.
func draw(ctx context.Context, scale Scale, repetitions int, seed uint64, panels []Panel, arms []arm) []Panel {
	scale = measure.Must(scale.filled(repetitions))
	for _, a := range arms {
		curves := make([]Curve, len(a.places))
		for _, share := range measure.Over(ctx, figure.Span(0.03, 0.97, scale.Curve-1)) {
			for i, v := range a.predict((1 - share) / share) {
				g := &curves[i].Theory
				g.X, g.Y = append(g.X, share), append(g.Y, v)
			}
		}
		for i := range scale.Dots {
			n, d := shape(float64(i+1) / float64(scale.Dots+1))
			aspect := float64(d) / float64(n)
			a.people.Records, a.people.Features = n, d
			r := measure.Must(population.Simulation{Population: a.people, Estimator: a.by(aspect),
				Repetitions: scale.Repetitions, Seed: seed<<32 + uint64(n)<<8 + uint64(a.seed),
				Workers: scale.Workers}.Run(ctx))
			for i, v := range a.predict(aspect) {
				at := a.places[i]
				curves[i].Dots = append(curves[i].Dots, Dot{Prediction{at.of, v, r.Of(at.iterate, at.of)}, n, d,
					float64(n) / float64(n+d)})
			}
		}
		for i, c := range curves {
			c.Name = a.places[i].curve
			panels[a.places[i].panel].Curves = append(panels[a.places[i].panel].Curves, c)
		}
	}
	return panels
}
