package qop

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/erm/composite"
	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/wishart"
	"github.com/dpnb/notebooks/dpnb/sim"
)

// Parts shows how the proof of Theorem 3.1 divides (ε, δ): each part, what it pays for, and what is seen of it in so
// many draws of W for two least squares records along the axes, L = 1, d = 2, η = τ = 0.001; and a histogram of the
// smallest eigenvalue with α and α + α₁.
func Parts(m int, split wishart.Split, draws int, seed uint64) (_ *figure.Figure, _ display.Item, err error) {
	defer measure.Catch(&err)
	w := wishart.Wishart{D: 2, M: m}
	s := wishart.Setting{Wishart: w, Smoothness: 1, Rank: 1, Accounting: wishart.Theorem31, Structure: wishart.AnyLoss,
		AnchorError: 1e-3, Accuracy: 1e-3}
	n := measure.Must(wishart.Printed(s, split))
	k := measure.Must(w.Constants(split.Delta1, split.Delta3, split.Delta4))
	const bins = 60
	top := float64(m) + 2
	heights := make([]float64, bins)
	var outside, near, above float64
	largest, farthest := math.Inf(-1), 0.0
	src := noise.NewSeeded(seed)
	for range draws {
		a := wishart2(src, m)
		mean, gap := (a[0]+a[2])/2, math.Hypot((a[0]-a[2])/2, a[1])
		least := mean - gap
		if i := int(least / top * bins); i < bins {
			heights[i] += bins / top / float64(draws)
		}
		switch {
		case least < k.Alpha:
			outside++
			continue
		case least < k.Alpha+k.Alpha1:
			near++
		default:
			largest = math.Max(largest, pairLoss(a, m, n.Sigma2))
		}
		if mean+gap > k.Beta {
			above++
		}
		farthest = math.Max(farthest, math.Sqrt((mean+gap)/least)*s.AnchorError)
	}
	inside := float64(draws) - outside
	leftOf, between := outside/float64(draws), near/inside
	eps, delta := split.Total()
	it := display.Item{Title: fmt.Sprintf("(ε, δ) = (%.3g, %.3g), part by part: d = 2, m = %d, σ² = %.1f", eps, delta,
		m, n.Sigma2), Header: []string{"part", "value", "pays for", "in the draws"}}
	it.Rowf("δ₃ | %g | W outside E_α: λ_min < α = %.3f | %.4f", split.Delta3, k.Alpha, leftOf)
	it.Rowf("δ₁ | %g | on E_α, W so near its edge that the neighbour's W may leave it: λ_min < α + α₁ = %.3f | %.4f",
		split.Delta1, k.Alpha+k.Alpha1, between)
	it.Rowf("ε₁ | %g | the ratio of the densities of W elsewhere: f(2)·2L/σ² and the determinants | at most %.3f",
		split.Epsilon1, largest)
	it.Rowf("δ₄ | %g | on E_α, λ_max > β = %.1f | %.4f", split.Delta4, k.Beta, above/inside)
	it.Rowf("ε₂, δ₂ | %g, %g | the error of anchor and solver, η = τ = 0.001, under output noise σ̃ = %.2g | anchor: "+
		"at most %.4f", split.Epsilon2, split.Delta2, n.SigmaOut, farthest)
	f := figure.New(fmt.Sprintf("E_α: the smallest eigenvalue of W, d = 2, m = %d", m), "λ_min", "density")
	f.Bars(figure.Span(0, top, bins), heights, figure.Gray)
	peak := floats.Max(heights)
	for i, at := range []float64{k.Alpha, k.Alpha + k.Alpha1} {
		c, what := []figure.Color{figure.Orange, figure.Blue}[i], []string{"α: left of it, δ₃",
			"α + α₁: between, δ₁"}[i]
		f.Dashed("", []float64{at, at}, []float64{0, 1.3 * peak}, c).Note(what,
			k.Alpha+k.Alpha1, peak*(1.25-0.12*float64(i)), c)
	}
	f.YRange(0, 1.3*peak)
	f.Alt = fmt.Sprintf("A histogram of λ_min with a peak far to the right of two dashed lines: %.4f of it lies left "+
		"of the first, %.4f of the rest between", leftOf, between)
	return f, it, nil
}

