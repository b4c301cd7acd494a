package multiclass

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"

	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
	"github.com/dpnb/notebooks/dpnb/privacy/pld"
)

// OneVsRest fits one binary model for each class, its records against all
// others, by objective perturbation with noise of its own. Every record takes
// part in all K fits, so that their losses compose: K Gaussian cases of
// μ = L/σ are one of √K·μ, exactly; what is not a Gaussian case is composed by
// its privacy-loss distribution.
type OneVsRest struct {
	// Classes is K ≥ 2.
	Classes int
	// Binary is the mechanism of one fit, for labels of −1 and +1.
	Binary objpert.Objective
}

// Validate returns a *privacy.ParamError if a parameter is out of range, or an
// error that wraps privacy.ErrUnsupported for a loss that cannot be had.
func (m OneVsRest) Validate() error {
	if m.Classes < 2 || m.Classes > 1<<20 {
		return &privacy.ParamError{Name: "Classes", Value: m.Classes, Want: "at least 2 and at most 2²⁰"}
	}
	if err := m.Binary.Validate(); err != nil {
		return err
	}
	if l := m.Binary.Loss; !l.ValidLabel(-1) || !l.ValidLabel(1) {
		return &privacy.ParamError{Name: "Loss", Value: l.Name(), Want: "a loss for the labels −1 and +1"}
	}
	return nil
}

// Gaussian reports whether all that is composed is proved to be exactly Gaussian.
func (m OneVsRest) Gaussian() bool {
	p, err := m.Binary.Profile()
	if err != nil {
		return false
	}
	_, _, ok := privacy.GaussianMu(p)
	return ok
}

// Profile returns the privacy profile of all K fits together under
// add/remove-one.
//
// Bound: upper, for every ε; exact for the objectives where Gaussian holds.
// Errors: as Validate.
func (m OneVsRest) Profile() (privacy.Profile, error) { return m.profile(nil) }

// profile composes with the given accuracy.
func (m OneVsRest) profile(s *pld.Settings) (privacy.Profile, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	one, err := m.Binary.Profile()
	if err != nil {
		return nil, err
	}
	if _, mu, ok := privacy.GaussianMu(one); ok {
		return privacy.GaussianProfile(mu*math.Sqrt(float64(m.Classes))*(1+0x1p-50), privacy.AddRemove), nil
	}
	if m.Binary.Bound != 0 && m.Binary.Bound != objective.DTZ24 {
		return compose(s, pld.Component{Profile: one, Count: m.Classes})
	}
	// The objective's part and the output noise's apart: both are simple, and
	// Gaussian parts are joined exactly.
	b, up := m.Binary, math.Inf(1)
	objective, err := privacy.HalfNormal{
		K: math.Nextafter(math.Log1p(math.Nextafter(b.Smoothness()/b.Lambda, up)), up),
		A: math.Nextafter(b.Lipschitz()/b.Sigma, up),
	}.Profile(privacy.AddRemove)
	if err != nil {
		return nil, err
	}
	output, err := privacy.ApproximateMinimum{Tolerance: b.Tolerance, Lambda: b.Lambda, SigmaOut: b.OutputSigma}.Profile(privacy.AddRemove)
	if err != nil {
		return nil, err
	}
	return compose(s, pld.Component{Profile: objective, Count: m.Classes}, pld.Component{Profile: output, Count: m.Classes})
}

// BoundName names the theorem behind Profile.
func (m OneVsRest) BoundName() string {
	return fmt.Sprintf("%d-fold composition of: %s", m.Classes, m.Binary.BoundName())
}

// String describes the mechanism with its parameters.
func (m OneVsRest) String() string { return fmt.Sprintf("one-vs-rest, %d × %v", m.Classes, m.Binary) }

// signs writes +1 to dst where the label is c and −1 elsewhere.
func signs(dst []float64, labels []int, c int) {
	for i, y := range labels {
		dst[i] = -1
		if y == c {
			dst[i] = 1
		}
	}
}

// Check validates records against the parameters, before any noise is drawn.
// labels are classes, 0 … K − 1.
//
// Errors: *matrix.DataError for records that no fit can use or that are longer
// than RowNorm, or as Validate.
func (m OneVsRest) Check(rows matrix.Rows, labels []int) error {
	if err := m.Validate(); err != nil {
		return err
	}
	for i, y := range labels {
		if y < 0 || y >= m.Classes {
			return &matrix.DataError{Text: fmt.Sprintf("the label of record %d is no class from 0 to %d", i, m.Classes-1)}
		}
	}
	y := make([]float64, len(labels))
	signs(y, labels, 0)
	return m.Binary.Check(rows, y)
}

// Run draws the noise and releases, or returns an error and releases nothing.
// The caller has charged the budget. settings may be nil.
//
// Errors: as Check, before any noise is drawn; erm.ErrTolerance (wrapped) if
// the solver misses τ in one of the fits: then nothing is released of any.
func (m OneVsRest) Run(rows matrix.Rows, labels []int, src noise.Source, settings *mechanism.Settings) (*Release, error) {
	if src == nil {
		return nil, errNoSource
	}
	if err := m.Check(rows, labels); err != nil {
		return nil, err
	}
	profile, err := m.Profile()
	if err != nil {
		return nil, err
	}
	_, d := rows.Dims()
	r := &Release{Classes: m.Classes, Features: d}
	y := make([]float64, len(labels))
	coefficients := make([]float64, 0, m.Classes*d)
	for c := range m.Classes {
		signs(y, labels, c)
		one, err := m.Binary.Run(rows, y, src, settings)
		if err != nil {
			return nil, err
		}
		coefficients = append(coefficients, one.Coefficients...)
		if c == 0 {
			r.Release = *one
		}
	}
	r.Coefficients = coefficients
	r.Guarantee.Profile, r.Guarantee.Bound = profile, m.BoundName()
	r.Guarantee.Assumptions = append(r.Guarantee.Assumptions, "the classes were chosen without looking at the records")
	r.Mechanism = m.String()
	return r, nil
}
