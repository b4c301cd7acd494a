// Package heavytail is the room of the paper on rows without a bound: its algorithms at small sizes as they are
// printed, its experiments, its claims and the evidence for its errata.
package heavytail

import (
	"slices"

	"github.com/dpnb/notebooks/dpnb/claim"
)

// Claims returns the claims of the paper.
func Claims() []claim.Claim {
	return slices.Concat(extensionClaims(), localisation(), lowerBounds(), regularised(), rates())
}
