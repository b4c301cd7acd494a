package qop

import (
	"context"
	"testing"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/privacy/wishart"
)

// Every check of quadratic perturbation must fail on something wrong.
func TestQuadraticChecksCanFail(t *testing.T) {
	for name, run := range map[string]func(context.Context, claim.Size) (claim.Outcome, error){
		"a tenth of the Gaussian noise":           classicalGaussian(0.1),
		"composition at half of ε":                composedPairs(0.5),
		"half of δ + δ̃":                          conditionalPairs(0.5),
		"another limit":                           successive(0.5),
		"λ_max at half of t":                      largestBelowBound(0.4),
		"λ_min at twice s":                        smallestBelowBound(3),
		"twice α and α₁":                          wishartConstants(3),
		"a third of the ratio":                    integrandRatios(0.03),
		"half the distance":                       anchorDistance(0.5),
		"a tenth of the determinant":              lowRankUpdates(0.1),
		"another U":                               interpolatingMatrix(1.01),
		"a thousandth of the curvature":           anchorShare(1e-3),
		"a hundredth of the noise of Theorem 3.1": realNeighbours(wishart.Theorem31, 0.003),
		"a third of the exact noise":              realNeighbours(wishart.Best, 0.3),
		"another profile":                         exactIsAttained(1.3),
		"a thousandth of Theorem 3.3":             excessRisk(true, 1e-4),
		"a hundredth of Corollary 3.4":            excessRisk(false, 1e-3),
		"half of Theorem 5.1's noise":             linearConstants(0.4),
		"a reversed figure":                       optimisedBounds(true),
		"LOP's noise in QOP":                      boundedGradients(0.05),
		"a fifth of the noise with interpolation": brokenInterpolation(0.2),
		"LOP in the place of QOP":                 growingBoxes(true),
		"standard errors that are off":            spreadOfRuns(0.01),
	} {
		o, err := run(context.Background(), claim.Quick)
		if err != nil || o.Verdict != claim.Fails {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
	}
}
