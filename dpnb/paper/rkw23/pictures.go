package rkw23

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
	"github.com/dpnb/notebooks/dpnb/sim/population"
)

// turningDimensions are where Turning draws.
var turningDimensions = []float64{1, 2, 3, 4, 5, 7, 10, 20, 30, 50, 70, 100}

// turning is the Rényi divergence of the release of ℓ(θ) = √(1 + ‖θ‖²) in so many dimensions, the only record, λ = 1, σ
// = 2, with what is claimed for a gradient that keeps its line and what is proved for one that turns.
func turning(dimension int, alpha float64) (exact, line, rank float64) {
	without, with := audit.Radial{Dimension: dimension, Slope: 1, Smoothness: 1, Lambda: 1, Sigma: 2}.Cells(4000)
	exact = measure.Renyi(with, without, alpha)
	bound := objective.RankK{Rank: 1, Smoothness: 1, Slope: 1, Lambda: 1, Sigma: 2}
	line = measure.Must(bound.RDP(alpha))
	bound.Rank = dimension
	return exact, line, measure.Must(bound.RDP(alpha))
}

// Turning draws Rényi divergences of order alpha against the dimension, of a loss that is no generalised linear model,
// √(1 + ‖θ‖²): exact, as claimed before appendix G, and the bound for rank d.
//
// Errors: *privacy.ParamError if alpha ≤ 1.
func Turning(alpha float64) (_ *figure.Figure, err error) {
	defer measure.Catch(&err)
	var exact, line, rank []float64
	for _, d := range turningDimensions {
		e, l, r := turning(int(d), alpha)
		exact, line, rank = append(exact, e), append(line, l), append(rank, r)
	}
	f := figure.New("A loss that is no generalised linear model (λ = 1, σ = 2)", "dimension", fmt.Sprintf("Rényi "+
		"divergence of order %g", alpha)).LogX(1, 2, 5, 10, 20, 50, 100).LogY(0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
	f.Line("bound for rank d", turningDimensions, rank, figure.Green)
	f.Line("exact", turningDimensions, exact, figure.Blue)
	var above []float64
	for i, v := range exact {
		if v > line[i] {
			above = append(above, turningDimensions[i])
		}
	}
	last := turningDimensions[len(exact)-1]
	broken := "in none of the dimensions drawn"
	if n := len(above); n > 0 && above[n-1] == last {
		broken = fmt.Sprintf("from dimension %g on", above[0])
	} else if n > 0 {
		broken = fmt.Sprintf("from dimension %g to %g", above[0], above[n-1])
	}
	f.Alt = fmt.Sprintf("The old claim is level. The exact divergence is above it %s; in dimension %g it is %.2g "+
		"times the claim. The bound for rank d rises, and is above both.", broken, last, exact[len(exact)-1]/line[0])
	return f.Dashed("the old claim", turningDimensions, line, figure.Orange), nil
}

// Gradients counts, against the number of records of norm 1 in ten dimensions, how many gradients of single records
// SAG, SVRG and L-BFGS evaluate until that of the objective is at most 1/n, λ = 1/4.
//
// Errors: those of erm.Minimize.
func Gradients(sizes []int, seed uint64) (_ *figure.Figure, err error) {
	defer measure.Catch(&err)
	f := figure.New("Gradients of single records, until the whole gradient is at most 1/n", "records n", "evaluations")
	var x, square []float64
	for _, n := range sizes {
		x, square = append(x, float64(n)), append(square, float64(n)*float64(n))
	}
	f.LogX(x...).LogY().Dashed("DP-SGD at its optimal rate, n²", x, square, figure.Gray)
	for i, m := range []erm.Method{erm.SAG{Seed: seed}, erm.SVRG{Seed: seed}, erm.LBFGS{}} {
		var y []float64
		for k, n := range sizes {
			y = append(y, evaluations(m, n, noise.NewSeeded(seed).Stream(k)))
		}
		f.Line(m.Name(), x, y, []figure.Color{figure.Orange, figure.Purple, figure.Blue}[i])
	}
	return f, nil
}

// evaluations counts the gradients of records that a method evaluates on n unit records with logistic labels, d = 10, λ
// = β = 1/4, σ = 4, until ‖∇J‖ ≤ 1/n.
func evaluations(m erm.Method, n int, rng *noise.Seeded) float64 {
	const d = 10
	rows, labels := measure.UnitRecords(n, d, rng)
	p := &erm.Problem{Rows: rows, Labels: labels, Loss: loss.Logistic{}, Lambda: 0.25, Linear: make([]float64, d)}
	rng.Gaussian(p.Linear, 4)
	return float64(measure.Must(erm.Minimize(p, &erm.Settings{Method: m, Tolerance: 1 / float64(n)})).Gradients)
}

// Risk draws the mean excess of the empirical risk of logistic regression over draws of b ~ N(0, σ²I), against λ,
// beside the bound of Theorem H.1 and one that has no n.
//
// Errors: those of erm.Minimize.
func Risk(s *population.Sample, sigma float64, draws int, seed uint64) (_ *figure.Figure, err error) {
	defer measure.Catch(&err)
	e := empiricalOf(erm.Problem{Rows: s.Rows, Labels: s.Labels, Loss: loss.Logistic{}, Lambda: 1})
	n, d := s.Rows.Dims()
	var lambdas, measured, printed, sharper []float64
	for lambda := 0.5; lambda < 600; lambda *= 1.6 {
		e.p.Lambda = lambda
		excess := e.meanExcess(sigma, draws, noise.NewSeeded(seed))
		p, h := e.bounds(sigma)
		lambdas, measured = append(lambdas, lambda), append(measured, excess)
		printed, sharper = append(printed, p), append(sharper, h)
	}
	f := figure.New(fmt.Sprintf("Excess of the empirical risk, σ = %g, n = %d, d = %d", sigma, n, d), "λ",
		"excess of Σℓ").LogX(0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500).LogY()
	f.Dashed("Theorem H.1", lambdas, printed, figure.Gray).Dashed("without n", lambdas, sharper, figure.Orange)
	return f.Line("measured", lambdas, measured, figure.Blue), nil
}

// meanExcess is the mean of Σf at the perturbed minimisers less its least value.
func (e *empirical) meanExcess(sigma float64, draws int, rng *noise.Seeded) float64 {
	var sum float64
	for range draws {
		theta := e.perturbed(sigma, rng)
		sum += e.risk(e.p.Loss, theta) - e.risk(e.p.Loss, e.best)
	}
	return sum / float64(draws)
}

// bounds are that of Theorem H.1 for an exact minimiser, (nβ + λ)dσ²/(2λ²) + λ‖θ⋆‖²/2, and (dσ² + λ²‖θ⋆‖²)/(4λ).
func (e *empirical) bounds(sigma float64) (printed, sharper float64) {
	rows, features := e.p.Rows.Dims()
	n, d, lambda, norm := float64(rows), float64(features), e.p.Lambda, floats.Dot(e.best, e.best)
	return (n*e.p.Loss.Smoothness()+lambda)*d*sigma*sigma/(2*lambda*lambda) + lambda*norm/2,
		(d*sigma*sigma + lambda*lambda*norm) / (4 * lambda)
}

// drawnBounds are those of Figure 1 and of Needed, each above the next, by the names that people read.
var drawnBounds = []struct {
	bound objective.Bound
	name  string
	color figure.Color
}{
	{objective.KST12, "Kifer et al. 2012", figure.Gray},
	{objective.RKW23, "Redberg et al. 2023", figure.Gold},
	{objective.DTZ24, "Dwork et al. 2024", figure.Orange},
	{objective.Pointwise, "pointwise", figure.Purple},
	{objective.Tight, "tight", figure.Blue},
	{objective.GaussianLower, "lower bound", figure.Green},
}

// Figure1 draws δ(ε) of objective perturbation with L = β = 1 by six bounds, from ε = 0.02 to most. The loss is the
// softplus of width 1/4, which has these constants and no curvature where its slope is largest.
//
// Errors: *privacy.ParamError.
func Figure1(sigma, lambda, most float64) (_ *figure.Figure, err error) {
	defer measure.Catch(&err)
	curve := measure.Must(loss.CurveOf(loss.Softplus{Width: 0.25}, 1))
	f := figure.New(fmt.Sprintf("Objective perturbation, σ = %g, λ = %g, β = L = 1", sigma, lambda),
		"ε (add/remove-one)", "δ").LogY().YRange(1e-16, 1)
	eps := figure.Span(0.02, most, 40)
	for _, b := range drawnBounds {
		p := measure.Must(objective.New(objective.Config{Curve: curve, Lambda: lambda, Sigma: sigma, Bound: b.bound}))
		f.Line(b.name, eps, figure.Values(eps, func(e float64) float64 { return privacy.DeltaUpper(p, e) }), b.color)
	}
	return f, nil
}

// branchOff is the δ of Theorem 3.1 without a shift: its second branch, 1 − e^{ε̂} + 2e^{ε̂}H for ε̂ = ε − a²/2 < 0, H
// the Gaussian mechanism's δ at the given order, and beyond it the first, twice that at ε.
func branchOff(a, eps, order float64) float64 {
	hat := eps - a*a/2
	if hat >= 0 {
		return 2 * measure.GaussianDelta(a, eps)
	}
	return -math.Expm1(hat) + math.Exp(hat)*2*measure.GaussianDelta(a, order)
}

// TwoErrors draws the two errors of the printed Theorem 3.1. First the sign of the shift: δ(ε) of logistic loss, λ =
// 1/2, σ = 2, printed and corrected, beside exact divergences of one record under a tilt that holds its slope near
// 1. Then the order of the second branch, L/σ = 2 and no shift: printed L²/σ², corrected L²/(2σ²), beside a linear
// loss, which has no curvature and is the Gaussian mechanism. The print promises less than that too.
func TwoErrors() (shift, branch *figure.Figure) {
	const lambda, sigma, a = 0.5, 2.0, 2.0
	pair := audit.Scalar{Loss: loss.Logistic{}, ExtraX: 1, ExtraY: 1, Lambda: lambda, Sigma: sigma, Tilt: 10}
	without, with := pair.Cells(4000)
	shift = figure.New("Theorem 3.1, first error: the shift enters with the wrong sign", "ε (add/remove-one)", "δ")
	shift.LogY()
	shift.Curve("corrected", 0.02, 2,
		func(eps float64) float64 { return measure.HalfNormal(-math.Log1p(-0.25/lambda), 1/sigma, eps) }, figure.Green)
	shift.Curve("exact, of two neighbours", 0.02, 2,
		func(eps float64) float64 { return measure.Stick(with, without, eps) }, figure.Blue)
	shift.Curve("printed", 0.02, 2, func(eps float64) float64 { return printedRKW23(lambda, sigma, eps) },
		figure.Orange)
	branch = figure.New("Theorem 3.1, second error: the order of the second branch", "ε (add/remove-one), L = 2σ", "δ")
	branch.Curve("corrected", 0, 2.4, func(eps float64) float64 { return branchOff(a, eps, a*a/2) }, figure.Green)
	branch.Curve("printed", 0, 2.4, func(eps float64) float64 { return branchOff(a, eps, a*a) }, figure.Orange)
	branch.Curve("exact, of a linear loss", 0, 2.4, func(eps float64) float64 { return measure.GaussianDelta(a, eps) },
		figure.Blue)
	return shift, branch
}

// Figure3 draws ε at delta of k fits by objective perturbation, L = β = 1, σ = 8, λ = 10: by Theorem 3.2, by convolving
// the loss of Theorem 3.1, and of the Gaussian mechanism, which no accounting can undercut.
//
// Errors: *privacy.ParamError.
func Figure3(delta float64) (_ *figure.Figure, err error) {
	defer measure.Catch(&err)
	var k, renyi, convolved, gaussian []float64
	for n := 1; n <= 16; n *= 2 {
		b, r := fits(n, delta)
		g := measure.Must(privacy.EpsilonUpper(privacy.GaussianProfile(math.Sqrt(float64(n))/8, privacy.AddRemove),
			delta))
		k, renyi, convolved, gaussian = append(k, float64(n)), append(renyi, r), append(convolved, b.Upper),
			append(gaussian, g)
	}
	f := figure.New("k fits by objective perturbation, σ = 8, λ = 10", "fits k", fmt.Sprintf("ε at δ = %g", delta)).
		LogX(k...)
	f.Line("Rényi, Theorem 3.2", k, renyi, figure.Orange).Line("convolved, Theorem 3.1", k, convolved, figure.Purple)
	return f.Dashed("Gaussian, lower bound", k, gaussian, figure.Green), nil
}

// renyiOf is the Rényi curve of a half-normal loss, not a number where there is none.
func renyiOf(w privacy.HalfNormal) func(alpha float64) float64 {
	return func(alpha float64) float64 {
		v, err := w.RDP(alpha)
		if err != nil {
			return math.NaN()
		}
		return v
	}
}

// RenyiCurves draws the Rényi curve of Theorem 3.2, L = β = 1, σ = 5, for some λ > 1, between that of the half-normal
// loss, which it tends to (appendix I), and the Gaussian mechanism's.
func RenyiCurves(lambdas ...float64) *figure.Figure {
	const sigma = 5.
	f := figure.New(fmt.Sprintf("Objective perturbation, σ = %g, β = L = 1", sigma), "order α", "ε(α)")
	f.LogX(1, 2, 5, 10, 20, 50, 100).LogY(0.1, 0.2, 0.5, 1, 2)
	for i, lambda := range lambdas {
		f.Curve(fmt.Sprintf("λ = %g", lambda), 1.05, 100, renyiOf(privacy.HalfNormal{K: -math.Log1p(-1 / lambda),
			A: 1 / sigma}), []figure.Color{figure.Orange, figure.Purple, figure.Blue}[i%3])
	}
	alpha := figure.Geometric(1.05, 100, 40)
	f.Dashed("half-normal", alpha, figure.Values(alpha, renyiOf(privacy.HalfNormal{A: 1 / sigma})), figure.Gray)
	return f.Dashed("Gaussian", alpha, figure.Values(alpha, func(a float64) float64 { return a / (2 * sigma * sigma) }),
		figure.Green)
}

// RenyiBesideDescent draws, at σ = 2, the Rényi curve of objective perturbation with L = β = 1 and λ = 20 beside that
// of 10,000 steps of DP-SGD at a rate of 1 % (appendix J.1).
//
// Errors: *privacy.ParamError.
func RenyiBesideDescent() (*figure.Figure, error) {
	const sigma, steps, rate = 2., 10_000, 0.01
	step, err := privacy.SubsampledGaussian{Sigma: sigma, Sensitivity: 1, Rate: rate}.RDP(privacy.AddRemove)
	if err != nil {
		return nil, err
	}
	object := renyiOf(privacy.HalfNormal{K: -math.Log1p(-1. / 20), A: 1 / sigma})
	var alpha []float64
	for a := 2.0; a <= 64; a = math.Ceil(1.1 * a) {
		alpha = append(alpha, a)
	}
	f := figure.New(fmt.Sprintf("Rényi bounds, σ = %g", sigma), "order α", "ε(α)").LogX(2, 4, 8, 16, 32, 64).LogY()
	f.Line("DP-SGD, 10,000 steps at 1 %", alpha, figure.Values(alpha,
		func(a float64) float64 { return steps * step.Epsilon(a) }), figure.Orange)
	f.Line("objective perturbation", alpha, figure.Values(alpha, object), figure.Blue)
	return f.Dashed("Gaussian", alpha, figure.Values(alpha, func(a float64) float64 { return a / (2 * sigma * sigma) }),
		figure.Green), nil
}

// mostNoise is the top of Needed, over the Gaussian mechanism's noise.
const mostNoise = 2.5

// needed is σ over that of the Gaussian mechanism with the same largest slope, for (ε, δ) at the ridge λ; +Inf where it
// is beyond the figure.
func needed(curve objective.Curve, bound objective.Bound, unit, epsilon, delta, lambda float64) (float64, error) {
	cfg := objective.Config{Curve: curve, Lambda: lambda, Sigma: mostNoise * unit, Bound: bound}
	if p, err := objective.New(cfg); err != nil || privacy.DeltaUpper(p, epsilon) > delta {
		return math.Inf(1), nil // so much noise is not enough: no need to search
	}
	sigma, err := objective.Sigma(cfg, epsilon, delta)
	return sigma / unit, err
}

// Needed draws the noise that a loss needs for (ε, δ) against the ridge, over that of the Gaussian mechanism, by three
// bounds, for rows of norm at most radius; and lists by how much it exceeds 1 at some λ. The unit of λ is Rσ with the
// Gaussian mechanism's σ.
//
// Errors: *privacy.ParamError; privacy.ErrUnsupported, wrapped, for a loss without a curve.
func Needed(of loss.Loss, radius, epsilon, delta float64) (_ *figure.Figure, _ *display.Item, err error) {
	defer measure.Catch(&err)
	curve := measure.Must(loss.CurveOf(of, radius))
	gauss := measure.Must(privacy.GaussianSigma(epsilon, delta))
	sigma := gauss * radius * of.Lipschitz()
	f := figure.New(fmt.Sprintf("Noise that the %s loss needs for ε = %g, δ = %g", of.Name(), epsilon, delta),
		fmt.Sprintf("λ (R = %g)", radius), "σ over the Gaussian mechanism's").LogX(0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)
	t := &display.Item{Title: "More noise than the Gaussian mechanism's", Header: []string{"bound"}}
	shares := []float64{0.281, 0.5, 1}
	for _, s := range shares {
		t.Header = append(t.Header, fmt.Sprintf("λ = %.3g Rσ = %.3g", s, s*radius*sigma))
	}
	for _, b := range drawnBounds {
		points := 48 // a tight value takes longer than hundreds of the others
		switch b.bound {
		case objective.Tight:
			points = 24
		case objective.KST12, objective.Pointwise, objective.GaussianLower:
			continue
		}
		at := func(lambda float64) float64 {
			v, e := needed(curve, b.bound, sigma, epsilon, delta, lambda)
			if e != nil {
				err = e
			}
			return v
		}
		lambda := figure.Geometric(0.07*radius*sigma, 2.7*radius*sigma, points)
		f.Line(b.name, lambda, figure.Values(lambda, at), b.color)
		row := []string{b.name}
		for _, s := range shares {
			if v := at(s * radius * sigma); math.IsInf(v, 1) {
				row = append(row, fmt.Sprintf("above %.0f %%", 100*(mostNoise-1)))
			} else {
				row = append(row, fmt.Sprintf("%.0f %%", 100*(v-1)))
			}
		}
		t.Row(row...)
	}
	return f.YRange(0.9, mostNoise), t, err
}
