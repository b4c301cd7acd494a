package objpert

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Count releases how many records there are, with noise N(0, σ²). One record more or less changes the number by 1: a
// Gaussian mechanism with μ = 1/σ.
//
// Beside a fit it says which ridge suits so many records. The fit's ridges may then depend on it, as what the fit costs
// does not depend on them (Shrunk).
type Count struct {
	// Sigma is σ > 0.
	Sigma float64
}

// Mu returns 1/σ, rounded up.
func (c Count) Mu() float64 { return math.Nextafter(1/c.Sigma, math.Inf(1)) }

// Validate returns a *privacy.ParamError if σ is out of range.
func (c Count) Validate() error {
	return mechanism.Scales{{"Count.Sigma", c.Sigma}}.Check()
}

// Run draws the noise and returns the noisy number, their real sum rounded to a public grid; it may be negative. The
// caller has charged the budget.
func (c Count) Run(records int, src noise.Source) float64 {
	return mechanism.Gaussian.Count(records, c.Sigma, src)
}

// Planned returns what a noisy number of records says of their number: itself, but no less than the noise, below which
// it says nothing.
func (c Count) Planned(noisy float64, features int) Planned {
	return Planned{Records: int(math.Min(math.MaxInt32, math.Ceil(math.Max(1, math.Max(noisy, c.Sigma))))),
		Features: features}
}

// Counted is objective perturbation whose ridges are chosen for a noisy count of the records: Count is released, then
// Fit at the ridges that suit so many (Planned.Ridge, Shrunk). In the Gaussian case the fit costs the same whatever the
// ridges are from Fit.Lambda on, and so it is one Gaussian mechanism after another, the second chosen with knowledge of
// the first's result.
//
// Proof: docs/theory/lambda_rule.md, section 6.
type Counted struct {
	// Fit has the least ridge that can be chosen.
	Fit   Objective
	Count Count
	// Intercept says that the last feature is the constant.
	Intercept bool
	// BaseRate is the share of the positive class if that is public, else 0. The intercept is then shrunk as all else,
	// towards CentreOf it.
	BaseRate float64
}

// Profile returns the profile of both under add/remove-one.
//
// Bound: upper, for every ε. Errors: *privacy.ParamError; an error that wraps privacy.ErrUnsupported outside the
// Gaussian case.
func (m Counted) Profile() (privacy.Profile, error) {
	if err := cmp.Or(m.Count.Validate(),
		privacy.Within(m.BaseRate >= 0 && m.BaseRate < 1, "BaseRate", m.BaseRate,
			"a share in (0, 1), or 0 where none is public")); err != nil {
		return nil, err
	}
	fit, err := m.Fit.Profile()
	if err != nil {
		return nil, err
	}
	_, mu, ok := privacy.GaussianMu(fit)
	if !ok {
		return nil, fmt.Errorf("%w: ridges are chosen by a count in the Gaussian case alone", privacy.ErrUnsupported)
	}
	return privacy.GaussianProfile(math.Hypot(mu, m.Count.Mu())*(1+0x1p-50), privacy.AddRemove), nil
}

// At returns the fit for a noisy number of records.
func (m Counted) At(records float64, features int) Objective {
	return m.Fit.Suited(m.Count.Planned(records, features), m.Intercept, m.BaseRate)
}

// String describes the mechanism with its parameters.
func (m Counted) String() string {
	return fmt.Sprintf("%v; λ for a count of the records with noise of %.3g", m.Fit, m.Count.Sigma)
}

// Describe implements mechanism.Mechanism.
func (m Counted) Describe() mechanism.Description {
	d := m.Fit.describe(mechanism.ChosenFrom("the noisy count", "σ, τ and σ_out", "λ"))
	d.Also = "records counted"
	return d
}

// Validate returns a *privacy.ParamError if a parameter is out of range, or as Profile.
func (m Counted) Validate() error {
	_, err := m.Profile()
	return err
}

// Event implements mechanism.Mechanism.
func (m Counted) Event() (privacy.Event, error) {
	p, err := m.Profile()
	return mechanism.Known(m, p, err)
}

// Feasible implements mechanism.Mechanism: what is counted with noise was not planned.
func (m Counted) Feasible(features, _ int) error { return m.Fit.Feasible(features, 0) }

// Check is Objective.Check for every fit that a count can choose: they lie between Fit and that for the fewest records,
// which has the largest ridges, and what those two admit is admitted between.
func (m Counted) Check(rows matrix.Rows, labels []float64) error {
	if err := m.Fit.Check(rows, labels); err != nil {
		return err
	}
	_, d := rows.Dims()
	fewest := m.At(math.Inf(-1), d)
	return cmp.Or(fewest.Validate(), fewest.Feasibility(d, 0).Validate())
}

// Run implements mechanism.Mechanism. Fitted in the release is the Objective that the count has chosen; Mechanism says
// what was counted.
func (m Counted) Run(rows matrix.Rows, labels []float64, src noise.Source, settings *mechanism.Settings) (
	*mechanism.Release, error) {
	both, err := mechanism.Begin(m, rows, labels, src, settings)
	if err != nil {
		return nil, err
	}
	n, d := rows.Dims()
	records := m.Count.Run(n, src)
	fit := m.At(records, d)
	r, err := fit.Run(rows, labels, src, settings)
	if err != nil {
		return nil, err
	}
	r.Guarantee = both.Guarantee
	r.Mechanism = fmt.Sprintf("%v: %.0f", Counted{Fit: fit, Count: m.Count}, math.Round(records))
	return r, nil
}

// CalibrateCounted returns the mechanism that is proved to satisfy (ε, δ), a share of μ² being the count's. Lambda and
// Planned of c are not looked at.
//
// Errors: as Calibrate and Counted.Profile; *privacy.ParamError for a share that leaves nothing to one of the two.
func CalibrateCounted(c Config, share float64, intercept bool) (Counted, error) {
	m := Counted{Count: Count{Sigma: 1}, Intercept: intercept}
	err := privacy.Within(share > 0 && share < 1, "share", share, "a number in (0, 1), for example 0.01")
	if err != nil {
		return m, err
	}
	c.Lambda, c.Planned, c.Rule, c.Reserved = 0, Planned{}, LeastNoise, share
	if m.Fit, err = Calibrate(c); err != nil {
		return m, err
	}
	m.Count.Sigma = 1 / m.Fit.Part(share, share)
	return m, m.Validate()
}
