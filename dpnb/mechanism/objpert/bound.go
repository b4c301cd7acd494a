package objpert

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// Profile returns the privacy profile of one release under add/remove-one, by the Bound that was chosen.
//
// With the zero Bound: where λ is so large that the objective's part is proved to be exactly (L/σ)-GDP (Gaussian
// reports it), the release is √((L/σ)² + μ²)-GDP, μ = 2τ/(λσ_out) being the output noise's part. Elsewhere it is that
// of W + G with W = log(1 + s/λ) + a²/2 + a|N|, a = L/σ, and G the privacy loss of the output noise. objective.DTZ24 is
// the latter throughout, objective.RKW23 the same with |log(1 − s/λ)|, the paper's calibration. Pointwise, Integral and
// Tight need the loss's curve, not only L and s; they cost less noise and take milliseconds, not microseconds, for each
// ε.
//
// Bound: upper, for every ε.
// Errors: as Validate.
// Source: docs/theory/gaussian_case.md for the first; Dwork, Tankala, Zhang 2024 (dtz24), Theorem 5.1, for W; rkw23,
// Theorem 4.1 (adaptive composition), for G; docs/theory/objective_perturbation.md and clipping.md for the others.
func (m Objective) Profile() (privacy.Profile, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	return m.event().Profile(privacy.AddRemove)
}

// WithGaussian implements mechanism.WithGaussians: the profile is that of a fit whose output noise has μ² more,
// Gaussian mechanisms being what both are.
//
// Proof: docs/theory/intervals.md, section 4.
func (m Objective) WithGaussian(mu float64) (privacy.Profile, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	m.OutputSigma = OutputBeside(m.Tolerance, m.Lambda, m.OutputSigma, mu)
	return m.Profile()
}

// OutputBeside returns the σ_out of which the noise costs as much as that of sigma and Gaussian mechanisms of μ
// together, rounded down.
func OutputBeside(tolerance, lambda, sigma, mu float64) float64 {
	const up = 1 + 0x1p-48
	out := 2 * tolerance / (lambda * sigma) * up
	return 2 * tolerance / (lambda * math.Hypot(out, mu) * up) / up
}

// event is one release as the accountant sees it.
func (m Objective) event() objective.Event {
	e := objective.Event{
		Config: objective.Config{Slope: m.Lipschitz(), Smoothness: m.Smoothness(), Lambda: m.Lambda, Sigma: m.Sigma,
			Bound: m.Bound},
		Tolerance: m.Tolerance, OutputSigma: m.OutputSigma,
	}
	if m.Bound == 0 || m.numerical() {
		if c, err := loss.CurveOf(m.Loss, m.radius()); err == nil {
			e.Curve = c
		}
	}
	return e
}

// Alone returns the profile of the objective's part, without the output noise, under add/remove-one.
//
// Errors: as Validate.
func (m Objective) Alone() (privacy.Profile, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if m.numerical() {
		return m.objectiveProfile()
	}
	return m.event().Law().Profile(privacy.AddRemove)
}

// objectiveProfile returns the profile of the objective's part alone, by one of the bounds that need the loss's curve.
func (m Objective) objectiveProfile() (privacy.Profile, error) {
	c, err := loss.CurveOf(m.Loss, m.radius())
	if err != nil {
		return nil, fmt.Errorf("%w: the bound %v needs the curve of the loss, which is not known for the %s loss; use "+
			"DTZ24",
			privacy.ErrUnsupported, m.Bound, m.Loss.Name())
	}
	return objective.New(objective.Config{Curve: c, Lambda: m.Lambda, Sigma: m.Sigma, Bound: m.Bound})
}

// numerical reports whether the bound is one that is computed from the curve.
func (m Objective) numerical() bool {
	return m.Bound == objective.Pointwise || m.Bound == objective.Integral || m.Bound == objective.Tight
}

// exact reports whether the profile is the Gaussian mechanism's.
func (m Objective) exact() bool { return m.event().IsGaussian() }

// validateBound refuses bounds that are no proof, or cannot be had.
func (m Objective) validateBound() error {
	switch m.Bound {
	case 0, objective.DTZ24:
		return nil
	case objective.RKW23:
		if !(m.Lambda > m.Smoothness()) {
			return &privacy.ParamError{Name: "Lambda", Value: m.Lambda,
				Want: fmt.Sprintf("more than the smoothness s = %g for the bound rkw23; the others need no such thing",
					m.Smoothness())}
		}
		return nil
	case objective.Pointwise, objective.Integral, objective.Tight:
		_, err := m.objectiveProfile()
		return err
	}
	return fmt.Errorf("%w: %v is no proved bound of this mechanism; use 0, rkw23, dtz24, pointwise, integral or tight",
		privacy.ErrUnsupported, m.Bound)
}

// Gaussian reports whether the noise in the objective is proved to cost exactly what the Gaussian mechanism of
// sensitivity L costs: λ large enough, and a loss whose curvature vanishes where its slope is largest.
func (m Objective) Gaussian() bool {
	c, err := loss.CurveOf(m.Loss, m.radius())
	return err == nil && objective.IsGaussian(c, m.Lambda, m.Sigma)
}

// Event implements mechanism.Mechanism.
func (m Objective) Event() (privacy.Event, error) {
	p, err := m.Profile()
	return mechanism.Known(m, p, err)
}

// boundName names the theorem behind Profile.
func (m Objective) boundName() string {
	switch {
	case m.exact():
		return "exact: the Gaussian mechanism's (docs/theory/gaussian_case.md)"
	case m.numerical():
		return fmt.Sprintf("%v (docs/theory/objective_perturbation.md)", m.Bound)
	case m.Bound == objective.RKW23:
		return "RKW23 (rkw23, Theorem 3.1, corrected)"
	}
	return "DTZ24 (dtz24, Theorem 5.1)"
}
