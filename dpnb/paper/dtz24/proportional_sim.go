package dtz24

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/sim"
	"github.com/dpnb/notebooks/dpnb/sim/population"
	"github.com/dpnb/notebooks/dpnb/theory/proportional"
)

// regressed are records of a regression, rows of entries ±1/√d.
func regressed(n, d int, signal, noise population.Draw) population.Population {
	return population.Population{Records: n, Features: d, Design: population.Rademacher, Signal: signal, Noise: noise}
}

// classified are records of two classes by the logistic model, rows of entries ±1/√d and β⋆ of norm κ√d.
func classified(n, d int, kappa float64) population.Population {
	return population.Population{Records: n, Features: d, Design: population.Rademacher,
		Signal: population.OnSphere(kappa), Prob: population.Logistic}
}

// contaminated is the law of errors of which a tenth are 3, mixedLaw that of the coordinates of population.Mixed.
var contaminated = proportional.Mix([]float64{0.9, 0.1}, proportional.Normal(0, 0.3), proportional.Point(3))

func mixedLaw(c float64) proportional.Law {
	return proportional.Mix([]float64{0.5, 0.2, 0.3}, proportional.Point(0), proportional.Normal(-3*c, 4*c),
		proportional.Uniform(-10*c, 10*c))
}

// probabilityGap is the square of ρ′(t⋆) − ρ′(t).
func probabilityGap(star, _, score float64) float64 {
	e := population.Logistic(star) - population.Logistic(score)
	return e * e
}

// simulated draws the records and fits them.
func simulated(ctx context.Context, of population.Population, by population.Estimator, runs int,
	seed uint64) *population.Result {
	return measure.Must(population.Simulation{Population: of, Estimator: by, Repetitions: runs, Seed: seed}.Run(ctx))
}

// comparison collects simulated means against predictions.
type comparison struct {
	worst  float64 // largest distance in standard errors
	lines  []string
	factor float64 // of every prediction, to see a check fail
}

// add compares a mean with what is predicted and says so.
func (c *comparison) add(name string, of sim.Summary, want float64) {
	z := c.compare(of, want, 0)
	c.lines = append(c.lines, fmt.Sprintf("%s %.3f for %.3f (%+.1f)", name, of.Mean, c.factor*want, z))
}

// compare returns the distance from want in standard errors, in which extra is included.
func (c *comparison) compare(of sim.Summary, want, extra float64) (z float64) {
	z = (of.Mean - c.factor*want) / (of.StdErr + extra + 1e-12)
	if a := math.Abs(z); !(a <= c.worst) {
		c.worst = a
	}
	return z
}

// String lists mean, prediction and distance in standard errors.
func (c *comparison) String() string { return strings.Join(c.lines, ", ") }

// outputSimulated checks sensitivity 2LR/λ, claimed as factor·LR/λ, of minimisers and of what is released, and the
// error, predicted times another factor.
func outputSimulated(l loss.Loss, seed uint64, factor, errors float64) claim.Check {
	return measure.Check(func(ctx context.Context, size claim.Size) claim.Outcome {
		most := farthest(l, noise.NewSeeded(seed))
		most /= factor
		off := offSensitivity(l, factor)
		const n, d, lambda, nu = 400, 200, 0.4, 0.5
		var p proportional.FixedPoint
		people := classified(n, d, 1)
		if _, ok := l.(loss.Logistic); ok {
			p = measure.Must(proportional.Classification{Loss: l, Link: proportional.LogisticLink{}, AspectRatio: 0.5,
				Lambda: lambda, Kappa: 1}.Solve(nil))
		} else {
			people = regressed(n, d, population.OnSphere(1), population.Normal(0, 0.5))
			p = measure.Must(proportional.Regression{Loss: l, Noise: proportional.Normal(0, 0.5), AspectRatio: 0.5,
				Lambda: lambda, Kappa: 1}.Solve(nil))
		}
		p = p.WithOutputNoise(nu)
		fits := simulated(ctx, people, population.OutputPerturbation{Loss: l, Lambda: lambda, Nu: nu}, size.Runs(160),
			seed)
		c := comparison{factor: errors}
		c.add("MSE", fits.Of(0, population.MSE), p.MSE())
		c.add("⟨β̂,ξ⟩", fits.Of(0, population.NoiseOverlap), p.OnXi)
		return claim.Decide(fmt.Sprintf("largest distance/claimed %.2f; released over claimed δ less 1: %s; %v", most,
			claim.Roughly(off, 1e-6), &c), "0.7 to 1; 1e-6; "+fourErrors, most <= 1+1e-6 && most > 0.7 && c.worst <= 4,
			"the sensitivity or the error is not the claimed one").As(off < 1e-6).Reaching(most)
	})
}

