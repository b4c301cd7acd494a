// Package ours is the room of what this project claims itself: docs/theory has the proofs. It has the claims with their
// checks and the experiments behind them.
package ours

import (
	"slices"

	"github.com/dpnb/notebooks/dpnb/claim"
)

// Claims returns the claims of this room.
func Claims() []claim.Claim {
	return slices.Concat(
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
		audits(),
		rivals(),
		recordsElsewhere(),
	)
}
