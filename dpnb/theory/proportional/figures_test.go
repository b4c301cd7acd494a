package proportional

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

func TestFiguresStay(t *testing.T) {
	testscale.Slow(t)
	mixed := Mix([]float64{1, 2, 1}, Normal(0.2, 0.5), Uniform(-1, 2), Point(0.7))
	hinge := loss.Softplus{Width: 0.5}
	regression := Regression{Loss: loss.Huber{Threshold: 0.7}, AspectRatio: 0.4, Lambda: 0.3, Nu: 0.2, Kappa: 1.3,
		Noise: Normal(0, 0.5)}
	classification := Classification{Loss: loss.Logistic{}, Link: LogisticLink{}, AspectRatio: 0.4, Lambda: 0.3,
		Nu:    0.2,
		Kappa: 1.3}
	golden.Figures(t, "testdata/figures.txt", 1e-8, func(say func(name string, values ...float64)) {
		put := func(name string, values ...any) { say(name, golden.Numbers(values...)...) }
		for _, l := range []Law{Normal(1, 2), Uniform(-1, 3), Point(2), mixed, Uniform(1, 1), Normal(0, -1), {},
			mixed.scaled(-2),
			mixed.scaled(0)} {
			if put("law", l, l.Validate("law")); l.Validate("law") == nil {
				p := FixedPoint{Alpha: 0.8, Sigma: 0.3, Kappa: 1.2, RMSE: 0.4, OnXi: 0.1, Gamma: 0.7}
				put("its figures", l.Mean(), l.SecondMoment(), p.LpError(l, 1), p.LpError(l, 2.5), p.Density(l, 0.4),
					p.CDF(l, 0.4), l.expect(0.3, math.Hypot))
			}
		}
		p := FixedPoint{Alpha: 0.8, Sigma: 0.3, Kappa: 1.2, RMSE: 0.4, OnXi: 0.1, Gamma: 0.7}
		put("point", p.MSE(), p.Overlap(), p.Variance(), p.Norm(), p.SignalCorrelation(), p.NoiseCorrelation(),
			p.WithOutputNoise(0.2), p.beforeOutput(0.4), p.inUnits(3))
		for _, m := range [][3]float64{{0, 1, 2}, {0.3, 2, 1e-3}, {0.5, 0, 0.3}, {0.1, 0, 0.3}, {1, 2, 1e9},
			{-3, 1, 0.2}} {
			second, inside := truncated(m[0], m[1], m[2])
			cut, within := clippedMean(m[0], m[1], m[2])
			linear, square := clippedMoments(m[0], m[1]+0.1, -m[2], 2*m[2])
			put("cut", second, inside, cut, within, linear, square)
		}
		for _, g := range [][3]float64{{1, 0.3, 0.1}, {1, 3, 0}, {1, 0.3, 0}, {0.2, 5, 1}} {
			put("ridge", ridgeGamma(g[0], g[1], g[2]), logisticProx(g[0], g[1], math.NaN()), logisticProx(40*g[0],
				-g[1], 0))
		}
		losses := []loss.Loss{loss.Logistic{}, hinge, loss.SquaredHinge{}, loss.Huber{Threshold: 0.7}, loss.Squared{},
			loss.PseudoHuber{Threshold: 1}, loss.SmoothedHinge{Width: 0.5}, loss.SmoothPinball{Tau: 0.3, Width: 0.2}}
		for _, l := range losses {
			at, slope := make([]float64, 3), make([]float64, 3)
			Prox(at, slope, l, 1.7, []float64{-2, 0.4, 3}, []float64{1, 1, 1})
			put("prox of "+l.Name(), at, slope, kinks(l, 1), marginLoss(l))
			c, r := classification, regression
			c.Loss, r.Loss = l, l
			put("fits", c.Validate(), r.Validate())
			if r.Validate() == nil {
				r.Noise = mixed
				s := r.system()
				slope2, response, _ := s.expectations(0.6, 0.8, fineTolerance)
				x := make([]float64, 2)
				s.start(x)
				put("moments", slope2, response, x, r.SlopeMoment(p, 1.5))
			}
			if c.Validate() == nil {
				s, x := newClassificationSystem(c), make([]float64, 3)
				s.start(x)
				m := s.moments(0.7, 0.5, 0.9, fineTolerance)
				post := newPosterior(c.Link, c.Kappa, 0.7, 0.5)
				adaptive := s.adaptiveMoments(&post, 1, 0.9, fineTolerance)
				put("moments", m.slope2, m.signal, m.response, adaptive.slope2, adaptive.signal, adaptive.response, x,
					s.symmetric)
				put("quality", c.Quality(p), c.signError(), c.Calibrated(p, 0.5), c.auc(70),
					c.TrainingMoment(p, func(u, y, s float64) float64 { return u*s + y }))
			}
		}
		for _, sd := range []float64{0, 0.01, 3} {
			post := newPosterior(LogisticLink{}, sd, 0.5, 0.4)
			prob, slope := post.at(0.7)
			of, down := post.ofLabel(-1, 0.7)
			put("posterior", prob, slope, of, down, gridStep(LogisticLink{}, sd), len(post.z))
		}
		nothing := newPosterior(LogisticLink{}, 1.3, 0, 0) // is known of the score
		prob, slope := nothing.at(0.7)
		put("prior", nothing.slope, nothing.sd, prob, slope, len(nothing.z))
		for _, l := range []loss.Loss{loss.PseudoHuber{Threshold: 0.7}, loss.SmoothPinball{Tau: 0.3, Width: 0.2}} {
			certain := make([]float64, 2)
			put("at a point", newScoreRule(l, 0).normal(certain, 0.8, 0, 1.7, 1e-9), certain)
		}
		for _, b := range [][2]float64{{math.Inf(-1), 0.4}, {-0.3, math.Inf(1)}, {math.Inf(-1), math.Inf(1)}} {
			linear, square := clippedMoments(0.2, 1.5, b[0], b[1])
			put("cut on one side", linear, square)
		}
		rule := newScoreRule(loss.Huber{Threshold: 0.7}, 0)
		put("breaks", rule.breaks(0.3, 1.2, 0.8), rule.inverse(0.8, []float64{-2, 0, 0.5}))
		post := newPosterior(LogisticLink{}, 1.3, 0.7, 0.5)
		put("panels", newScoreRule(loss.SquaredHinge{}, 1).panels(&post, 1, 0.9))
		for _, kappa := range []float64{0.3, 3, 40} {
			c := classification
			c.Kappa = kappa
			z, w := c.scoreNodes()
			put("nodes", len(z), z[2], w[2])
			for _, ratio := range []float64{0.05, 0.4} {
				c.AspectRatio, c.Nu = ratio, 0
				exists := false
				if kappa == 3 { // dear
					exists, _ = c.exists()
				}
				plausible, _ := c.plausible()
				put("exists", exists, plausible, bestMultiple(ratio, 0.3, 1, func(m float64) (linear, square float64) {
					return clippedMoments(0.2, m, -1, 0)
				}))
			}
		}
		tensor := tensorNodes(2, 0.18, 0.3)
		put("tensor", len(tensor.w), tensor.z[0][7], tensor.w[100])
		put("lattice", korobov(509), 1e9*math.Round(1e-9*float64(korobov(4093))), latticeError(509, 76),
			len(tensorNodes(2, 0.5, 0.1).w), latticeNodes(3, 509, rand.New(rand.NewPCG(1, 2))).z[2][:4])
	})
	golden.Figures(t, "testdata/solved.txt", 1e-6, func(say func(name string, values ...float64)) {
		put := func(name string, values ...any) { say(name, golden.Numbers(values...)...) }
		solved := func(name string, p FixedPoint, err error) {
			p.Residual, p.Steps = 0, 0
			put(name, p, err)
		}
		for _, at := range [][4]float64{{0.4, 0.3, 0.2, 1.3}, {0.01, 1e-3, 0, 1}, {3, 2, 1, 0.5}, {0.3, 0, 0.1, 1},
			{0.7, 0, 0.3, 3},
			{2, 0, 0, 1}, {0.9, 0, 9, 1}, {1, 1, 1, 51}} {
			for _, l := range []loss.Loss{loss.Huber{Threshold: 0.7}, loss.Squared{}, loss.PseudoHuber{Threshold: 1}} {
				r := regression
				r.AspectRatio, r.Lambda, r.Nu, r.Kappa, r.Loss = at[0], at[1], at[2], at[3], l
				p, err := r.Solve(nil)
				solved(fmt.Sprint(l.Name(), at), p, err)
			}
			for _, l := range []loss.Loss{loss.Logistic{}, hinge, loss.SmoothedHinge{Width: 0.5}} {
				c := classification
				c.AspectRatio, c.Lambda, c.Nu, c.Kappa, c.Loss = at[0], at[1], at[2], at[3], l
				p, err := c.Solve(nil)
				solved(fmt.Sprint(l.Name(), at), p, err)
			}
		}
		for _, expected := range []bool{false, true} {
			for i, d := range []Descent{{Loss: regression.Loss, Noise: mixed}, {Loss: loss.PseudoHuber{Threshold: 1},
				Noise: mixed},
				{Loss: loss.Logistic{}, Link: LogisticLink{}}} {
				d.AspectRatio, d.Step, d.Steps, d.Lambda, d.Nu, d.Kappa = 0.4, 0.3, 4, 0.2, 0.3, 1.2
				d.Expected = expected
				for _, m := range must.Get(d.Trajectory(&DescentSettings{Points: 251, Replicates: 2})) {
					put(fmt.Sprint("descent ", i, expected), m.Alpha, m.Sigma, m.RMSE)
				}
				d.Steps = 1
				put("one step", must.Get(d.Trajectory(nil))[1].FixedPoint)
			}
		}
		for _, adjacency := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
			for i, task := range []Task{logisticTask(0.3, 1), huberTask(0.3)} {
				g := Target{Epsilon: 1, Delta: 1e-5, Adjacency: adjacency}
				for _, lambda := range []float64{0.05, 3} {
					for _, m := range []Mechanism{Objective, Output, NoisyDescent} {
						p, err := task.At(m, g, lambda, objective.DTZ24)
						if put(fmt.Sprint("prediction ", adjacency, i, lambda, m), p.Nu, p.Gaussian, p.Point.RMSE,
							err); err == nil {
							rho, err := p.ZCDP()
							put("zCDP", rho.Value, err, p.InUnits(2).Point.RMSE, p.Quality().AUC)
						}
					}
				}
				terms := must.Get(task.terms(Objective, g))
				put("terms", terms.mu, terms.nu, terms.ridge, task.slopes(5), must.Get(task.descentNoise(g, 5)),
					g.moves(),
					task.stepScale(), task.Goal)
				lo, hi := task.ridges()
				put("ridges", lo, hi, task.atEdge(math.Exp(lo)), task.atEdge(1), terms.roughNoise(10, objective.DTZ24))
			}
		}
	})
}
