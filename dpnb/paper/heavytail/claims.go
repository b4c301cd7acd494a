// Package heavytail is the room of the paper on rows without a bound: its algorithms at small sizes as they are
// printed, its experiments, its claims and the evidence for its errata.
package heavytail

import (
	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

// Checks returns the checks of claims.txt.
func Checks() claim.Checks {
	return claim.Checks{
		"heavytail/lem2.2": measure.Against(extensionIs, 1, 1.1, 0.9),
		"heavytail/lem2.3": measure.Against(momentBias, 1, 0.9, 1.1),
		"heavytail/lemC.1": claim.Against(measure.Of(measure.With(overBall, false), 1),
			measure.Of(measure.With(overBall, false), 0.9), measure.Of(measure.With(overBall, false), 1.1),
			measure.Of(measure.With(overBall, true), 1)),
		"heavytail/lem2.4": measure.Against(ballHolds, 1, 0.9, 1.1),
		"heavytail/prop2.5": measure.Against(oneStage, [3]float64{1, 1, 1}, [3]float64{0.9, 1, 1},
			[3]float64{1, 0.9, 1}, [3]float64{1, 1, 1.1}),

		"heavytail/lem2.7":  measure.Scaled(jointMinimum, 1, 1.2),
		"heavytail/lem2.8":  measure.Against(nearest, 1, 1.01),
		"heavytail/prop2.9": measure.Scaled(adaptive, 1, 30),
		"heavytail/lemD.5":  measure.Scaled(biasedSteps, 0.25, 1.1, 4),
		"heavytail/propD.6": measure.Against(conic, 1, 1.1),
		"heavytail/thmB.1":  measure.Against(oracle, false, true),
		"heavytail/thmE.1":  measure.Times(netPrivacy),
		"heavytail/lemF.1":  measure.Against(centredScore, 1, 0.9, 1.1),

		"heavytail/lemG.1": measure.Against(reduction, 8, 7.2),
		"heavytail/thm4.1": claim.Against(measure.Of(measure.With(lowerBound, false), 1),
			measure.Of(measure.With(lowerBound, false), 1.1), measure.Of(measure.With(lowerBound, false), 0.9),
			measure.Of(measure.With(lowerBound, true), 1)),

		"heavytail/prop3.2": measure.Against(doubleOutput, [2]float64{1, 1}, [2]float64{0.9, 1}, [2]float64{1.1, 1},
			[2]float64{1, 0.6}),
		"heavytail/propF.5": measure.Against(localisedMechanism, 1, 0.9, 1.1),
		"heavytail/thmD.4":  measure.Scaled(byOracle, 0.25, 1.1),

		"heavytail/thm3.1": measure.Against(outputRate, rate{1, 1, 1, same}, rate{0.9, 1, 1, same},
			rate{1, 1.2, 1, same}, rate{1, 1, 0.9, same}, rate{1, 1, 1, half}),
		"heavytail/thmE.2": measure.Against(netRate, netted{1, 1, 0, same}, netted{0.9, 1, 0, same},
			netted{1, 0.5, 0, same}, netted{1, 1, 0, half}, netted{1, 1, 3, same}),
	}
}
