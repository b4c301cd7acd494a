package multiclass

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/pld"
)

// OneVsRest fits one binary model for each class, its records against all others, by objective perturbation with noise
// of its own. Every record takes part in all K fits, so that their losses compose: K Gaussian cases of μ = L/σ are one
// of √K·μ, exactly; what is not a Gaussian case is composed by its privacy-loss distribution.
type OneVsRest struct {
	// Classes is K ≥ 2.
	Classes int
	// Binary is the mechanism of one fit, for labels of −1 and +1.
	Binary objpert.Objective
}

// Validate returns a *privacy.ParamError if a parameter is out of range, or an error that wraps privacy.ErrUnsupported
// for a loss that cannot be had.
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

// Profile returns the privacy profile of all K fits together under add/remove-one.
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
	// The objective's part and the output noise's apart, whose Gaussian parts are joined exactly: an evaluation of both
	// in one takes hundreds of the objective's where the output noise is most of the loss.
	b := m.Binary
	alone, err := b.Alone()
	if err != nil {
		return nil, err
	}
	output, err := privacy.ApproximateMinimum{Tolerance: b.Tolerance, Lambda: b.Lambda,
		SigmaOut: b.OutputSigma}.Profile(privacy.AddRemove)
	if err != nil {
		return nil, err
	}
	return compose(s, pld.Component{Profile: alone, Count: m.Classes},
		pld.Component{Profile: output, Count: m.Classes})
}

// String describes the mechanism with its parameters.
func (m OneVsRest) String() string { return fmt.Sprintf("one-vs-rest, %d × %v", m.Classes, m.Binary) }

// Event implements mechanism.Mechanism.
func (m OneVsRest) Event() (privacy.Event, error) {
	p, err := m.Profile()
	return mechanism.Known(m, p, err)
}

// Describe implements mechanism.Mechanism.
func (m OneVsRest) Describe() mechanism.Description {
	d := m.Binary.Describe()
	d.Source += ", composed"
	d.Bound = fmt.Sprintf("%d-fold composition of: %s", m.Classes, d.Bound)
	d.Assumptions = append(d.Assumptions, mechanism.Chosen("the classes"))
	return d
}

// Feasible implements mechanism.Mechanism. What is known of planned records is of fits of two classes.
func (m OneVsRest) Feasible(features, _ int) error { return m.Binary.Feasible(features, 0) }

// signs writes +1 to dst where the label is c and −1 elsewhere.
func signs(dst, labels []float64, c int) {
	for i, y := range labels {
		dst[i] = -1
		if y == float64(c) {
			dst[i] = 1
		}
	}
}

// Check implements mechanism.Mechanism. labels are classes, 0 … K − 1.
func (m OneVsRest) Check(rows matrix.Rows, labels []float64) error {
	if err := checkClasses(labels, m.Classes); err != nil {
		return err
	}
	y, free, err := matrix.NewLabels(rows, len(labels))
	if err != nil {
		return err
	}
	defer free()
	signs(y, labels, 0)
	return m.Binary.Check(rows, y)
}

// Run implements mechanism.Mechanism. The coefficients are those of the classes one after another; if one of the fits
// misses its tolerance nothing is released of any.
func (m OneVsRest) Run(rows matrix.Rows, labels []float64, src noise.Source, settings *mechanism.Settings) (
	*mechanism.Release, error) {
	r, err := mechanism.Begin(m, rows, labels, src, settings)
	if err != nil {
		return nil, err
	}
	y, free, err := matrix.NewLabels(rows, len(labels))
	if err != nil {
		return nil, err
	}
	defer free()
	for c := range m.Classes {
		signs(y, labels, c)
		one, err := m.Binary.Run(rows, y, src, settings)
		if err != nil {
			return nil, err
		}
		r.Coefficients = append(r.Coefficients, one.Coefficients...)
		r.Tolerance, r.NoiseScale = one.Tolerance, one.NoiseScale
	}
	return r, nil
}
