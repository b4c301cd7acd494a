// Package cop is the room of the paper on convolved objective perturbation: smoothings of losses that are not smooth.
// It has the claims with their checks, the experiments as functions for notebooks, and, as tests, the evidence for its
// entries of docs/errata.md.
package cop

import (
	"slices"

	"github.com/dpnb/notebooks/dpnb/claim"
)

// Claims returns the claims of this room.
func Claims() []claim.Claim {
	return slices.Concat(
		convolutions(), privacyAndRisk(), specialCases(), comparisons(), figures(),
	)
}
