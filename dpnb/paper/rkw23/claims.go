// Package rkw23 is the room of Redberg, Koskela and Wang 2023: objective perturbation with approximate minima
// (Algorithm 1), its hockey-stick and Rényi bounds, and honest tuning.
// It has the claims with their checks, the experiments as functions for notebooks, and, as tests, the evidence for its
// entries of docs/errata.md.
package rkw23

import (
	"slices"

	"github.com/dpnb/notebooks/dpnb/claim"
)

// Claims returns the claims of this room.
func Claims() []claim.Claim {
	return slices.Concat(
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
	)
}
