package sgd_test

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism/sgd"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// The noise that 60 passes over 32,561 planned records need in batches of 256 at ε = 1: for one run, and for a run
// whose learning rate is tuned honestly, by Rényi curves as in the paper.
func ExampleCost_CalibrateNoise() {
	cost := sgd.Cost{Rate: 256.0 / 32_561, Steps: 60 * 128}
	one, err := cost.CalibrateNoise(1, 1e-5)
	if err != nil {
		fmt.Println(err)
		return
	}
	cost.MeanRuns, err = sgd.MeanRunsFor(10, 0.9)
	if err != nil {
		fmt.Println(err)
		return
	}
	cost.Accounting = sgd.Renyi
	tuned, err := cost.CalibrateNoise(1, 1e-5)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("one run: σ ≤", privacy.FormatUp(one.NoiseMultiplier, 2), "C, tuned: σ ≤",
		privacy.FormatUp(tuned.NoiseMultiplier, 2), "C")
	// Output: one run: σ ≤ 2.7 C, tuned: σ ≤ 7.9 C
}

func ExampleTuner() {
	const planned = 32_561 // public
	t := sgd.Tuner{
		Base: sgd.Descent{
			Loss: loss.Logistic{}, Clip: math.Sqrt2, Rate: 256.0 / planned, Steps: 60 * 128,
			PlannedRecords: planned, NoiseMultiplier: 6.2,
		},
		Grid: sgd.LearningRates(1e-8, 1e-1, 10, func(
			eta float64) sgd.Update {
			return sgd.Adam{LearningRate: eta}
		}),
		MeanRuns: 15.4,
		Score:    sgd.Training{Sigma: 200},
	}
	fmt.Println(t.Cost())
	// Output: DP-SGD(T=7680, q=0.00786217, σ=6.2, score noise 200, best of Poisson(15.4) runs)
}
