// Package ours is the room of what this project claims itself: docs/theory has the proofs. It has the claims with their
// checks and the experiments behind them.
package ours

import "github.com/dpnb/notebooks/dpnb/claim"

// Checks returns the checks of claims.txt.
func Checks() []claim.Checks {
	return []claim.Checks{
		floatingPoint(),
		columns(),
		sumsAndSamples(),
		certificates(),
		intervals(),
		lambdaRule(),
		severalClasses(),
		selection(),
		tuned(),
		prediction(),
		smoothedForms(),
		pieces(),
		pureEpsilon(),
		quantileRegression(),
		once(),
		budgetsInSquares(),
		counting(),
		coveredAnswers(),
		audits(),
		rivals(),
		recordsElsewhere(),
	}
}
