// Package dtz24 is the room of Dwork, Tankala and Zhang 2024: the errors of private learners when records and features
// grow in proportion.
// It has the claims with their checks, the experiments as functions for notebooks, and, as tests, the evidence for its
// entries of docs/errata.md.
package dtz24

import (
	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/sim/population"
)

// Checks returns the checks of claims.txt.
func Checks() claim.Checks {
	undefinedL := func(run measure.Run, delta, slope float64) claim.Outcome {
		return groupOfTwo(run, loss.Logistic{}, delta, slope).Corrected("L, which 4.2(a) does not define, is 1")
	}
	simulated := func(check func(measure.Run, spoiledBy, float64) claim.Outcome) claim.Versions {
		return measure.Scaled(check, spoiledBy{1, 1}, spoiledBy{-1, 1}, spoiledBy{1, 0.8})
	}
	return claim.Checks{
		"dtz24/thm3.7a": measure.Pair(func(run measure.Run, delta, slope float64) claim.Outcome {
			return groupOfTwo(run, loss.Huber{Threshold: 1}, delta, slope)
		}),
		"dtz24/thm3.7b":       simulated(huberSimulated),
		"dtz24/thm3.9":        measure.Times(reductionToNonPrivate),
		"dtz24/thm4.2a":       measure.Pair(undefinedL),
		"dtz24/thm4.2b":       simulated(logisticSimulated),
		"dtz24/cor6.1":        measure.Pair(output{loss.Huber{Threshold: 1}, 44}.simulated),
		"dtz24/cor6.3":        measure.Pair(output{loss.Logistic{}, 45}.simulated),
		"dtz24/thm7.1":        measure.Pair(huberDescent.simulated),
		"dtz24/thm7.2":        measure.Pair(logisticDescent.simulated),
		"dpnb/optimal-lambda": measure.Scaled(optimalLambda, 1, 10),

		"dtz24/thm2.8":       measure.Times(minimaxHolds),
		"dtz24/fig1":         measure.Times(spoiled(figure1, Figure1, 3)...),
		"dtz24/fig2":         measure.Times(spoiled(figure2, Figure2, 4)...),
		"dtz24/fig3":         measure.Times(measure.With(figureAgrees, 3)),
		"dtz24/fig4":         measure.Times(measure.With(figureAgrees, 4)),
		"dtz24/fig5":         measure.Times(measure.With(figureAgrees, 5)),
		"dtz24/fig6":         measure.Times(measure.With(figureAgrees, 6)),
		"dtz24/universality": measure.Scaled[population.Design](universal, population.Elliptical, population.Uniform),

		"dtz24/lem2.25": measure.Times(decomposed),
		"dtz24/lem2.26": measure.Times(envelopeSlopes),
		"dtz24/lem3.11": measure.Times(measure.With[loss.Loss](saddle, loss.Huber{Threshold: 0.7})),
		"dtz24/lem4.11": measure.Times(measure.With[loss.Loss](saddle, loss.Logistic{})),
		"dtz24/thm7.1a": measure.Times(measure.With(descentCosts, slopes{loss.Huber{Threshold: 1}, 0.99})),
		"dtz24/thm7.2a": measure.Times(measure.With(descentCosts, slopes{loss.Logistic{}, 0.24})),
	}
}
