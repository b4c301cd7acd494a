// Package qop is the room of the paper on quadratic objective perturbation: a Wishart matrix and a Gaussian vector in
// the objective. It has the claims with their checks, the experiments as functions for notebooks, and, as tests, the
// evidence for its entries of docs/errata.md.
package qop

import "github.com/dpnb/notebooks/dpnb/claim"

// Checks returns the checks of claims.txt.
func Checks() []claim.Checks {
	return []claim.Checks{
		composites(),
		quadraticLemmas(),
		quadraticMatrices(),
		quadraticTheorems(),
		scalarClaims(),
		densities(),
		linearMechanism(),
		quadraticExperiments(),
		quadraticFigures(),
	}
}
