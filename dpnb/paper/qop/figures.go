package qop

import (
	"context"
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
	"github.com/dpnb/notebooks/dpnb/sim"
)

// risks runs g and returns the mean risks by mechanism and task.
func risks(ctx context.Context, g sim.Grid[*Task]) (func(mechanism string, kappa float64) float64, []sim.Cell) {
	cells := measure.Must(g.Run(ctx))
	return func(mechanism string, kappa float64) float64 {
		for _, c := range cells {
			if c.Mechanism == mechanism && c.Task == fmt.Sprintf("κ = %g", kappa) {
				return c.Mean
			}
		}
		return math.NaN()
	}, cells
}

func growingBoxes(run measure.Run, swapped bool) claim.Outcome {
	grows, flat := "LOP", "QOP"
	if swapped {
		grows, flat = flat, grows
	}
	kappas := []float64{10, 100, 1000}
	holds := true
	var printed [2]float64 // growth of LOP, QOP over the anchor
	for _, solver := range []Solver{Splitting, Certified} {
		g := Figure2(kappas, 0, 58, AsPrinted(solver)...)
		risk, _ := risks(run, g)
		for _, kappa := range kappas[1:] {
			holds = holds && risk(grows, kappa) > 10*risk(grows, kappa/10) && math.Abs(risk(flat,
				kappa)/risk(flat, kappa/10)-1) < 0.05
		}
		printed = [2]float64{math.Log10(risk("LOP", 1000)/risk("LOP", 10)) / 2, risk("QOP",
			1000) / g.Tasks[2].Train.AnchorRisk()}
	}
	releases := Releases()
	g := Figure2([]float64{10, 1000}, 0, 58, releases[0], releases[2])
	risk, _ := risks(run, g)
	anchor := g.Tasks[1].Train.AnchorRisk()
	noisy, about := risk("QOP", 1000)/anchor, risk("LOP about the anchor", 1000)/anchor
	o := claim.Decide(fmt.Sprintf("LOP's risk grows as κ^%.1f, QOP's is flat at %.2f of the anchor's; with the noise "+
		"that the anchor's error needs it is %.0f times the anchor's; LOP about the same anchor is flat too, at %.1f",
		printed[0], printed[1], noisy, about), "", holds)
	if noisy > 1 && about < 1.2 && about > 0.98 {
		o = o.Corrected("the flat curve is the risk of the public anchor, below which neither release that satisfies " +
			"(ε, δ) falls; LOP with the same anchor is flat as well")
	}
	return o
}

func spreadOfRuns(run measure.Run, off float64) claim.Outcome {
	agree := true
	for _, p := range Published {
		for _, v := range [][2]float64{{p.MeanStd, p.MeanStdErr}, {p.LargestStd, p.LargestStdErr}} {
			agree = agree && math.Abs((v[1]+off)*math.Sqrt(Trials)/v[0]-1) < 1e-4
		}
	}
	kappas := []float64{0.1, 1, 10, 100}
	if run.Size == claim.Full {
		kappas = Kappas[:7]
	}
	_, cells := risks(run, Figure2(kappas, 0, 60, AsPrinted(Splitting)...))
	s := Table3(cells, 300)
	ordered := s[0].MeanStd > 10*s[1].MeanStd && s[1].MeanStd > 2*s[2].MeanStd
	o := claim.Decide(fmt.Sprintf("printed standard errors are Std/√10: %v; mean Std: LOP %.0e, LOP-Clip %.0e, "+
		"QOP %.1f (printed: 484, 0.18, 0.09)", agree, s[0].MeanStd, s[1].MeanStd, s[2].MeanStd),
		"1e-4 for the printed figures", agree && ordered)
	if o.Verdict == claim.Holds {
		o.Verdict, o.Note = claim.NotCheckable, "the κ of the table are not printed, so that its figures cannot "+
			"be compared; the order and the standard errors hold; LOP-Clip's spread, with noise for gradients of "+
			"10,000, is thousands of times the printed one"
	}
	return o
}

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
	return claim.Decide(fmt.Sprintf("the anchor's risk is %.0f, the smallest %.0f; the release goes %.2f %% of the "+
		"way as printed, %.1f %% with exact accounting, %.0f %% if ‖x‖ ≤ 15 is known", start, least, 100*printed,
		100*sharper, 100*shorter), "8 %", math.Abs(sharper/0.0105-1) < 0.08 && printed > 5e-5 && printed < 1.5e-4)
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
	return claim.Decide(fmt.Sprintf("δ(0.5) = %.3f of 0.05 with interpolation; exceeded from t = %.3f on with exact "+
		"accounting, %.3f with the printed σ², %.3f with σ² = 1e9; δ = %.2f at t = 1", clean[0], first[0], first[1],
		first[2], math.Min(wrong[0], wrong[1])), "3,000 cells, which can only lower δ", math.Max(clean[0], clean[1]) <=
		delta && first[2] < t/7 && math.Min(wrong[0], wrong[1]) > 0.99)
}
