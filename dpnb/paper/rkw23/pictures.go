package rkw23

import (
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
	"github.com/dpnb/notebooks/dpnb/sim/population"
)

// turningDimensions are where Turning draws.
var turningDimensions = []float64{1, 2, 3, 4, 5, 7, 10, 20, 30, 50, 70, 100}

// turning is the Rényi divergence of the release of ℓ(θ) = √(1 + ‖θ‖²) in so many dimensions, the only record, λ = 1, σ
// = 2, with what is claimed for a gradient that keeps its line and what is proved for one that turns.
//
// Errors: *privacy.ParamError if alpha ≤ 1.
func turning(dimension int, alpha float64) (exact, line, rank float64, err error) {
	without, with := audit.Radial{Dimension: dimension, Slope: 1, Smoothness: 1, Lambda: 1, Sigma: 2}.Cells(4000)
	exact = measure.Renyi(with, without, alpha)
	bound := objective.RankK{Rank: 1, Smoothness: 1, Slope: 1, Lambda: 1, Sigma: 2}
	if line, err = bound.RDP(alpha); err == nil {
		bound.Rank = dimension
		rank, err = bound.RDP(alpha)
	}
	return exact, line, rank, err
}

// Turning draws Rényi divergences of order alpha against the dimension, of a loss that is no generalised linear model,
// √(1 + ‖θ‖²): exact, as claimed before appendix G, and the bound for rank d.
//
// Errors: *privacy.ParamError if alpha ≤ 1.
func Turning(alpha float64) (_ *figure.Figure, err error) {
	defer measure.Catch(&err)
	var exact, line, rank []float64
	for _, d := range turningDimensions {
		e, l, r := measure.Must3(turning(int(d), alpha))
		exact, line, rank = append(exact, e), append(line, l), append(rank, r)
	}
	f := figure.New("A loss that is no generalised linear model (λ = 1, σ = 2)", "dimension",
		fmt.Sprintf("Rényi divergence of order %g", alpha)).LogX(1, 2, 5, 10, 20, 50, 100).
		LogY(0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
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
