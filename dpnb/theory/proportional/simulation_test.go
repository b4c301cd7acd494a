package proportional

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/sim"
	"github.com/dpnb/notebooks/dpnb/sim/population"
)

// mixedPrior is the paper's example of β⋆ that is partly fixed, scaled by c (population.Mixed).
func mixedPrior(c float64) Law {
	return Mix([]float64{0.5, 0.2, 0.3}, Point(0), Normal(-3*c, 4*c), Uniform(-10*c, 10*c))
}

// within checks that what was simulated is what is predicted, to four standard errors.
func within(t *testing.T, name string, simulated sim.Summary, want float64) {
	t.Helper()
	if !(math.Abs(simulated.Mean-want) <= 4*simulated.StdErr+1e-12) {
		t.Errorf("%s: simulated %.5f ± %.5f, predicted %.5f", name, simulated.Mean, simulated.StdErr, want)
	}
	t.Logf("%-28s simulated %.5f ± %.5f, predicted %.5f (%+.1f)", name, simulated.Mean, simulated.StdErr, want,
		simulated.Sigmas(want))
}

func TestRegressionSimulation(t *testing.T) {
	testscale.Slow(t)
	const c = 0.25
	for _, s := range []struct {
		n, d       int
		lambda, nu float64
		l          loss.Loss
	}{
		{1000, 400, 0.1, 0.2, loss.Huber{Threshold: 0.5}},
		{400, 800, 0.3, 0.4, loss.Huber{Threshold: 1}},
		{900, 300, 0.2, 0.3, loss.PseudoHuber{Threshold: 0.7}},
	} {
		prior := mixedPrior(c)
		p := Regression{Loss: s.l, AspectRatio: float64(s.d) / float64(s.n), Lambda: s.lambda, Nu: s.nu,
			Kappa: math.Sqrt(prior.SecondMoment()), Noise: Mix([]float64{0.9, 0.1}, Normal(0, 0.3), Point(3))}
		fp := must.Get(p.Solve(nil))
		r := must.Get(population.Simulation{Population: population.Population{Records: s.n, Features: s.d,
			Design: population.Rademacher, Signal: population.Mixed(c), Noise: population.Contaminated(0.1, 0.3, 3)},
			Estimator:   population.ObjectivePerturbation{Loss: s.l, Lambda: s.lambda, Nu: s.nu},
			Repetitions: 20, Seed: 11, Edges: []float64{math.Inf(-1), -0.5}}.Run(t.Context()))
		name := fmt.Sprintf("%s %d×%d ", s.l.Name(), s.n, s.d)
		within(t, name+"P(β̂ⱼ ≤ −0.5)", r.Histogram()[0], fp.CDF(prior, -0.5))
		for m, want := range map[population.Measure]float64{population.MSE: fp.MSE(), population.Overlap: fp.Overlap(),
			population.NoiseOverlap: fp.OnXi, population.L1: fp.LpError(prior, 1),
			population.SlopeSquare: p.SlopeMoment(fp, 2)} {
			within(t, name+m.String(), r.Of(0, m), want)
		}
	}
}

func TestClassificationSimulation(t *testing.T) {
	testscale.InTurn(t)
	for _, s := range []struct {
		n, d              int
		lambda, nu, kappa float64
		l                 loss.Loss
	}{
		{1000, 300, 0.2, 0.2, 1.5, loss.Logistic{}},
		{400, 800, 0.5, 0.3, 1, loss.Logistic{}},
		{1000, 300, 0.2, 0.2, 1.5, loss.Probit{}},
		{800, 400, 0.3, 0.3, 2, loss.SmoothedHinge{Width: 0.5}},
	} {
		const m, repetitions = 1500, 20 // new records
		c := Classification{Loss: s.l, Link: LogisticLink{}, AspectRatio: float64(s.d) / float64(s.n), Lambda: s.lambda,
			Nu: s.nu, Kappa: s.kappa}
		fp := must.Get(c.Solve(nil))
		q, prob := c.Quality(fp), LogisticLink{}.Prob
		people := population.Population{Records: s.n, Features: s.d, Design: population.Rademacher,
			Signal: population.OnSphere(s.kappa), Prob: prob}
		r := must.Get(population.Simulation{Population: people, Estimator: population.ObjectivePerturbation{Loss: s.l,
			Lambda: s.lambda, Nu: s.nu}, Repetitions: repetitions, Seed: 12, TestRecords: m}.Run(t.Context()))
		name := fmt.Sprintf("%s %d×%d ", s.l.Name(), s.n, s.d)
		for k, want := range map[population.Measure]float64{population.MSE: fp.MSE(), population.Overlap: fp.Overlap(),
			population.Variance: fp.Variance(), population.NoiseOverlap: fp.OnXi, population.TestError: q.Error,
			population.ProbabilityGap: c.TrainingMoment(fp, func(star, _, score float64) float64 {
				return (prob(star) - prob(score)) * (prob(star) - prob(score))
			}), population.FittedPositives: c.TrainingMoment(fp, func(_, y, score float64) float64 {
				return 0.5 * (1 + y) * prob(score)
			})} {
			within(t, name+k.String(), r.Of(0, k), want)
		}
		// The rest of what is said of new records.
		people.Records += m
		var losses, brier, auc, calibrated [repetitions]float64
		for k := range repetitions {
			src := noise.NewSeeded(13).Stream(k)
			all, xi, score := people.Draw(src, nil), make([]float64, s.d), make([]float64, m)
			src.Gaussian(xi, s.nu)
			fit := must.Get(erm.Minimize(&erm.Problem{Rows: matrix.NewDense(s.n, s.d, all.Rows.Data[:s.n*s.d]),
				Labels: all.Labels[:s.n], Loss: s.l, Lambda: s.lambda, Linear: xi}, &erm.Settings{Tolerance: 1e-6}))
			y := all.Labels[s.n:]
			all.Rows.Margins(score, fit.Theta, s.n, s.n+m)
			losses[k] = s.l.ValueSlope(make([]float64, m), score, y) / m
			var above, pairs float64
			for i, v := range score {
				off := prob(v) - 0.5*(1+y[i])
				brier[k] += off * off / m
				if v > 1 {
					calibrated[k] += (c.Calibrated(fp, v) - 0.5*(1+y[i])) / m
				}
				for j, u := range score {
					if y[i] > 0 && y[j] < 0 {
						pairs++
						if v > u {
							above++
						}
					}
				}
			}
			auc[k] = above / pairs
		}
		within(t, name+"test loss", sim.Summarize(losses[:]), q.Loss)
		within(t, name+"Brier", sim.Summarize(brier[:]), q.Brier)
		within(t, name+"AUC", sim.Summarize(auc[:]), q.AUC)
		within(t, name+"E(P(y|s) − 1{y}) at s>1", sim.Summarize(calibrated[:]), 0)
	}
}
