// Package dtz24 is the room of Dwork, Tankala and Zhang 2024: the errors of private learners when records and features
// grow in proportion.
// It has the claims with their checks, the experiments as functions for notebooks, and, as tests, the evidence for its
// entries of docs/errata.md.
package dtz24

import "github.com/dpnb/notebooks/dpnb/claim"

// Checks returns the checks of claims.txt.
func Checks() []claim.Checks {
	return []claim.Checks{
		proportionalClaims(),
		simulation(),
		descentPrivacy(),
		lemmas(),
	}
}
