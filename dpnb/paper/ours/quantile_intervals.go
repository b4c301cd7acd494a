package ours

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/sgd"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/sim"
)

// quantileIntervals is the claim on the intervals of quantile regression.
func quantileIntervals() claim.Versions {
	return claim.Times(func(factor float64) claim.Check {
		return quantileCoverage(around{factor, 1}, 133)
	}, func(factor float64) claim.Check { return quantileCoverage(around{1, factor}, 133) })
}

// around is what quantileCoverage checks: intervals of so many times their width, from so many times the curvature.
type around struct{ width, curvature float64 }

// QuantileTask is quantile regression of which the population's coefficients are known at all levels: rows as those of
// MedianTask, y = xᵀβ + xᵀγ·e, xᵀγ = 0.2(1 + 0.3z₁ − 0.3z₂) > 0, so that those at τ are β + γ·q, q the quantile of e.
type QuantileTask struct {
	Records, Features int
	// Quantile of e.
	Quantile func(tau float64) float64
}

// Draw draws records, with labels within about [−1, 1].
func (q QuantileTask) Draw(src *noise.Seeded) (*matrix.Dense, []float64) {
	n, d := q.Records, q.Features
	rows, labels := matrix.NewDense(n, d, nil), make([]float64, n)
	src.Gaussian(rows.Data, 1)
	beta, gamma, root := q.At(0), q.At(1), math.Sqrt(float64(d))
	for i := range labels {
		row := rows.Data[i*d : (i+1)*d]
		var mean, spread float64
		for j, z := range row {
			if row[j] = math.Max(-1, math.Min(1, z)) / root; j == 0 {
				row[j] = 1 / root
			}
			mean += row[j] * beta[j]
			spread += row[j] * (gamma[j] - beta[j])
		}
		labels[i] = mean + spread*q.Quantile(src.Float64())
	}
	return rows, labels
}

// At returns β + γ·quantile.
func (q QuantileTask) At(quantile float64) []float64 {
	theta, root := make([]float64, q.Features), math.Sqrt(float64(q.Features))
	for j := range theta {
		switch sign := float64(1 - 2*(j%2)); {
		case j == 0:
			theta[j] = 0.2 * root * quantile
		case j < 3:
			theta[j] = 0.3*sign + 0.06*root*sign*quantile
		default:
			theta[j] = 0.3 * sign
		}
	}
	return theta
}

// residualLaws are quantile functions: even, skewed, and with a peak.
var residualLaws = map[string]func(tau float64) float64{
	"normal": func(tau float64) float64 { return math.Sqrt2 * math.Erfinv(2*tau-1) },
	"skewed": func(tau float64) float64 { return math.Expm1(math.Sqrt2 * math.Erfinv(2*tau-1)) },
	"peaked": func(tau float64) float64 { return math.Copysign(math.Log(1-math.Abs(2*tau-1)), tau-0.5) },
}

// quantileSettings are where coverage is counted, most often in the first; all but two in the full run only.
var quantileSettings = []struct {
	n, d   int
	eps    float64
	law    string
	levels []float64
}{
	{2_000, 3, 20, "normal", []float64{0.5}},
	{1_500, 2, 5, "skewed", []float64{0.5}},
	{2_000, 4, 1, "peaked", []float64{0.5}},
	{20_000, 3, 2, "skewed", []float64{0.75}},
	{5_000, 3, 5, "normal", []float64{0.25, 0.5}},
	{20_000, 3, 5, "normal", []float64{0.1, 0.5, 0.9}},
	{20_000, 10, 2, "normal", []float64{0.5}},
	{10_000, 3, 20, "peaked", []float64{0.25}},
	{1_000, 3, 2, "normal", []float64{0.5}},
}

// quantileCoverage counts coverage.
func quantileCoverage(a around, seed uint64) claim.Check {
	return measure.Check(func(ctx context.Context, size claim.Size) claim.Outcome {
		settings := measure.Sized(size, quantileSettings[:2], quantileSettings)
		o := claim.Outcome{Verdict: claim.Holds, Interval: "≥ 0.95"}
		for at, s := range settings {
			const steps = 192
			runs := 400
			if at == 0 {
				runs = 1600
			}
			cost := measure.Must(sgd.Cost{Rate: 1, Steps: steps}.CalibrateNoise(s.eps, 1e-5))
			c := sgd.Quantiles{Levels: s.levels, RowNorm: 1, Steps: steps, NoiseMultiplier: cost.NoiseMultiplier,
				Update: sgd.Adaptive{Radius: 4, Ball: 8, Steps: steps}}.WithCurvature(0.2)
			task := QuantileTask{Records: s.n, Features: s.d, Quantile: residualLaws[s.law]}
			type counts struct{ covered, ended, share float64 }
			all := measure.Must(sim.Trials(ctx, runs, 0, noise.NewSeeded(seed).Stream(at), func(_, _ int, src *noise.Seeded) (
				n counts, err error) {
				rows, labels := task.Draw(src)
				r := measure.Must(c.Run(rows, labels, src.Stream(1), &mechanism.Settings{Workers: 1}))
				m := r.Also.(*sgd.Moments)
				floats.Scale(a.curvature, m.Near)
				in := measure.Must(c.Around(m, 0.95, true, nil))
				for k, tau := range s.levels {
					for j, v := range task.At(task.Quantile(tau)) {
						j += k * s.d
						if !math.IsInf(in.Half[j], 1) {
							if n.ended++; math.Abs(v-in.Centre[j]) <= a.width*in.Half[j] {
								n.covered++
							}
						}
					}
				}
				if n.ended > 0 {
					n.share = n.covered / n.ended
				}
				return n, nil
			}))
			var covered, ended float64
			var shares []float64
			for _, n := range all {
				if covered, ended = covered+n.covered, ended+n.ended; n.ended > 0 {
					shares = append(shares, n.share)
				}
			}
			if at > 0 {
				o.Measured += "; "
			}
			o.Measured += fmt.Sprintf("n = %d, d = %d, ε = %g, τ = %v, %s: ", s.n, s.d, s.eps, s.levels, s.law)
			if len(shares) < 2 {
				o.Measured += "none"
				continue
			}
			got := sim.Summarize(shares)
			o.Measured += fmt.Sprintf("%.3f (%.3f), %.0f %% with ends", covered/ended, got.StdErr,
				100*ended/float64(runs*s.d*len(s.levels)))
			if got.Mean < 0.95-2*got.StdErr {
				o.Verdict = claim.Fails
			}
		}
		return o
	})
}
