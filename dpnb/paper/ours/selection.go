package ours

import (
	"context"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// selection lists claims about publishing the best of several runs.
func selection() claim.Checks {
	return claim.Checks{
		"dpnb/selection": claim.Against(selectionHolds(1), selectionHolds(0.95)),
	}
}

// gaussianCells returns the masses of N(0, 1) and N(mu, 1) on a grid.
func gaussianCells(mu float64) (without, with []float64) {
	const n = 600
	tail := func(x float64) float64 { return 0.5 * math.Erfc(x/math.Sqrt2) }
	mass := func(a, b float64) float64 { // without cancellation on either side
		if a+b < 0 {
			a, b = -b, -a
		}
		return tail(a) - tail(b)
	}
	for i := range n {
		a, b := -8+16*float64(i)/n, -8+16*float64(i+1)/n
		without = append(without, mass(a, b))
		with = append(with, mass(a-mu, b-mu))
	}
	return without, with
}

// bestOf returns the law of the best of Poisson(mean) draws of cells whose masses are q, the last of order being best;
// its last entry is that of no draw.
func bestOf(q []float64, order []int, mean float64) []float64 {
	law := make([]float64, len(q)+1)
	below := 0.0
	for _, i := range order {
		law[i] = math.Exp(mean*(below-1)) * math.Expm1(mean*q[i])
		below += q[i]
	}
	law[len(q)] = math.Exp(-mean)
	return law
}

// scores are orders of n cells: rising, falling, and with the uppermost 200 cells moved below so many others.
func scores(n int) [][]int {
	rising, falling := make([]int, n), make([]int, n)
	for i := range n {
		rising[i], falling[i] = i, n-1-i
	}
	all := [][]int{rising, falling}
	for _, under := range []int{50, 100, 150, 200} {
		order := append([]int(nil), rising[under:n-200]...)
		order = append(order, rising[n-200:]...)
		all = append(all, append(order, rising[:under]...))
	}
	return all
}

// statedSelection is min over ε₁ of μE δ(ε − μδ(ε₁) + ε₁ − (e^{ε₁} − 1)X), at most 1, for Gaussian runs, by a grid and
// quadrature.
func statedSelection(mu, mean, eps float64) float64 {
	least, best := 1.0, 0.01
	try := func(first float64) {
		at := eps - mean*measure.GaussianDelta(mu, first) + first
		slope := math.Expm1(first)
		if v := mean * measure.Integral(func(x float64) float64 {
			return math.Exp(-x) * measure.GaussianDelta(mu, at-slope*x)
		}, 0, 30, 6); v < least {
			least, best = v, first
		}
	}
	for first := 0.01; first < 8; first *= 1.05 {
		try(first)
	}
	for _, step := range []float64{1.01, 1.002} { // about the best so far
		for k, from := -5, best; k <= 5; k++ {
			try(from * math.Pow(step, float64(k)))
		}
	}
	return least
}

// selectionHolds holds exact laws of selections against the bounds, times a factor.
func selectionHolds(factor float64) claim.Check {
	return measure.Check(func(ctx context.Context, _ claim.Size) claim.Outcome {
		var profile, curve, printed, off float64 // largest exact/claimed; exact − printed; claimed/stated − 1
		for _, mu := range []float64{0.3, 1} {
			run := privacy.Gaussian{Sigma: 1 / mu, Sensitivity: 1}
			base := privacy.GaussianProfile(mu, privacy.AddRemove)
			rdp := measure.Must(run.RDP(privacy.AddRemove))
			without, with := gaussianCells(mu)
			for _, mean := range []float64{0.3, 1, 15.4} {
				measure.Try(ctx.Err())
				p := measure.Must(privacy.SelectionPoissonProfile(base, mean))
				c := measure.Must(privacy.SelectionPoisson{Base: run, Mean: mean}.RDP(privacy.AddRemove))
				var laws [][2][]float64
				for _, order := range scores(len(with)) {
					laws = append(laws, [2][]float64{bestOf(with, order, mean), bestOf(without, order, mean)})
				}
				for _, eps := range []float64{0, 0.5, 1, 2, 4} {
					claimed := privacy.DeltaUpper(p, eps)
					if want := statedSelection(mu, mean, eps); want > 1e-10 {
						off = math.Max(off, math.Abs(factor*claimed/want-1))
					}
					for _, l := range laws {
						if exact := math.Max(audit.HockeyStick(l[0], l[1], eps), audit.HockeyStick(l[1], l[0],
							eps)); exact > 1e-10 {
							profile = math.Max(profile, exact/(factor*claimed))
						}
					}
				}
				for _, alpha := range []float64{1.2, 2, 5, 20} {
					theorem := rdp.Epsilon(alpha) + mean*privacy.DeltaUpper(base,
						math.Log1p(1/(alpha-1))) + math.Log(mean)/(alpha-1)
					for _, l := range laws {
						exact := math.Max(audit.Renyi(l[0], l[1], alpha), audit.Renyi(l[1], l[0], alpha))
						curve = math.Max(curve, exact/(factor*c.Epsilon(alpha)))
						printed = math.Max(printed, exact-theorem)
					}
				}
			}
		}
		return claim.Decide(fmt.Sprintf("largest exact/claimed: δ %.2f, Rényi divergence %.2f; Theorem 6 exceeded by "+
			"up to %.1f; relative distance of the released δ from the stated %s", profile, curve, printed,
			claim.Roughly(off, 0.01)), "at most 1, 1; above 0; 1 %", profile <= 1 && profile > 0.1 && curve <= 1 &&
			printed > 0, "a bound is exceeded, or another one is released, or nothing would "+
			"notice").As(off < 0.01).Reaching(math.Max(profile, curve))
	})
}
