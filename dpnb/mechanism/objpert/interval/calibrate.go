package interval

import (
	"cmp"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Share is which part of the budget, in μ², the matrices are to have. A tenth costs the fit a twentieth of its noise.
type Share struct {
	// Curvature is the part of M; Scores that of V, zero not to release it. Both together are less than 1.
	Curvature, Scores float64
}

// Calibrate returns a fit and the release of its curvature that together satisfy the (ε, δ) of c, with what is to be
// beside them. The rest of c is as in objpert.Calibrate.
//
// Errors: as there, or a *privacy.ParamError for the shares.
func Calibrate(c objpert.Config, share Share) (objpert.Objective, Curvature, error) {
	var none Curvature
	total := share.Curvature + share.Scores
	if err := cmp.Or(privacy.Within(share.Curvature > 0 && share.Curvature < 1, "Share.Curvature", share.Curvature,
		"a number in (0, 1), for example 0.1"),
		privacy.Within(share.Scores >= 0 && total < 1, "Share.Scores", share.Scores,
			"a number ≥ 0, less than 1 with Share.Curvature")); err != nil {
		return objpert.Objective{}, none, err
	}
	others := c.Reserved
	if c.Reserved += total; !(c.Reserved < 1) {
		return objpert.Objective{}, none, &privacy.ParamError{Name: "Share", Value: total,
			Want: "less: nothing is left for the fit"}
	}
	fit, err := objpert.Calibrate(c)
	if err != nil {
		return fit, none, err
	}
	k := Curvature{Fit: fit}
	s, l2 := k.sensitivities()
	k.Sigma = s / fit.Part(share.Curvature, others+total)
	if share.Scores > 0 {
		k.ScoreSigma = l2 / fit.Part(share.Scores, others+total)
	}
	return fit, k, k.Validate()
}