// RiskFigure draws the mean excess risk of releases, with two standard errors, beside Theorem 3.3 as printed and
// sharpened, over ε, and lists them: lasso in four dimensions, m = 9, τ = 1e-4, η = 0.003.
func RiskFigure(epsilons []float64, runs int, seed uint64) (_ *figure.Figure, _ display.Item, err error) {
	defer measure.Catch(&err)
	src := noise.NewSeeded(seed)
	var printed, sharper, mean, lo, hi []float64
	it := display.Item{Header: []string{"ε", "Theorem 3.3", "sharpened", "measured", "theorem over measured"}}
	var atAnchor float64
	for k, eps := range epsilons {
		r := newLassoRisk(src.Stream(0), 4, 9, 0, eps, 1e-4, 0.003)
		s := r.released(runs, true, src.Stream(1+k))
		mean, lo, hi = append(mean, s.Mean), append(lo, s.Mean-2*s.StdErr), append(hi, s.Mean+2*s.StdErr)
		printed = append(printed, r.m.Setting().PrintedExcessRisk(r.noise, r.of))
		sharper = append(sharper, r.m.Setting().ExcessRisk(r.noise, r.of))
		atAnchor = r.excess(r.m.Interpolation.Anchor())
		it.Rowf("%v | %.3g | %.3g | %.3g | %.3g", eps, printed[k], sharper[k], mean[k], printed[k]/mean[k])
	}
	f := figure.New("Theorem 3.3 against measured risk (lasso, d = 4, n = 10)", "ε (replace-one)", "excess risk").
		LogX(epsilons...).LogY()
	f.Line("Theorem 3.3", epsilons, printed, figure.Orange).Line("sharpened", epsilons, sharper, figure.Gold)
	f.Band(epsilons, lo, hi, figure.Blue).Line("measured", epsilons, mean, figure.Blue)
	f.Level("the anchor itself", epsilons[0], epsilons[len(epsilons)-1], atAnchor, figure.Gray)
	f.Alt = fmt.Sprintf("Three curves that fall with ε. At ε = %g the theorem says %.3g, the sharpened bound %.3g, "+
		"and "+
		"%.3g is measured; publishing the anchor costs %.3g", epsilons[0], printed[0], sharper[0], mean[0], atAnchor)
	return f, it, nil
}

// WalkFigure draws the stochastic splitting (Algorithm G.2) on a lasso of two coefficients in a box: contours of J,
// where θ is after the steps, more and more seldom, as printed and with the proximal map of r + ι_C, and the minimiser.
func WalkFigure(steps int, seed uint64) (_ *figure.Figure, err error) {
	defer measure.Catch(&err)
	const n, edge = 40, 0.8
	src := noise.NewSeeded(seed)
	rows, labels := matrix.NewDense(n, 2, nil), make([]float64, n)
	src.Gaussian(rows.Data, 1)
	src.Gaussian(labels, 2)
	for i := range labels {
		labels[i] += 1.4*rows.At(i, 0) + 0.5*rows.At(i, 1)
	}
	p := &composite.Problem{Problem: erm.Problem{Rows: rows, Labels: labels, Loss: loss.Squared{}},
		Regulariser: composite.L1{Weight: 4}, Constraint: composite.NewBox(edge)}
	best := measure.Must(composite.Solve(p, nil))
	x, y := figure.Span(-0.7, 1.5, 90), figure.Span(-0.2, 1.1, 60)
	z := make([][]float64, len(y))
	for i := range y {
		z[i] = figure.Values(x, func(a float64) float64 { return lasso(rows, labels, []float64{a, y[i]}, 4) })
	}
	least := lasso(rows, labels, best.Theta, 4)
	f := figure.New("The stochastic splitting, step by step: lasso on a box", "first coefficient", "second coefficient")
	light := figure.Gray
	light.A = 120
	f.Contours(x, y, z, []float64{least - 4, least + 2, least + 10, least + 25}, light)
	f.Line("", []float64{-edge, edge}, []float64{edge, edge}, figure.Gray)
	f.Line("", []float64{edge, edge}, []float64{edge, -edge}, figure.Gray)
	f.Note("edge of the box", -0.65, edge+0.06, figure.Gray)
	var far [2]float64
	for j, joint := range []bool{false, true} {
		var a, b, late []float64
		for k := 1; k <= steps; k += 1 + k/50 { // every step at first, then fewer
			at := measure.Must(composite.Stochastic(p, &composite.StochasticSettings{Indices: noise.NewSeeded(seed + 1),
				Iterations: k, Joint: joint}))
			a, b = append(a, at.Theta[0]), append(b, at.Theta[1])
			if 2*k > steps {
				late = append(late, math.Hypot(at.Theta[0]-best.Theta[0], at.Theta[1]-best.Theta[1]))
			}
		}
		last := len(a) - 1
		c := []figure.Color{figure.Orange, figure.Blue}[j]
		f.Line("", a, b, c).Dots("", a[last:], b[last:], c)
		f.Note([]string{"as printed", "r and C in one map"}[j], -0.65, 0.55-0.12*float64(j), c)
		far[j] = floats.Sum(late) / float64(len(late))
	}
	f.Dots("minimiser", best.Theta[:1], best.Theta[1:], figure.Green)
	f.Alt = fmt.Sprintf("two paths over the contours of J to the edge of the box, where the minimiser is; in the "+
		"second half of %d steps the printed one is %.3f from it on average, the other %.3f", steps, far[0], far[1])
	f.Height = 4.6
	return f.XRange(-0.7, 1.5).YRange(-0.2, 1.1).Equal(), nil
}

