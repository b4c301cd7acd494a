package ours

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// gaussianCells returns the masses of N(0, 1) and N(mu, 1) on a grid.
func gaussianCells(mu float64) (without, with []float64) {
	const n = 600
	for i := range n {
		a, b := -8+16*float64(i)/n, -8+16*float64(i+1)/n
		without, with = append(without, measure.Mass(a, b)), append(with, measure.Mass(a-mu, b-mu))
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

func selectionHolds(run measure.Run, factor float64) claim.Outcome {
	var profile, curve, printed, off float64 // largest exact/claimed; exact − printed; claimed/stated − 1
	for _, mu := range []float64{0.3, 1} {
		once := privacy.Gaussian{Sigma: 1 / mu, Sensitivity: 1}
		base := privacy.GaussianProfile(mu, privacy.AddRemove)
		rdp := measure.Must(once.RDP(privacy.AddRemove))
		without, with := gaussianCells(mu)
		for _, mean := range measure.Over(run, []float64{0.3, 1, 15.4}) {
			p := measure.Must(privacy.SelectionPoissonProfile(base, mean))
			c := measure.Must(privacy.SelectionPoisson{Base: once, Mean: mean}.RDP(privacy.AddRemove))
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
	return claim.Decide(fmt.Sprintf("largest exact/claimed: δ %.2f, Rényi divergence %.2f; Theorem 6 exceeded by up "+
		"to %.1f; relative distance of the released δ from the stated %s", profile, curve, printed, claim.Roughly(off,
		0.01)), "at most 1, 1; above 0; 1 %", profile <= 1 && profile > 0.1 && curve <= 1 &&
		printed > 0).As(off < 0.01).Reaching(math.Max(profile, curve))
}

// tunedHolds holds what tuned models say of themselves, times a factor, against the theorem and exact laws; free says
// that the formula leaves out the score.
func tunedHolds(run measure.Run, free bool, factor float64) claim.Outcome {
	data := learn.Binary(learn.Patients(100, 3), "ill", learn.RowNorm(1))
	var off, over, least, exact float64 = 0, 0, 1, 0
	for _, at := range measure.Over(run, []struct {
		epsilon, delta float64
		tune           learn.Tune
	}{
		{1, 1e-5, learn.Tune{Learners: []learn.Learner{learn.Logistic{Lambda: 20}, learn.Logistic{Lambda: 80}}}},
		{8, 0.05, learn.Tune{Learners: []learn.Learner{learn.Logistic{Lambda: 30}}, ScoreShare: 0.3,
			Without: [][]string{nil, {"age"}, {"ward"}}}},
	}) {
		at.tune.Noise = learn.Seed(1)
		m := measure.Must(at.tune.Fit(data, learn.Simulate(at.epsilon, at.delta)))
		parts, profile := m.Choice(), m.Release.Guarantee.Profile
		mu := math.Hypot(parts.Mu, 1/parts.ScoreSigma)
		if free {
			mu = parts.Mu
		}
		released := factor * privacy.DeltaUpper(profile, at.epsilon)
		over, least = math.Max(over, released/at.delta), math.Min(least, released/at.delta)
		for _, eps := range []float64{at.epsilon / 8, at.epsilon} {
			claimed := factor * privacy.DeltaUpper(profile, eps)
			want := statedSelection(mu, parts.MeanRuns, eps) + parts.MeanRuns*parts.Slack
			off = math.Max(off, math.Abs(claimed/want-1))
			for slope, moved := range measure.Pairs(run, []float64{-3, 0, 3}, []float64{-1, 1}) {
				p, q, order := tunedRuns(parts, slope, moved)
				a, b := bestOf(p, order, parts.MeanRuns), bestOf(q, order, parts.MeanRuns)
				d := math.Max(audit.HockeyStick(a, b, eps), audit.HockeyStick(b, a, eps))
				exact = math.Max(exact, d/claimed)
			}
		}
	}
	return claim.Decide(fmt.Sprintf("released δ within %s of the stated, from %.3f to %.3f of what was allowed; "+
		"largest exact/claimed %.2f", claim.Roughly(off, 0.01), least, over, exact), "3 %, 0.98 to 1; at most 1",
		over <= 1 && least >= 0.98 && exact <= 1 && exact > 0.01).As(off < 0.03).Reaching(exact)
}

// tunedRuns returns the law of one run on neighbours, in cells of (learner, coefficient, score), and the cells in the
// order of their scores. A learner's coefficient is N(0, 1) without the record and N(μ, 1) with it, of the other
// learner N(μ/2, 1); the score is slope·coefficient, with the record moved by ±1, and noise of σ_s.
func tunedRuns(parts learn.Choice, slope, moved float64) (without, with []float64, order []int) {
	const n = 160
	edge := func(i int, lo, hi float64) float64 { return lo + (hi-lo)*float64(i)/n }
	mass := func(a, b, mean, sd float64) float64 { // of N(mean, sd²) in [a, b]
		return measure.Mass((a-mean)/sd, (b-mean)/sd)
	}
	const spread = 14 // as far as losses of these ε are
	reach := math.Abs(slope)*spread + 1 + spread*parts.ScoreSigma
	for j := range n { // scores rise
		lo, hi := edge(j, -reach, reach), edge(j+1, -reach, reach)
		for _, mu := range []float64{parts.Mu, parts.Mu / 2} {
			for i := range n {
				a, b := edge(i, -spread, spread), edge(i+1, -spread, spread)
				score := slope * (a + b) / 2
				without = append(without, 0.5*mass(a, b, 0, 1)*mass(lo, hi, score, parts.ScoreSigma))
				with = append(with, 0.5*mass(a, b, mu, 1)*mass(lo, hi, score+moved, parts.ScoreSigma))
			}
		}
	}
	for i := range without {
		order = append(order, i)
	}
	return without, with, order
}