// offSensitivity is the largest relative distance of δ of a release under replace-one, by a solver that is all but
// exact, from the Gaussian mechanism's of factor·LR/(λν).
func offSensitivity(l loss.Loss, factor float64) (off float64) {
	for _, c := range []struct{ radius, lambda, nu float64 }{{1, 1, 2}, {1.5, 0.3, 10}, {2, 40, 0.1}} {
		p := measure.Must(mechanism.Profile(objpert.Output{Loss: l, RowNorm: c.radius, Lambda: c.lambda,
			Tolerance: 1e-10 * c.radius, Sigma: c.nu}))
		p = measure.Must(privacy.ConvertAdjacency(p, privacy.ReplaceOne))
		for _, eps := range []float64{0, 0.3, 1} {
			want := measure.GaussianDelta(factor*l.Lipschitz()*c.radius/(c.lambda*c.nu), eps)
			off = math.Max(off, math.Abs(privacy.DeltaUpper(p, eps)/want-1))
		}
	}
	return off
}

// farthest returns the largest distance between the minimisers of two neighbours, a record replaced, in units of LR/λ.
//
// In the plane many records push θ along the first axis, so that one more, nearly perpendicular to it, is on the wrong
// side with a full slope whether it points up or down. In one dimension a logistic slope cannot be full on both sides.
func farthest(l loss.Loss, src *noise.Seeded) float64 {
	const radius = 1.5
	var most float64
	for range 40 {
		n := 1 + src.IntN(3000)
		tilt, lambda := 0.6*src.Float64(), math.Exp(5*src.Float64())
		x, y := make([]float64, 2*(n+1)), make([]float64, n+1)
		for i := range n {
			x[2*i], y[i] = radius, -1
			if _, ok := l.(loss.Huber); ok {
				y[i] = -100
			}
		}
		y[n] = -y[0]
		var theta [2][]float64
		for k := range theta {
			x[2*n], x[2*n+1] = radius*tilt, radius*math.Sqrt(1-tilt*tilt)*float64(1-2*k)
			sol := measure.Must(erm.Minimize(&erm.Problem{Rows: matrix.NewDense(n+1, 2, x), Labels: y, Loss: l,
				Lambda: lambda}, nil))
			theta[k] = sol.Theta
		}
		d := math.Hypot(theta[0][0]-theta[1][0], theta[0][1]-theta[1][1])
		most = math.Max(most, d*lambda/(l.Lipschitz()*radius))
	}
	return most
}

// descentSimulated compares every iterate, with gradients in expectation and with labels as drawn; factors multiply the
// step of the prediction and what is predicted.
func descentSimulated(seed uint64, step, factor float64, d proportional.Descent,
	expected population.Slopes) claim.Check {
	return measure.Check(func(ctx context.Context, size claim.Size) claim.Outcome {
		const n = 400
		people := classified(n, int(d.AspectRatio*n), d.Kappa)
		if d.Link == nil {
			people.Prob, people.Noise = nil, population.Normal(0, math.Sqrt(d.Noise.SecondMoment()))
		}
		c := comparison{factor: factor}
		for k, name := range []string{"in expectation", "as drawn"} {
			d, people, slopes := d, people, expected
			if d.Expected = k == 0; d.Expected {
				people.Prob, people.Noise = nil, nil // the labels are the true scores
			} else {
				slopes = population.SlopesOf(d.Loss)
			}
			fits := simulated(ctx, people, population.NoisyDescent{Slopes: slopes, Step: d.Step, Steps: d.Steps,
				Nu: d.Nu}, measure.Sized(size, 40, 400), seed)
			d.Step *= step
			path := measure.Must(d.Trajectory(nil))
			for t := 1; t <= d.Steps; t++ {
				p, mse := path[t], fits.Of(t, population.MSE)
				z := c.compare(mse, p.MSE(), p.Error)
				c.compare(fits.Of(t, population.Overlap), p.Overlap(), p.Error)
				if t == d.Steps {
					c.lines = append(c.lines, fmt.Sprintf("MSE of the last iterate, labels %s, %.3f for %.3f (%+.1f)",
						name, mse.Mean, factor*p.MSE(), z))
				}
			}
		}
		return claim.Decide(fmt.Sprintf("%v; largest distance %.1f standard errors", &c, c.worst),
			"4.5 standard errors", c.worst <= 4.5, "simulation and theory differ")
	})
}
