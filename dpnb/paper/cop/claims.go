// Package cop is the room of the paper on convolved objective perturbation: smoothings of losses that are not smooth.
// It has the claims with their checks, the experiments as functions for notebooks, and, as tests, the evidence for its
// entries of docs/errata.md.
package cop

import "github.com/dpnb/notebooks/dpnb/claim"

// Checks returns the checks of claims.txt.
func Checks() []claim.Checks {
	return []claim.Checks{
		convolutions(), privacyAndRisk(), specialCases(), comparisons(), figures(),
	}
}
