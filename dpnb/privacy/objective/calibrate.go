package objective

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/internal/elementary"
)

// calibrationTolerance is the relative distance at which a search stops.
const calibrationTolerance = 1e-5

// Sigma returns a σ with which cfg (its Sigma is ignored) satisfies (ε, δ) under add/remove-one: the smallest that the
// bound proves, up to 1e-5 relative.
//
// Bound: the σ returned was itself checked, so it is safe whether or not δ falls with σ.
// Errors: *ParamError if a field is out of range, or if no σ below 1e12·L will do (KST12 needs λ ≥ 2s/ε).
func Sigma(cfg Config, eps, delta float64) (float64, error) {
	if err := cmp.Or(privacy.NotNegative("Epsilon", eps), privacy.CheckGaussianDelta(delta)); err != nil {
		return 0, err
	}
	cfg.Sigma = 1
	if err := cfg.Validate(); err != nil {
		return 0, err
	}
	L := cfg.slope()
	// Nothing is better than the Gaussian mechanism.
	start, err := privacy.GaussianSigma(eps, delta)
	if err != nil {
		return 0, err
	}
	if v := L * start * (1 + 1e-9); satisfies(withSigma(cfg, v), eps, delta) {
		return v, nil
	}
	s := univariate.Smallest{Start: L * start, Least: L * start, Factor: 2, MaxFactor: 1e3, Most: 1e15 * L,
		Cut: univariate.Geometric, Tolerance: calibrationTolerance}
	v, err := s.Find(func(v float64) (bool, error) { return satisfies(withSigma(cfg, v), eps, delta), nil })
	if err == nil && math.IsInf(v, 1) {
		err = &privacy.ParamError{Name: "Sigma", Value: v,
			Want: "attainable: no value satisfies (ε, δ) with this bound and the other parameters"}
	}
	return v, err
}

// addRemoveOnly refuses what is accounted for under any other adjacency.
func addRemoveOnly(what string, adj privacy.Adjacency) error {
	if adj == privacy.AddRemove {
		return nil
	}
	return fmt.Errorf("objective: %s under %s; convert the add/remove-one profile: %w", what, adj.Words(),
		privacy.ErrUnsupported)
}

func withSigma(cfg Config, sigma float64) Config {
	cfg.Sigma = sigma
	return cfg
}

// satisfies reports whether the profile's upper bound at ε is at most δ.
func satisfies(cfg Config, eps, delta float64) bool {
	p, err := New(cfg)
	if err != nil {
		return false
	}
	want := elementary.Log(delta)
	want -= 4e-16 * math.Abs(want)
	// The add direction is cheap, and either may decide.
	return p.proves(privacy.Add, eps, want) && p.proves(privacy.Remove, eps, want)
}
