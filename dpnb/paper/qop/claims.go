// Package qop is the room of the paper on quadratic objective perturbation: a Wishart matrix and a Gaussian vector in
// the objective. It has the claims with their checks, the experiments as functions for notebooks, and, as tests, the
// evidence for its entries of docs/errata.md.
package qop

import (
	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy/wishart"
)

// Checks returns the checks of claims.txt.
func Checks() claim.Checks {
	return claim.Checks{
		"qop/lemB.1":  measure.Times(classicalGaussian),
		"qop/lemB.2":  measure.Times(composedPairs),
		"qop/lemB.3":  measure.Times(conditionalPairs),
		"qop/lemB.4":  measure.Times(successive),
		"qop/lemC.3":  measure.Times(rankOneUpdates),
		"qop/lemC.5":  measure.Times(lowRankUpdates),
		"qop/lemC.7":  measure.Times(interpolatingMatrix),
		"qop/lemD.1":  measure.Times(largestBelowBound),
		"qop/lemD.2":  measure.Times(smallestBelowBound),
		"qop/lemD.4":  measure.Times(wishartConstants),
		"qop/lemE.1":  measure.Times(integrandRatios),
		"qop/lemE.3":  measure.Pair(atoms),
		"qop/lemE.5":  measure.Times(anchorDistance),
		"qop/thm3.1":  measure.Times(measure.With(realNeighbours, wishart.Theorem31)),
		"qop/thm3.3":  measure.Times(measure.With(excessRisk, true)),
		"qop/cor3.4":  measure.Times(measure.With(excessRisk, false)),
		"qop/thm5.1":  measure.Times(linearConstants),
		"qop/mech3":   measure.Times(outputNoise),
		"qop/mech5.1": measure.Pair(clippedLinear),
		"qop/eq4":     measure.Times(meanRatio),
		"qop/eq7":     measure.Times(eq7),
		"qop/algG.2":  measure.Scaled(algorithmG2, true, false),
		"qop/fig1":    measure.Times(optimisedBounds),
		"qop/fig2":    measure.Against(growingBoxes, false, true),
		"qop/tab1":    measure.Against(boundedGradients, [2]float64{1, 0}, [2]float64{1, 0.01}, [2]float64{0.05, 0}),
		"qop/tab3":    measure.Against(spreadOfRuns, 0, 0.01),

		"dpnb/quadratic-sharper": measure.Times(measure.With(realNeighbours, wishart.Best)),
		"dpnb/quadratic-exact":   measure.Times(exactIsAttained),
		"dpnb/quadratic-anchor":  measure.Times(anchorShare),
		"dpnb/interpolation":     measure.Scaled(brokenInterpolation, 1, 0.2),
	}
}