// BoundFigure draws the smallest bounds of Figure 1 over ε for the first and the last δ, of Theorem 3.1 and of exact
// accounting for least squares; a table has those at ε = 1, where the exact anchor and solver differ from those that
// are off by a thousandth (dashed).
func BoundFigure(epsilons, deltas []float64) (_ *figure.Figure, _ display.Item, err error) {
	defer measure.Catch(&err)
	f := figure.New("Figure 1: the smallest bound on the excess risk", "ε (replace-one)",
		"bound (dashed: anchor, solver off by 0.001)").LogX(epsilons...).LogY()
	it := display.Item{Header: []string{"at ε = 1", "δ", "bound", "m", "bound, inexact", "m"}}
	for k, structure := range []wishart.Structure{wishart.AnyLoss, wishart.LeastSquares} {
		ends := []float64{deltas[0], deltas[len(deltas)-1]}
		points := measure.Must(wishart.Figure1(epsilons, ends, k == 1, structure))
		for j, delta := range ends {
			var exact, inexact []float64
			for i := range epsilons {
				p := points[i*len(ends)+j]
				exact, inexact = append(exact, p.Exact.Risk), append(inexact, p.Inexact.Risk)
				if epsilons[i] == 1 {
					name := []string{"any loss, Theorem 3.1", "least squares, exact"}[k]
					it.Rowf("%s | %s | %.1f | %d | %.1f | %d", name, figure.Number(delta), p.Exact.Risk,
						p.Exact.Setting.M, p.Inexact.Risk, p.Inexact.Setting.M)
				}
			}
			color := [][]figure.Color{{figure.Blue, figure.Green}, {figure.Purple, figure.Gold}}[k][j]
			name := fmt.Sprintf("%s, δ = %s", []string{"Theorem 3.1", "least squares"}[k], figure.Number(delta))
			f.Line(name, epsilons, exact, color).Dashed("", epsilons, inexact, color)
		}
	}
	return f, it, nil
}

// BoundSurface maps the smallest bound of Figure 1 over ε and δ by its logarithm: as printed for any loss, with exact
// anchor and solver, or where inexact with both off by a thousandth.
func BoundSurface(epsilons, deltas []float64, inexact bool) (_ *figure.Figure, err error) {
	defer measure.Catch(&err)
	what, off := "exact anchor and solver", 0.0
	if inexact {
		what, off = "η = τ = 0.001", 1e-3
	}
	z := make([][]float64, len(deltas))
	for j, delta := range deltas {
		for _, eps := range epsilons {
			z[j] = append(z[j], measure.Must(wishart.Figure1At(eps, delta, off, false, wishart.AnyLoss)).Risk)
		}
	}
	lo, hi := z[len(z)-1][len(epsilons)-1], z[0][0]
	f := figure.New("Figure 1 as a surface: the smallest bound, "+what, "ε (replace-one)", "δ")
	f.LogX(0.1, 0.3, 1, 3, 10).LogY(1e-6, 1e-4, 1e-2).HeatLog(epsilons, deltas, z).ColorBar("excess risk")
	var levels []float64
	for v := math.Pow(10, math.Ceil(math.Log10(lo))); v < hi; v *= 10 {
		levels = append(levels, v)
	}
	f.Contours(epsilons, deltas, z, levels, figure.Ink)
	f.Alt = fmt.Sprintf("A map that rises to the left and a little downwards: from %.3g at the largest ε and δ to "+
		"%.3g at the smallest; lines at the powers of ten are nearly upright, so that ε counts for more than δ", lo, hi)
	return f, nil
}

// boxColors are the colours of the mechanisms of Figure 2.
var boxColors = map[string]figure.Color{"LOP": figure.Orange, "LOP-Clip": figure.Gold, "QOP": figure.Blue,
	"LOP about the anchor": figure.Green}

// Boxes are the cells of Figure 2 with how they came about.
type Boxes struct {
	Cells []sim.Cell
	grid  sim.Grid[*Task]
}

// RunBoxes runs Figure2 over Kappas, trials times; zero is the paper's number.
func RunBoxes(trials int, labelError float64, seed uint64, mechanisms ...Mechanism) (*Boxes, error) {
	g := Figure2(Kappas, labelError, seed, mechanisms...)
	if trials > 0 {
		g.Trials = trials
	}
	cells, err := g.Run(context.Background())
	return &Boxes{cells, g}, err
}

