package ours

import (
	"context"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// tuned lists the claim about the best of several learners.
func tuned() claim.Checks {
	return claim.Checks{
		"dpnb/tuned": claim.Against(tunedHolds(1, false), tunedHolds(0.9, false), tunedHolds(1, true)),
	}
}

// tunedHolds holds what tuned models say of themselves, times a factor, against the theorem and exact laws; free says
// that the formula leaves out the score.
func tunedHolds(factor float64, free bool) claim.Check {
	return measure.Check(func(ctx context.Context, _ claim.Size) claim.Outcome {
		data := learn.Binary(learn.Patients(100, 3), "ill", learn.RowNorm(1))
		var off, over, least, exact float64 = 0, 0, 1, 0
		for _, at := range []struct {
			epsilon, delta float64
			tune           learn.Tune
		}{
			{1, 1e-5, learn.Tune{Learners: []learn.Learner{learn.Logistic{Lambda: 20}, learn.Logistic{Lambda: 80}}}},
			{8, 0.05, learn.Tune{Learners: []learn.Learner{learn.Logistic{Lambda: 30}}, ScoreShare: 0.3,
				Without: [][]string{nil, {"age"}, {"ward"}}}},
		} {
			measure.Try(ctx.Err())
			at.tune.Noise = learn.Seed(1)
			m := measure.Must(at.tune.Fit(data, learn.Simulate(at.epsilon, at.delta)))
			parts, profile := m.Choice(), m.Release.Guarantee.Profile
			run := math.Hypot(parts.Mu, 1/parts.ScoreSigma)
			if free {
				run = parts.Mu
			}
			released := factor * privacy.DeltaUpper(profile, at.epsilon)
			over, least = math.Max(over, released/at.delta), math.Min(least, released/at.delta)
			for _, eps := range []float64{at.epsilon / 8, at.epsilon} {
				claimed := factor * privacy.DeltaUpper(profile, eps)
				want := statedSelection(run, parts.MeanRuns, eps) + parts.MeanRuns*parts.Slack
				off = math.Max(off, math.Abs(claimed/want-1))
				for _, slope := range []float64{-3, 0, 3} {
					for _, moved := range []float64{-1, 1} {
						p, q, order := tunedRuns(parts, slope, moved)
						a, b := bestOf(p, order, parts.MeanRuns), bestOf(q, order, parts.MeanRuns)
						d := math.Max(audit.HockeyStick(a, b, eps), audit.HockeyStick(b, a, eps))
						exact = math.Max(exact, d/claimed)
					}
				}
			}
		}
		return claim.Decide(fmt.Sprintf("released δ within %s of the stated, from %.3f to %.3f of what was allowed; "+
			"largest exact/claimed %.2f", claim.Roughly(off, 0.01), least, over, exact), "3 %, 0.98 to 1; at most 1",
			over <= 1 && least >= 0.98 && exact <= 1 && exact > 0.01, "another price is released than the theorem's, "+
				"or it is exceeded, or nothing would notice").As(off < 0.03).Reaching(exact)
	})
}

// tunedRuns returns the law of one run on neighbours, in cells of (learner, coefficient, score), and the cells in the
// order of their scores. A learner's coefficient is N(0, 1) without the record and N(μ, 1) with it, of the other
// learner N(μ/2, 1); the score is slope·coefficient, with the record moved by ±1, and noise of σ_s.
func tunedRuns(parts learn.Choice, slope, moved float64) (without, with []float64, order []int) {
	const n = 160
	edge := func(i int, lo, hi float64) float64 { return lo + (hi-lo)*float64(i)/n }
	mass := func(a, b, mean, sd float64) float64 { // of N(mean, sd²) in [a, b], without cancellation
		a, b = (a-mean)/sd, (b-mean)/sd
		if a+b < 0 {
			a, b = -b, -a
		}
		return 0.5*math.Erfc(a/math.Sqrt2) - 0.5*math.Erfc(b/math.Sqrt2)
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
