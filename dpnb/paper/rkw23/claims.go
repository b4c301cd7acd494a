// Package rkw23 is the room of Redberg, Koskela and Wang 2023: objective perturbation with approximate minima
// (Algorithm 1), its hockey-stick and Rényi bounds, and honest tuning.
// It has the claims with their checks, the experiments as functions for notebooks, and, as tests, the evidence for its
// entries of docs/errata.md.
package rkw23

import "github.com/dpnb/notebooks/dpnb/claim"

// Checks returns the checks of claims.txt.
func Checks() []claim.Checks {
	return []claim.Checks{
		bounds(),
		lemmas(),
		renyi(),
		composition(),
		adaptive(),
		tools(),
		theory(),
		algorithm(),
		clipping(),
		structure(),
		utility(),
		descent(),
		experiments(),
		tables(),
	}
}
