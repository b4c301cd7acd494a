// Package heavytail is the room of the paper on rows without a bound: its algorithms at small sizes as they are
// printed, its experiments, its claims and the evidence for its errata.
package heavytail

import "github.com/dpnb/notebooks/dpnb/claim"

// Checks returns the checks of claims.txt.
func Checks() []claim.Checks {
	return []claim.Checks{extensionClaims(), localisation(), lowerBounds(), regularised(), rates()}
}
