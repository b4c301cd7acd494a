// Package cop is the room of the paper on convolved objective perturbation: smoothings of losses that are not smooth.
// It has the claims with their checks, the experiments as functions for notebooks, and, as tests, the evidence for its
// entries of docs/errata.md.
package cop

import (
	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

// Checks returns the checks of claims.txt.
func Checks() claim.Checks {
	compared := func(number int) claim.Versions { return measure.Against(measure.With(figureOf, number), 1, 1.3, 0.7) }
	return claim.Checks{
		"cop/lem3.1": measure.Against(convolutionBounds, [2]float64{1, 1}, [2]float64{0.99, 1}, [2]float64{1.01, 1},
			[2]float64{1, 0.99}, [2]float64{1, 1.01}),
		"cop/thm3.2": measure.Against(printedAndCorrected, spoilt{1, false}, spoilt{0.9, false}, spoilt{1.1, false},
			spoilt{0.45, false}, spoilt{1, true}),
		"cop/lem3.3":           measure.Against(boundOfLemma33, 1, 1.01, 0.99),
		"cop/lem4.1":           measure.Against(strictlyConvexWhere, 1, 1.01, 0.99),
		"cop/lem4.2":           measure.Against(setsGrow, 1, 0.5, 0.9),
		"cop/lem4.3":           measure.Against(gaussianGap, 1, 1-1e-9, 1+1e-9),
		"cop/thm4.5":           measure.Times(slopeOfRisk),
		"cop/lem4.6":           measure.Against(envelopeBounds, 1, 1-1e-7, 1+1e-7),
		"cop/secB.2":           measure.Against(otherGaps, 1, 1-1e-9, 1+1e-9),
		"cop/secB.4-piecewise": measure.Against(piecesGain, 1, 1.01, 1.1),
		"cop/secB.4-bowl":      measure.Against(bowlGains, 1, 1.01, 1.1),
		"cop/ex1":              measure.Scaled(quantileExample, residual{0.75, 1}, residual{0.75, 0}),
		"cop/ex2":              measure.Scaled(quantileExample, residual{0.999, 1}, residual{0.999, 0}),
		"cop/ex3":              measure.Against(lassoExample, 0, 1e-9),
		"cop/fig1":             measure.Against(noErrorOutside, 0.5, 0.55),
		"cop/fig2":             measure.Against(gapVanishes, 1, 1.1),
		"cop/fig3":             measure.Against(raisedEnvelope, 1, 1.01, 0.99),
		"cop/fig4":             measure.Against(shapesOf, 1, 0.99, 1.01),
		"cop/fig5":             compared(5),
		"cop/fig6":             measure.Against(bowlPlane, 1, 1.1),
		"cop/fig7":             compared(7),
		"cop/fig8":             compared(8),
		"cop/tab1":             measure.Against(normaliser, 1, 1.01, 2),
		"cop/tab2":             measure.Against(distancesOfTable, 2, 2.01),

		"dpnb/closest-smoothing": measure.Against(closestSmoothing, 0.5, 0.51, 0.55),
		"dpnb/dearest-smoothing": measure.Against(dearestSmoothing, 1, 1.01, 1.1),
	}
}
