// Package qop is the room of the paper on quadratic objective perturbation: a Wishart matrix and a Gaussian vector in
// the objective. It has the claims with their checks, the experiments as functions for notebooks, and, as tests, the
// evidence for its entries of docs/errata.md.
package qop

import (
	"slices"

	"github.com/dpnb/notebooks/dpnb/claim"
)

// Claims returns the claims of this room.
func Claims() []claim.Claim {
	return slices.Concat(
		composites(),
		quadraticLemmas(),
		quadraticMatrices(),
		quadraticTheorems(),
		scalarClaims(),
		densities(),
		linearMechanism(),
		quadraticExperiments(),
		quadraticFigures(),
	)
}
