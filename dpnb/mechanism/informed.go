package mechanism

import (
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Informed is a mechanism whose parameters can be chosen for what was paid for of the records, or is public, at a cost
// that does not depend on what that was.
type Informed interface {
	Mechanism
	// For returns the mechanism with the parameters that suit the facts, of the same profile, and a factor for the
	// coefficients that it releases, an intercept apart.
	For(f Facts) (m Mechanism, stretch float64)
}

// Holding is an Informed mechanism that heeds Facts.Held.
type Holding interface {
	Informed
	Holds()
}

// WithGaussians is a mechanism of which is known what it costs together with Gaussian mechanisms. What one of pure ε
// costs together with others is the sum.
type WithGaussians interface {
	Mechanism
	// WithGaussian returns the profile of one run together with Gaussian mechanisms of μ in all, by whose results it
	// may have been chosen (Informed). Bound: upper, for every ε. Errors: as Validate.
	WithGaussian(mu float64) (privacy.Profile, error)
}

// Facts is what may be known of centred rows when a mechanism is chosen.
type Facts struct {
	// Records is about how many there are, Mu the μ that the mechanism is worth, Directions how many the rows have that
	// count: a curve as few more, since what it adds is smooth.
	Records, Mu, Directions float64
	// Bias is the constant of rows. Typical is about the mean of labels that are counts, 0 of others. BaseRate is the
	// share of the positive class of two if that is public, else 0.
	Bias, Typical, BaseRate float64
	// Curves are the runs of features that are the hats of a number.
	Curves []matrix.Span
	// Features is how many rows have, the constant included.
	Features int
	// Nowhere are orthonormal directions of the features in which no row has anything.
	Nowhere []matrix.Direction
	// Held are directions v along which coefficients are held to vᵀθ ≥ 0, of a mechanism that is Holding.
	Held []matrix.Direction
}
