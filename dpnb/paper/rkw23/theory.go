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

func searchAgainst(ctx context.Context, lambda, sigma, eps, claimed float64, dir privacy.Direction, steps int,
	src *noise.Seeded) audit.Found {
	return measure.Must(audit.Search{Loss: loss.Logistic{}, Labels: []float64{-1, 1}, RowNorm: 1, Lambda: lambda,
		Sigma: sigma, Epsilon: eps, Direction: dir, Claimed: claimed, Regulariser: true, Steps: steps}.Run(ctx, src))
}

// gaussianCase searches for a δ above the Gaussian's times the second of two numbers, at λ of the first times Rσ, where
// nothing may be found, and of 0.05 Rσ, where something must.
func gaussianCase(run measure.Run, of [2]float64) claim.Outcome {
	const failsAt = 0.05
	holdsAt, factor := of[0], of[1]
	steps := measure.Sized(run.Size, 400, 20_000)
	rng := noise.NewSeeded(41)
	var found, control float64
	for k, sigma := range []float64{0.5, 2, 8} {
		for j, eps := range []float64{0.2 / sigma, 1 / sigma, 2.5 / sigma} {
			gauss := factor * measure.GaussianDelta(1/sigma, eps)
			f := searchAgainst(run, holdsAt*sigma, sigma, eps, gauss, privacy.Remove, steps,
				rng.Stream(10*k+j))
			found = math.Max(found, f.Ratio)
			f = searchAgainst(run, failsAt*sigma, sigma, eps, gauss, privacy.Remove, steps,
				rng.Stream(100+10*k+j))
			control = math.Max(control, f.Ratio)
		}
	}
	return claim.Decide(fmt.Sprintf("largest δ found over the Gaussian's: %.6f at λ = %g·Rσ, %.3f at %g·Rσ",
		found, holdsAt, control, failsAt),
		"at most 1 + 1e-9, and above 1.01 for the control", found <= 1+1e-9 && control > 1.01,
		"a dataset costs more than the Gaussian mechanism, or the search is too weak to tell")
}

// tightAttained searches for the certified upper value times a factor.
func tightAttained(run measure.Run, factor float64) claim.Outcome {
	curve := measure.Must(loss.CurveOf(loss.Logistic{}, 1))
	p := measure.Must(objective.New(objective.Config{Curve: curve, Lambda: 0.25, Sigma: 2, Bound: objective.Tight}))
	upper := factor * math.Exp(p.LogDeltaUpper(privacy.Remove, 1))
	steps := measure.Sized(run.Size, 3000, 50_000)
	f := searchAgainst(run, 0.25, 2, 1, upper, privacy.Remove, steps, noise.NewSeeded(42))
	return claim.Decide(fmt.Sprintf("closest: %.4f of δ = %.4e, with %s", f.Ratio, upper, f.Data), "0.95 … 1",
		f.Ratio > 0.95 && f.Ratio <= 1,
		"the search broke the bound, or is too weak")
}
