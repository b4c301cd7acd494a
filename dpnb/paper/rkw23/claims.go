// Package rkw23 is the room of Redberg, Koskela and Wang 2023: objective perturbation with approximate minima
// (Algorithm 1), its hockey-stick and Rényi bounds, and honest tuning.
// It has the claims with their checks, the experiments as functions for notebooks, and, as tests, the evidence for its
// entries of docs/errata.md.
package rkw23

import (
	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// Checks returns the checks of claims.txt.
func Checks() claim.Checks {
	first, second := theorem{objective.RKW23, theorem31}, theorem{objective.DTZ24, theorem51}
	inDelta := func(b objective.Bound) claim.Versions { return measure.Times(theorem{bound: b}.inDelta) }
	column := func(set, method string) claim.Versions {
		return measure.Times(func(run measure.Run, factor float64) claim.Outcome {
			return tableColumn(run, tableOf{set, method, timesPrinted(factor)})
		})
	}
	// One that fails is held against the record in the place of the print, as its wrong version.
	fails := func(set string) claim.Versions {
		return measure.Against(tableColumn, tableOf{set, honest, timesPrinted(1)},
			tableOf{set, honest, recordedInstead})
	}
	return claim.Checks{
		"rkw23/lem2.4": measure.Times(largestEvent),
		"rkw23/thm2.8": measure.Times(kst12Holds),
		"rkw23/thm3.1": measure.Times(as31(first.inDelta), as31(first.inSigma)).
			Against(measure.Of(measure.With(boundHolds, theorem31), printedRKW23)),
		"rkw23/thm3.1-printed": measure.Against(printedIsBroken, printedRKW23, released(objective.RKW23),
			func(_, _, _ float64) float64 { return 1 }),
		"rkw23/thm3.2": measure.Pair(first.inRenyi),
		"rkw23/rem3.3": measure.Pair(fromLosses),
		"rkw23/ex3.4":  measure.Times(linearRelease),
		"rkw23/cor3.5": measure.Times(linearIsGaussian),
		"rkw23/alg1":   measure.Pair(algorithmOne),
		"rkw23/thm4.1": measure.Pair(func(run measure.Run, factor, share float64) claim.Outcome {
			return both(stoppedBelow(run, factor, share), approximateBelow(run, factor, share))
		}),
		"rkw23/thmB.1": measure.Times(gaussianOrders),
		"rkw23/thmD.1": measure.Times(composedAdaptively),
		"rkw23/thmD.2": measure.Times(lossesAdd),
		"rkw23/lemD.3": measure.Times(sampledBelow),
		"rkw23/lemD.4": measure.Times(pairWithoutCurvature),
		"rkw23/lemD.6": measure.Scaled(dominatingPair, 1, -1),
		"rkw23/lemD.7": measure.Times(twoRuns),
		"rkw23/lemD.8": measure.Times(growsWithScale),
		"rkw23/thmE.1": measure.Pair(approximateBelow),
		"rkw23/thmE.2": measure.Times(func(run measure.Run, factor float64) claim.Outcome {
			return clippedIsConvex(run, func(l loss.Loss, c float64) loss.Loss { return loss.Clipped(l, factor*c) })
		}).Against(
			measure.Of(clippedIsConvex, func(l loss.Loss, c float64) loss.Loss { return jumping{loss.Clipped(l, c)} }),
			measure.Of(clippedIsConvex, func(l loss.Loss, _ float64) loss.Loss { return l })),
		"rkw23/thmE.3": measure.Scaled(clippedIsSmooth, loss.Clipped, cutOutside),
		"rkw23/eqF.1":  measure.Times(gradientBounds),
		"rkw23/thmF.1": measure.Against(gradientCounts, [2]float64{0, 2}, [2]float64{0.1, 2}, [2]float64{0, 1.9}),
		"rkw23/secF.2": measure.Times(descentRates),
		"rkw23/thmG.1": measure.Against(glmOversight, perInstanceLoss, otherFormula(-1, 1), otherFormula(1, -1)).
			Times(func(factor float64) claim.Check { return measure.Of(glmOversight, otherFormula(factor, 1)) }),
		"rkw23/thmG.2": measure.Times(measure.With(rankHolds, true)),
		"rkw23/thmH.1": measure.Times(
			func(run measure.Run, factor float64) claim.Outcome { return theoremH1(run, factor, 1, 1) },
			func(run measure.Run, factor float64) claim.Outcome { return theoremH1(run, 1, factor, 1) },
			func(run measure.Run, factor float64) claim.Outcome { return theoremH1(run, 1, 1, factor) }),
		"rkw23/secH.1":         measure.Times(sectionH1),
		"rkw23/secI":           measure.Times(convergesLater),
		"rkw23/lemK.5":         measure.Times(renyiAdds),
		"rkw23/fig1":           measure.Pair(figureOne),
		"rkw23/fig2":           measure.Scaled(figureTwo, false, true),
		"rkw23/fig3":           measure.Times(figureThree),
		"rkw23/fig4":           measure.Times(figureFour),
		"rkw23/fig5":           measure.Times(crossing),
		"rkw23/tab1":           column(clusterSet, asPrinted),
		"rkw23/tab1-dishonest": column(clusterSet, dishonest),
		"rkw23/tab1-honest":    fails(clusterSet),
		"rkw23/tab2":           column(adultSet, asPrinted),
		"rkw23/tab2-dishonest": column(adultSet, dishonest),
		"rkw23/tab2-honest":    fails(adultSet),

		"dtz24/thm2.5": measure.Pair(gaussianFormula),
		"dtz24/thm2.6": first.withOrders().Against(measure.Of(func(run measure.Run, b objective.Bound) claim.Outcome {
			return both(boundHolds(run, theorem31, released(b)), first.inRenyi(run, 1, 1))
		}, objective.DTZ24)),
		"dtz24/lem2.7": measure.Times(
			func(run measure.Run, factor float64) claim.Outcome { return groupHolds(run, groupOfTwo(factor), 1) },
			measure.With(groupHolds, groupOfTwo(1))).
			Against(measure.Of(measure.With(groupHolds, composed(0.5)), 1)),
		"dtz24/thm5.1": second.withOrders(),
		"dtz24/cor5.2": measure.Scaled(zcdpOfAddRemove, 2, 0.4),

		"dpnb/pointwise": inDelta(objective.Pointwise),
		"dpnb/integral":  inDelta(objective.Integral),
		"dpnb/tight":     inDelta(objective.Tight),
		"dpnb/rank-k":    measure.Against(measure.With(rankHolds, false), 1, 0.9),
		"dpnb/replace-one": measure.Against(replaceHolds, composed(1), composed(0.9),
			func(p privacy.Profile, e float64) float64 { return privacy.DeltaUpper(p, e) }),
		"dpnb/reduction": measure.Against(reductionHolds, [2]float64{1, 1}, [2]float64{1, 0}, [2]float64{1, 0.99},
			[2]float64{1.01, 1}),
		"dpnb/gaussian-case": measure.Against(gaussianCase, [2]float64{0.28, 1}, [2]float64{0.28, 0.999},
			[2]float64{0.05, 1}),
		"dpnb/tight-attained": measure.Against(tightAttained, 1, 0.99, 1.1),
	}
}
