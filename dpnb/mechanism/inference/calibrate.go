package inference

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Share is which part of the budget, in μ², the matrices are to have. A tenth
// costs the fit a twentieth of its noise.
type Share struct {
	// Curvature is the part of M; Scores that of V, zero not to release it. Both
	// together are less than 1.
	Curvature, Scores float64
}

// Calibrate returns a fit and the release of its curvature that together
// satisfy the (ε, δ) of c. The rest of c is as in
// mechanism.CalibrateObjectivePerturbation.
//
// Errors: as there, or a *privacy.ParamError for the shares.
func Calibrate(c mechanism.CalibrationConfig, share Share) (mechanism.ObjectivePerturbation, Curvature, error) {
	var none Curvature
	total := share.Curvature + share.Scores
	switch {
	case !(share.Curvature > 0 && share.Curvature < 1):
		return mechanism.ObjectivePerturbation{}, none, &privacy.ParamError{Name: "Share.Curvature", Value: share.Curvature, Want: "a number in (0, 1), for example 0.1"}
	case !(share.Scores >= 0 && total < 1):
		return mechanism.ObjectivePerturbation{}, none, &privacy.ParamError{Name: "Share.Scores", Value: share.Scores, Want: "a number ≥ 0, less than 1 with Share.Curvature"}
	}
	eps, delta := math.Nextafter(c.Epsilon, 0), math.Nextafter(c.Delta, 0)
	unit, err := privacy.GaussianSigma(eps, delta)
	if err != nil {
		return mechanism.ObjectivePerturbation{}, none, err
	}
	// The fit is calibrated to the ε that a Gaussian mechanism of its share has.
	part := c
	part.Epsilon, err = privacy.EpsilonUpper(privacy.GaussianProfile(math.Sqrt(1-total)/unit, privacy.AddRemove), delta)
	if err != nil {
		return mechanism.ObjectivePerturbation{}, none, err
	}
	if !(part.Epsilon > 0) {
		return mechanism.ObjectivePerturbation{}, none, &privacy.ParamError{Name: "Share", Value: total, Want: "less: no ε is left for the fit at this δ"}
	}
	fit, err := mechanism.CalibrateObjectivePerturbation(part)
	if err != nil {
		return fit, none, err
	}
	// The matrices get what is left: the largest μ that keeps (ε, δ).
	with := func(mu float64) Curvature {
		k := Curvature{Fit: fit, Sigma: 1}
		s, l2 := k.sensitivities()
		k.Sigma = s / (mu * math.Sqrt(share.Curvature/total))
		if share.Scores > 0 {
			k.ScoreSigma = l2 / (mu * math.Sqrt(share.Scores/total))
		}
		return k
	}
	lo, hi := 0.0, 2*math.Sqrt(total)/unit
	for range 60 {
		mu := 0.5 * (lo + hi)
		p, err := with(mu).Together()
		if err != nil {
			return fit, none, err
		}
		if privacy.DeltaUpper(p, eps) <= delta {
			lo = mu
		} else {
			hi = mu
		}
		if hi-lo < 1e-7*hi {
			break
		}
	}
	if lo == 0 {
		return fit, none, &privacy.ParamError{Name: "Share", Value: total, Want: "more: the fit alone needs all of the budget"}
	}
	return fit, with(lo), nil
}
