package ours

import (
	"fmt"
	"math"
	"strings"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
	synthetic "github.com/dpnb/notebooks/dpnb/sim/population"
	"github.com/dpnb/notebooks/dpnb/theory/proportional"
)

func predictionsHold(run measure.Run, factor float64) claim.Outcome {
	scale, repetitions := measure.Sized(run.Size, 1, 3), measure.Sized(run.Size, 60, 400)
	regression := proportional.Task{Loss: loss.Huber{Threshold: 0.5}, Noise: proportional.Normal(0, 0.3),
		Kappa: 1, Radius: 1, Goal: proportional.SquaredError}
	labels := proportional.Task{Loss: loss.Logistic{}, Link: proportional.LogisticLink{}, Kappa: 2, Radius: 1,
		Goal: proportional.SquaredError}
	ok, sharp := true, true
	var measured []string
	for k, c := range []struct {
		task proportional.Task
		m    proportional.Mechanism
		n, d int
		eps  float64
	}{
		{labels, proportional.Objective, 600, 60, 4}, {labels, proportional.Output, 400, 100, 8},
		{regression, proportional.Objective, 400, 80, 2}, {regression, proportional.Output, 600, 150, 6},
	} {
		n, d := c.n*scale, c.d*scale
		c.task.AspectRatio = float64(d) / float64(n)
		best := func(eps float64) proportional.Prediction {
			return measure.Must(c.task.Best(c.m, proportional.Target{Epsilon: eps, Delta: 1e-5,
				Adjacency: privacy.AddRemove}, objective.DTZ24))
		}
		p, other := best(c.eps), best(2*c.eps)
		s := synthetic.Simulation{Repetitions: repetitions, Seed: 91 + uint64(k),
			Population: synthetic.Population{Records: n, Features: d, Design: synthetic.Rademacher,
				Signal: synthetic.OnSphere(c.task.Kappa)}}
		if c.task.Link != nil {
			s.Prob, s.TestRecords = synthetic.Logistic, 300
		} else {
			s.Noise = synthetic.Normal(0, 0.3)
		}
		if c.m == proportional.Objective {
			s.Estimator = synthetic.ObjectivePerturbation{Loss: c.task.Loss, Lambda: p.Lambda, Nu: factor * p.Nu}
		} else {
			s.Estimator = synthetic.OutputPerturbation{Loss: c.task.Loss, Lambda: p.Lambda, Nu: factor * p.Nu}
		}
		r := measure.Must(s.Run(run))
		mse := r.Of(-1, synthetic.MSE)
		good := func(v, want, se float64) bool { return math.Abs(v-want) <= math.Max(4*se, 0.02*want) }
		ok = ok && good(mse.Mean, p.Point.MSE(), mse.StdErr)
		sharp = sharp && !good(mse.Mean, other.Point.MSE(), mse.StdErr)
		text := fmt.Sprintf("%s %s: MSE %.3f, predicted %.3f", c.task.Loss.Name(), c.m, mse.Mean, p.Point.MSE())
		if c.task.Link != nil {
			wrong := r.Of(-1, synthetic.TestError)
			ok = ok && good(wrong.Mean, p.Quality().Error, wrong.StdErr)
			text += fmt.Sprintf(", wrong %.3f, predicted %.3f", wrong.Mean, p.Quality().Error)
		}
		measured = append(measured, text)
	}
	return claim.Decide(strings.Join(measured, "; "), "four standard errors or 2 %", ok && sharp)
}
