package qop

import (
	"cmp"
	"github.com/dpnb/notebooks/dpnb/erm/composite"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/wishart"
)

// Config asks for a Perturbation that satisfies (ε, δ). None of it may depend on the records.
type Config struct {
	Loss    loss.Loss
	RowNorm float64
	// Epsilon > 0, 0 < Delta < 1.
	Epsilon, Delta float64
	// Adjacency: privacy.ReplaceOne, or privacy.AddRemove, which needs less noise.
	Adjacency privacy.Adjacency
	// Interpolation, as AssumeInterpolation states it.
	Interpolation Interpolation
	Regulariser   composite.Regulariser
	Constraint    composite.Constraint
	Lambda        float64
	// Records is n, which is public under replace-one, or a guess of it; Distance is a guess of how far the fit without
	// noise is from θ⋆, zero for 1. Both are made without the data, choose m and the split, and have no part in the
	// guarantee.
	Records  int
	Distance float64
	// HiddenDimension fixes m; zero chooses it.
	HiddenDimension int
	// Accuracy is τ; zero means 1e-10·L·Distance².
	Accuracy float64
	// Accounting; the zero value is the sharpest that is proved for the loss.
	Accounting wishart.Accounting
}

// Calibrate returns the mechanism that makes the bound on the excess risk small (account.Optimise) among those that
// satisfy (ε, δ).
//
// Errors: *privacy.ParamError, *matrix.DataError; an error that wraps privacy.ErrUnsupported for a loss of unbounded
// curvature or an accounting that is not proved for the loss.
func Calibrate(c Config) (Perturbation, error) {
	m := Perturbation{Loss: c.Loss, RowNorm: c.RowNorm, Interpolation: c.Interpolation, Regulariser: c.Regulariser,
		Constraint: c.Constraint,
		Lambda:     c.Lambda, Accounting: c.Accounting, Adjacency: c.Adjacency}
	if err := validateProblem(c.Loss, c.RowNorm, c.Interpolation, c.Regulariser, c.Constraint, c.Lambda); err != nil {
		return m, err
	}
	if err := cmp.Or(c.Adjacency.Validate(),
		privacy.Within(c.Accuracy >= 0, "Accuracy", c.Accuracy, "a positive number, or 0 to have it chosen"),
		privacy.Within(c.Distance >= 0, "Distance", c.Distance, "a positive number, or 0 for 1")); err != nil {
		return m, err
	}
	distance := cmp.Or(c.Distance, 1)
	m.Accuracy = cmp.Or(c.Accuracy, 1e-10*m.Smoothness()*distance*distance)
	setting := m.Setting()
	setting.M = c.HiddenDimension
	if c.HiddenDimension != 0 {
		if err := setting.Wishart.Validate(); err != nil {
			return m, err
		}
	}
	risk := wishart.Risk{Records: max(1, c.Records), Distance: distance}
	if c.Regulariser != nil {
		risk.RegulariserSlope = lipschitz(c.Regulariser, setting.D)
	}
	plan, err := wishart.Optimise(setting, c.Epsilon, c.Delta, risk)
	if err != nil {
		return m, err
	}
	if err := plan.Split.Within(c.Epsilon, c.Delta); err != nil {
		return m, err
	}
	m.HiddenDimension, m.Sigma2, m.OutputSigma, m.Split = plan.Setting.M, plan.Noise.Sigma2, plan.Noise.SigmaOut,
		plan.Split
	return m, m.Validate()
}

// lipschitz returns a bound on the regulariser's subgradients, zero if it has none: it chooses the split only.
func lipschitz(r composite.Regulariser, d int) float64 {
	if g := r.Lipschitz(d); g < 1e300 {
		return g
	}
	return 0
}
