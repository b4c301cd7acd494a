package rkw23

import (
	"context"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// theory lists our own claims about the tight bound.
func theory() claim.Checks {
	return claim.Checks{
		"dpnb/gaussian-case": claim.Against(gaussianCase(0.28, 0.05, 1, 41), gaussianCase(0.28, 0.05, 0.999, 41),
			gaussianCase(0.05, 0.05,
				1, 41)),
		"dpnb/tight-attained": claim.Against(tightAttained(1, 42), tightAttained(0.99, 42), tightAttained(1.1, 42)),
	}
}

func searchAgainst(ctx context.Context, lambda, sigma, eps, claimed float64, dir privacy.Direction, steps int,
	src *noise.Seeded) audit.Found {
	return measure.Must(audit.Search{Loss: loss.Logistic{}, Labels: []float64{-1, 1}, RowNorm: 1, Lambda: lambda,
		Sigma: sigma, Epsilon: eps, Direction: dir, Claimed: claimed, Regulariser: true, Steps: steps}.Run(ctx, src))
}

// gaussianCase searches at two multiples of Rσ, one at which nothing may be found, one at which something must, for a δ
// above the Gaussian's times a factor.
func gaussianCase(holdsAt, failsAt, factor float64, seed uint64) claim.Check {
	return measure.Check(func(ctx context.Context, size claim.Size) claim.Outcome {
		steps := measure.Sized(size, 400, 20_000)
		rng := noise.NewSeeded(seed)
		var found, control float64
		for k, sigma := range []float64{0.5, 2, 8} {
			for j, eps := range []float64{0.2 / sigma, 1 / sigma, 2.5 / sigma} {
				gauss := factor * measure.GaussianDelta(1/sigma, eps)
				f := searchAgainst(ctx, holdsAt*sigma, sigma, eps, gauss, privacy.Remove, steps,
					rng.Stream(10*k+j))
				found = math.Max(found, f.Ratio)
				f = searchAgainst(ctx, failsAt*sigma, sigma, eps, gauss, privacy.Remove, steps,
					rng.Stream(100+10*k+j))
				control = math.Max(control, f.Ratio)
			}
		}
		return claim.Decide(fmt.Sprintf("largest δ found over the Gaussian's: %.6f at λ = %g·Rσ, %.3f at %g·Rσ",
			found, holdsAt, control, failsAt),
			"at most 1 + 1e-9, and above 1.01 for the control", found <= 1+1e-9 && control > 1.01,
			"a dataset costs more than the Gaussian mechanism, or the search is too weak to tell")
	})
}

// tightAttained searches for the certified upper value times a factor.
func tightAttained(factor float64, seed uint64) claim.Check {
	return measure.Check(func(ctx context.Context, size claim.Size) claim.Outcome {
		curve := measure.Must(loss.CurveOf(loss.Logistic{}, 1))
		p := measure.Must(objective.New(objective.Config{Curve: curve, Lambda: 0.25, Sigma: 2, Bound: objective.Tight}))
		upper := factor * math.Exp(p.LogDeltaUpper(privacy.Remove, 1))
		steps := measure.Sized(size, 3000, 50_000)
		f := searchAgainst(ctx, 0.25, 2, 1, upper, privacy.Remove, steps, noise.NewSeeded(seed))
		return claim.Decide(fmt.Sprintf("closest: %.4f of δ = %.4e, with %s", f.Ratio, upper, f.Data), "0.95 … 1",
			f.Ratio > 0.95 && f.Ratio <= 1,
			"the search broke the bound, or is too weak")
	})
}
