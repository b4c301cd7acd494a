package qop

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/erm/composite"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/qop"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/wishart"
)

func anchorShare(run measure.Run, factor float64) claim.Outcome {
	runs := measure.Sized(run.Size, 5, 100)
	src := noise.NewSeeded(59)
	t := NewTask(100, 0, src)
	if longest := matrix.MaxNorm(t.Rows); longest > 15 {
		measure.Try(fmt.Errorf("a record of norm %.3g", longest))
	}
	m := qop.Perturbation{Loss: loss.Squared{}, RowNorm: RowNorm,
		Interpolation: qop.AssumeInterpolation(t.Anchor, t.Distance()),
		Regulariser:   composite.L1{Weight: qopWeight}, Constraint: t.box(), HiddenDimension: 2 * qopDimension}
	least, start := measure.Must(t.LeastRisk()), t.Risk(t.Anchor)
	share := func(a wishart.Accounting, rowNorm float64) (sum float64) {
		m.Sigma2 = factor * measure.Must(taskNoise(a, rowNorm, Epsilon, Delta))
		for r := range runs {
			theta := measure.Must(m.Simulate(t.Rows, t.Labels, src.Stream(r), nil))
			sum += (start - t.Risk(theta)) / (start - least) / float64(runs)
		}
		return sum
	}
	printed, sharper, shorter := share(wishart.Theorem31, RowNorm), share(wishart.Exact, RowNorm),
		share(wishart.Exact, 15)
	return claim.Decide(fmt.Sprintf("the anchor's risk is %.0f, the smallest %.0f; the release goes %.2f %% of "+
		"the way as printed, %.1f %% with exact accounting, %.0f %% if ‖x‖ ≤ 15 is known", start, least,
		100*printed, 100*sharper, 100*shorter),
		"8 %", math.Abs(sharper/0.0105-1) < 0.08 && printed > 5e-5 && printed < 1.5e-4,
		"the release is not the anchor, or goes another way")
}

// brokenScalar returns the probabilities of cells of θ under two datasets of one record each, (x, y), in one dimension
// with θ⋆ = 0 and the regulariser θ:
//
//	θ = −(1 − xy)/(x² + σ²W),  W ~ χ²_m.
func brokenScalar(m int, sigma2 float64, first, second [2]float64) (p, q []float64) {
	const count = 3000
	law := func(r [2]float64) []float64 {
		g := 1 - r[0]*r[1]
		// θ = −g·e^{−u}, on a grid of u that both share; the sign of g is a cell.
		cdf := func(u float64) float64 { // P(−θ ≥ e^{−u}), g > 0
			w := (math.Abs(g)*math.Exp(u) - r[0]*r[0]) / sigma2
			if !(w > 0) {
				return 0
			}
			return mathext.GammaIncReg(float64(m)/2, w/2)
		}
		cells := make([]float64, 2*count+4)
		side := 0
		if g <= 0 {
			side = count + 2
		}
		prev := 0.0
		for i := range count {
			f := cdf(math.Log1p(sigma2) - 14 + 26*float64(i)/count)
			cells[side+i] = f - prev
			prev = f
		}
		cells[side+count] = 1 - prev
		return cells
	}
	return law(first), law(second)
}

// brokenInterpolation looks for the label error from which the claimed (ε, δ) is exceeded; share multiplies the noise,
// and t the 1/7 that is claimed.
func brokenInterpolation(run measure.Run, share, t float64) claim.Outcome {
	const m, eps, delta = 5, 0.5, 0.05
	var clean, first, wrong [3]float64
	for k, a := range []wishart.Accounting{wishart.Exact, wishart.Theorem31, 0} {
		sigma2 := share * 1e9
		if k < 2 {
			sigma2 = share * measure.Must(LeastSquaresNoise(a, wishart.Wishart{D: 1, M: m}, privacy.ReplaceOne,
				eps, delta))
		}
		clean[k], wrong[k] = labelErrorDelta(0, eps, m, sigma2), labelErrorDelta(1, eps, m, sigma2)
		first[k] = firstLabelError(eps, delta, m, sigma2)
	}
	return claim.Decide(fmt.Sprintf("δ(0.5) = %.3f of 0.05 with interpolation; exceeded from t = %.3f on with "+
		"exact accounting, %.3f with the printed σ², %.3f with σ² = 1e9; δ = %.2f at t = 1",
		clean[0], first[0], first[1], first[2], math.Min(wrong[0],
			wrong[1])), "3,000 cells, which can only lower δ",
		math.Max(clean[0], clean[1]) <= delta && first[2] < t/7 && math.Min(wrong[0], wrong[1]) > 0.99,
		"δ is exceeded with interpolation, or kept without it")
}
