package ours

import (
	"context"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/convolution"
	"github.com/dpnb/notebooks/dpnb/mechanism/sgd"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/sim"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// Median regression with skewed residuals by every arm that docs/theory/quantiles.md has, on the same records: the
// default has at most a tenth of C-OP's excess, printed or corrected, and is nowhere above another by more than two
// standard errors of the difference.
//
//	DPNB_FULL=1 go test ./dpnb/paper/ours -run TestMedianArms -v
func TestMedianArms(t *testing.T) {
	if !testscale.Full() {
		t.Skip("minutes")
	}
	const delta, radius, features = 1e-5, 5, 10
	names := []string{"C-OP, printed", "C-OP, corrected", "Moreau, corrected", "Huber, by rule", "log cosh, by rule",
		"recentred", "noisy descent, fixed steps", "default"}
	for n, runs := range map[int]int{2_000: 30, 20_000: 10} {
		for _, eps := range []float64{0.5, 1} {
			task := MedianTask{Records: n, Features: features, Radius: radius}
			calibrated := func(k smoothing.Kernel, rule convolution.Rule) convolution.Config {
				return convolution.Config{Loss: convolution.Loss{Form: loss.Absolute(k, 0), Forms: 1, Norm: 1 + 1e-9},
					Epsilon: eps, Delta: delta, Adjacency: privacy.AddRemove, Rule: rule, Planned: convolution.Planned{
						Records: n, Features: features, Radius: radius, Residual: 1}}
			}
			var arms []mechanism.Mechanism
			add := func(m mechanism.Mechanism, err error) {
				if err != nil {
					t.Fatal(err)
				}
				arms = append(arms, m)
			}
			one := func(k smoothing.Kernel, rule convolution.Rule) {
				m, err := convolution.Calibrate(calibrated(k, rule))
				add(m, err)
			}
			one(smoothing.Gaussian{}, convolution.Printed)
			one(smoothing.Gaussian{}, convolution.Paper)
			one(smoothing.Uniform{}, convolution.Paper) // Huber's function: the envelope and a constant
			one(smoothing.Uniform{}, convolution.Predicted)
			one(smoothing.Logistic{}, convolution.Predicted)
			m, err := convolution.CalibrateRecentred(calibrated(smoothing.Logistic{}, convolution.Predicted), 2)
			add(m, err)
			cost, err := sgd.Cost{Rate: 1, Steps: 100}.CalibrateNoise(eps, delta)
			// Of half the absolute loss.
			add(sgd.Descent{Loss: loss.Pinball{Tau: 0.5}, Clip: 0.5, Rate: 1, Steps: 100, PlannedRecords: 1,
				Average:         50,
				NoiseMultiplier: cost.NoiseMultiplier, Update: sgd.Steady(radius, float64(n)/4,
					cost.NoiseMultiplier/2, features, 100)}, err)
			all := must.Get(sim.Trials(context.Background(), runs, 0, noise.NewSeeded(uint64(n)), func(_, _ int,
				src *noise.Seeded) (excess []float64, err error) {
				r := task.Draw(src)
				for k, arm := range arms {
					fit, err := arm.Run(r.Rows, r.Labels, src.Stream(k), &mechanism.Settings{Workers: 1})
					if err != nil {
						return nil, err
					}
					excess = append(excess, r.Excess(fit.Coefficients))
				}
				return append(excess, r.Excess(r.Descend(radius, eps, delta, src.Stream(len(arms))))), nil
			}))
			of := func(f func(run []float64) float64) sim.Summary {
				var values []float64
				for _, run := range all {
					values = append(values, f(run))
				}
				return sim.Summarize(values)
			}
			last := len(names) - 1
			door := of(func(run []float64) float64 { return run[last] })
			for k, name := range names {
				arm := of(func(run []float64) float64 { return run[k] })
				difference := of(func(run []float64) float64 { return run[last] - run[k] })
				t.Logf("n = %6d, ε = %g: %-27s %.5f (%.5f)", n, eps, name, arm.Mean, arm.StdErr)
				if k < 3 && door.Mean > arm.Mean/10 || k < last && difference.Mean > 2*difference.StdErr {
					t.Errorf("n = %d, ε = %g: the default has %.5f, %s %.5f", n, eps, door.Mean, name, arm.Mean)
				}
			}
		}
	}
}
