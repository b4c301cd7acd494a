package ours

import (
	"context"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// audits lists what is claimed of audits themselves (docs/theory/audit.md).
func audits() claim.Checks {
	return claim.Checks{
		"dpnb/audit-releases": claim.Times(func(f float64) claim.Check { return auditsHold(1, 0.9*f, 140) }).
			Against(auditsHold(0.5, 0.9, 140), auditsHold(1, 1, 140)),
		"dpnb/audit-one-run": claim.Against(oneRunHolds(1, 1, 141), oneRunHolds(0.9, 1, 141), oneRunHolds(1.1, 1, 141),
			oneRunHolds(1, 0, 141)),
		"dpnb/audit-losses": claim.Times(func(f float64) claim.Check { return lossesHold(0.9, 0.9*f, 142) }).
			Against(lossesHold(0.01, 0.9, 142), lossesHold(0.9, 1, 142)),
	}
}

// alarm is an audit at a level, and whether it refutes; of part of the noise.
type alarm func(level, part float64, draws int, src *noise.Seeded) bool

// keeps measures how often audits at level refute what has the part sound of its noise, and whether one of the given
// draws sees that a part of it is there.
func keeps(ctx context.Context, of alarm, runs int, level, sound, part float64, draws int, seed uint64) claim.Outcome {
	alarms := 0
	for k := range runs {
		measure.Try(ctx.Err())
		refuted := of(level, sound, 400, noise.NewSeeded(seed+uint64(k)))
		if refuted {
			alarms++
		}
	}
	caught := of(0.99, part, draws, noise.NewSeeded(seed))
	n := float64(runs)
	limit := 0.1*n + 4.3*math.Sqrt(0.09*n)
	return claim.Decide(fmt.Sprintf("%d false alarms of %d; a part %g of the noise is seen: %v", alarms, runs, part,
		caught), fmt.Sprintf("at most %.0f, and seen", limit), float64(alarms) <= limit && caught,
		"audits err more often than they say, or see nothing")
}

// auditsHold audits sums of answers.
func auditsHold(sound, part float64, seed uint64) claim.Check {
	return measure.Check(func(ctx context.Context, size claim.Size) claim.Outcome {
		of := func(level, part float64, draws int, src *noise.Seeded) bool {
			eps := 3.0
			if draws > 400 {
				eps = 12
			}
			m, held := measure.Must2(answers(1, eps, 1e-5))
			m.Scale *= part
			one := people(1, 1, noise.NewSeeded(1))
			pair := audit.Pair{Name: "one person, or nobody", With: audit.Data{Rows: one, Labels: []float64{0}},
				Without: audit.Data{Rows: people(0, 1, noise.NewSeeded(1))}}
			o := &audit.Options{Draws: draws, Level: level, Delta: 1e-5, Claim: held}
			c := measure.Must(audit.Mechanism(ctx, m, pair, o, src))
			return c.Refuted || c.Epsilon > c.Claimed
		}
		return keeps(ctx, of, size.Runs(200), 0.9, sound, part, 10_000, seed)
	})
}

// lossesHold audits normal noise by its losses.
func lossesHold(level, part float64, seed uint64) claim.Check {
	return measure.Check(func(ctx context.Context, size claim.Size) claim.Outcome {
		held := privacy.GaussianProfile(1, privacy.AddRemove)
		of := func(level, part float64, draws int, src *noise.Seeded) bool {
			c := measure.Must(audit.Exact(audit.Shifted{Distance: 1, Sigma: part},
				&audit.Options{Draws: draws, Level: level, Claim: held}, src))
			return c.Refuted
		}
		return keeps(ctx, of, size.Runs(400), level, 1, part, 4000, seed)
	})
}

// oneRunHolds compares the bound at factor·ε and deltas·δ with randomised response.
func oneRunHolds(factor, deltas float64, seed uint64) claim.Check {
	return measure.Check(func(ctx context.Context, size claim.Size) claim.Outcome {
		const m, eps = 200, 1.0
		draws := size.Runs(20_000)
		src := noise.NewSeeded(seed)
		worst, used := math.Inf(-1), 0.0
		for _, delta := range []float64{0, 0.01} {
			var tail [m + 1]float64
			for range draws {
				measure.Try(ctx.Err())
				right, all := 0, src.Float64() < delta
				for range m {
					if src.Float64() < 1/(1+math.Exp(-eps)) || all {
						right++
					}
				}
				for v := range right + 1 {
					tail[v]++
				}
			}
			for v, n := range tail {
				p, se := n/float64(draws), math.Sqrt(n+1)/float64(draws)
				bound := audit.OneRunBound(m, m, v, factor*eps, deltas*delta)
				worst = math.Max(worst, (p-bound)/se)
				if delta == 0 && p > 0.01 && p < 0.2 {
					used = math.Max(used, p/bound)
				}
			}
		}
		return claim.Decide(fmt.Sprintf("at most %.1f standard errors above the bound, of which %.2f is used", worst,
			used), "at most 4.5, at least 0.9", worst <= 4.5 && used >= 0.9,
			"the bound is broken, or far from what happens")
	})
}
