// Package ours is the room of what this project claims itself: docs/theory has the proofs. It has the claims with their
// checks and the experiments behind them.
package ours

import (
	"math"
	"sort"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/mechanism/sgd"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Checks returns the checks of claims.txt.
func Checks() claim.Checks {
	return claim.Checks{
		"dpnb/exact-sums":    measure.Scaled(exactSums, false, true),
		"dpnb/exact-sample":  measure.Against(exactSample, 1, 1.02, 0.98),
		"dpnb/exact-normal":  measure.Against(exactNormal, 1, 1.03),
		"dpnb/exact-release": measure.Against(exactRelease, 1, 1.1),
		"dpnb/low-bits":      measure.Times(lowBits),

		"dpnb/intervals": measure.Against(intervalsCover, narrower(0, 1), narrower(0, 0.9), narrower(1, 0.88),
			narrower(2, 0.9), narrower(4, 0.9), narrower(naiveKind, 10)),

		"dpnb/lambda-rule":     measure.Against(suited, 1, 1.1, 16),
		"dpnb/predicted-error": measure.Scaled(ruleCompared, 1, 1e4),

		"dpnb/softmax-vertex": measure.Against(vertexHolds, softmaxOfThree,
			func(_, sigma float64) (privacy.Profile, error) {
				return privacy.GaussianProfile(1/sigma, privacy.AddRemove), nil
			}, func(_, sigma float64) (privacy.Profile, error) { return softmaxOfThree(1e6, sigma) },
			func(_, _ float64) (privacy.Profile, error) { return privacy.NonPrivate{}.Profile(privacy.AddRemove) },
			func(lambda, sigma float64) (privacy.Profile, error) { return softmaxOfThree(lambda, 1.1*sigma) }),
		"dpnb/softmax-noise":      measure.Times(softmaxNoise),
		"dpnb/moments":            measure.Times(momentNoise),
		"dpnb/moments-calibrated": measure.Pair(adaSSPAccounting),

		"dpnb/selection": measure.Against(selectionHolds, 1, 0.95),
		"dpnb/tuned": claim.Against(measure.Of(measure.With(tunedHolds, false), 1),
			measure.Of(measure.With(tunedHolds, false), 0.9), measure.Of(measure.With(tunedHolds, true), 1)),

		"dpnb/predict": measure.Times(predictionsHold),

		"dpnb/free-curvature": measure.Against(curvatureIsFree, [2]float64{1, 1}, [2]float64{0.99, 1},
			[2]float64{1, 0.97}),
		"dpnb/rows-composed": measure.Against(rowsAudited, 1, 1.01, 1.1),
		"dpnb/entropic":      measure.Against(entropicAudited, 1, 1.1),
		"dpnb/recentring": claim.Against(measure.Of(measure.With(recentringAudited, false), 1),
			measure.Of(measure.With(recentringAudited, false), 1.04),
			measure.Of(measure.With(recentringAudited, true), 1)),
		"dpnb/pieces": measure.Against(piecesAudited, [2]float64{1, 1}, [2]float64{1.01, 1}, [2]float64{1, 1e6}),

		"dpnb/extension-bias": measure.Against(extensionBias, [2]float64{1, 1}, [2]float64{0.9, 1},
			[2]float64{1.1, 1}, [2]float64{1, 0.9}, [2]float64{1, 1.1}),
		"dpnb/one-output":     measure.Against(oneOutput, 1, 0.9, 1.1),
		"dpnb/pure-objective": measure.Against(pureObjective, 1, 0.9, 1.1),
		"dpnb/free-jacobian":  measure.Against(freeJacobian, 1, 1.1, 0.9),
		"dpnb/pure-utility":   measure.Against(pureUtility, 1, 1.1, 0.9),
		"dpnb/total-release":  measure.Times(totalRelease),

		"dpnb/quantile-intervals": measure.Pair(quantileCoverage),
		"dpnb/quantiles-joint": measure.Against(jointQuantiles, jointly{noise: 1, order: sgd.Pool},
			jointly{noise: 0.98, order: sgd.Pool}, jointly{noise: 1, order: sgd.Pool, any: true},
			jointly{noise: 1, order: sort.Float64s}),
		"dpnb/quantiles-default": measure.Scaled(medianDefault, 1, 0.5),

		"dpnb/fit-once": measure.Against(onceHolds, onceRules{}, onceRules{nameless: true}, onceRules{checksum: true}),
		"dpnb/goes-on":  measure.Against(goesOn, false, true),

		"dpnb/ledger-filter":    measure.Against(filterHolds, 1, 0.98, 0.9),
		"dpnb/either":           measure.Scaled(eitherHolds, false, true),
		"dpnb/pure-as-gaussian": measure.Against(pureHolds, 1, 0.99, 1.01),
		"dpnb/nearly-gaussian":  measure.Against(nearlyHolds, 1, 0.98, 0.9),
		"dpnb/parallel": measure.Scaled(parallelHolds, grouping{}, grouping{byPlace: true},
			grouping{single: true}),

		"dpnb/histogram": measure.Against(countsCost, "", "normal", "geometric", "keys, normal", "keys, geometric"),
		"dpnb/quantiles": measure.Against(rangeOfQuantiles, 1, 1.1),

		"dpnb/answers-cover": measure.Scaled(answersCover, "", "standard deviation", "correlation", "AUC", "count"),

		"dpnb/curve-rate": measure.Scaled(curveRate, rate{truth: sine, power: 1. / 3},
			rate{truth: zigzag, power: 1. / 3}, rate{truth: sine, power: 0.3}, rate{truth: sine, power: 0.367},
			rate{sine, 1. / 3, func(f *hatFit) { f.scatter = 0 }},
			rate{sine, 1. / 3, func(f *hatFit) { f.lambda *= 0.9 }},
			rate{sine, 1. / 3, func(f *hatFit) { f.weight *= 1.25 }}),

		"dpnb/audit-releases": measure.Times(measure.With(auditsHold, 1)).
			Against(measure.Of(measure.With(auditsHold, 0.5), 1), measure.Of(measure.With(auditsHold, 1), 1/0.9)),
		"dpnb/audit-one-run": measure.Against(oneRunHolds, [2]float64{1, 1}, [2]float64{0.9, 1}, [2]float64{1.1, 1},
			[2]float64{1, 0}),
		"dpnb/audit-losses": measure.Times(measure.With(lossesHold, 0.9)).
			Against(measure.Of(measure.With(lossesHold, 0.01), 1), measure.Of(measure.With(lossesHold, 0.9), 1/0.9)),

		"dpnb/boosted-adassp": measure.Scaled(boostedHolds, boosting{1, 2}, boosting{0.9, 2}, boosting{1, 1}),
		"dpnb/tukey-em": measure.Against(tukeyHolds, [3]float64{1, 1, 1}, [3]float64{0.9, 1, 1},
			[3]float64{1, 0.9, 1}, [3]float64{1, 1, 1.1}),

		"dpnb/stored-clip": measure.Against(storedClip, nil, func(v float64) float64 { return float64(float32(v)) },
			func(v float64) float64 { return math.Float64frombits(math.Float64bits(v) &^ (1<<33 - 1)) }),
		"dpnb/streamed-fit":      measure.Against(streamedFit, 0, -1, 1),
		"dpnb/sums-in-any-order": measure.Scaled(anyOrder, addExactly, addPlainly, addDoubly),
		"dpnb/certificate":       measure.Times(certificateHolds),
	}
}