// Figure draws the mean risks with the range that holds nine of ten runs, since risks are positive and skew. With
// public it adds what is free: the anchor's own risk, and the smallest risk.
func (b *Boxes) Figure(title string, public bool) (_ *figure.Figure, err error) {
	defer measure.Catch(&err)
	f := figure.New(title, "half-width κ of the box", "risk J").LogX(0.1, 1, 10, 100, 1000).LogY(100, 1e4, 1e6, 1e8,
		1e10)
	for _, m := range b.grid.Mechanisms {
		var mean, lo, hi []float64
		for _, c := range b.Cells {
			if c.Mechanism == m.Name {
				mean, lo, hi = append(mean, c.Mean), append(lo, c.Quantile(0.05)), append(hi, c.Quantile(0.95))
			}
		}
		f.Band(Kappas, lo, hi, boxColors[m.Name]).Line(m.Name, Kappas, mean, boxColors[m.Name])
		f.Alt += fmt.Sprintf("%s: %.3g at κ = %g, %.3g at κ = %g; ", m.Name, mean[0], Kappas[0], mean[len(mean)-1],
			Kappas[len(Kappas)-1])
	}
	if public {
		var anchor, least []float64
		for _, t := range b.grid.Tasks {
			anchor, least = append(anchor, t.Train.AnchorRisk()), append(least, measure.Must(t.Train.LeastRisk()))
		}
		f.Dashed("the anchor itself", Kappas, anchor, figure.Purple).Dashed("smallest risk", Kappas, least, figure.Gray)
		f.Alt += fmt.Sprintf("the anchor itself: %.3g at the end; the smallest risk: %.3g", anchor[len(anchor)-1],
			least[len(least)-1])
	}
	return f.YRange(40, 5e10), nil
}

// Table is Table 3 beside the printed one, risks per record.
func (b *Boxes) Table() display.Item {
	it := display.Item{Title: "Table 3: risks per record, deviation of ten runs and error of their mean",
		Header: []string{"", "mean Std", "as printed", "largest Std", "as printed", "mean SE", "as printed",
			"largest SE", "as printed"}}
	for i, s := range Table3(b.Cells, qopRecords) {
		p := Published[i]
		it.Rowf("%s | %.3g | %.3g | %.3g | %.3g | %.3g | %.3g | %.3g | %.3g", s.Mechanism, s.MeanStd, p.MeanStd,
			s.LargestStd, p.LargestStd, s.MeanStdErr, p.MeanStdErr, s.LargestStdErr, p.LargestStdErr)
	}
	return it
}

// At lists the risks at one κ: the mean, and what holds nine of ten runs.
func (b *Boxes) At(kappa float64) display.Item {
	it := display.Item{Header: []string{fmt.Sprintf("at κ = %g", kappa), "mean risk", "nine of ten runs, from", "to"}}
	for _, c := range b.Cells {
		if c.Task == fmt.Sprintf("κ = %g", kappa) {
			it.Rowf("%s | %.3g | %.3g | %.3g", c.Mechanism, c.Mean, c.Quantile(0.05), c.Quantile(0.95))
		}
	}
	return it
}

// Apart returns the largest relative difference between the mean risks of a mechanism in b and in other, which has the
// same cells.
func (b *Boxes) Apart(other *Boxes, mechanism string) (largest float64) {
	for i, c := range b.Cells {
		if c.Mechanism == mechanism {
			largest = math.Max(largest, math.Abs(other.Cells[i].Mean/c.Mean-1))
		}
	}
	return largest
}

// AccountingsFigure draws σ²/L for least squares over ε by four accountings, and a table of it at ε = ½.
func AccountingsFigure(w wishart.Wishart, delta float64) (_ *figure.Figure, _ display.Item, err error) {
	defer measure.Catch(&err)
	eps := figure.Geometric(0.1, 5, 12)
	f := figure.New(fmt.Sprintf("Noise for least squares, d = %d, m = %d, δ = %g", w.D, w.M, delta), "ε (replace-one)",
		"σ² over L").LogX(0.1, 0.2, 0.5, 1, 2, 5).LogY(0.01, 0.1, 1, 10, 100)
	it := display.Item{Header: []string{"accounting", "σ²/L at ε = 0.5"}}
	for i, a := range []wishart.Accounting{wishart.Theorem31, wishart.Spectral, wishart.Directional, wishart.Exact} {
		var y []float64
		for _, e := range append([]float64{0.5}, eps...) {
			y = append(y, measure.Must(LeastSquaresNoise(a, w, privacy.ReplaceOne, e, delta)))
		}
		name := []string{"Theorem 3.1", "spectral", "directional", "exact"}[i]
		f.Line(name, eps, y[1:], []figure.Color{figure.Orange, figure.Gold, figure.Green, figure.Blue}[i])
		it.Rowf("%s | %.3g", name, y[0])
	}
	return f, it, nil
}
