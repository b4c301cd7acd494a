package interval

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
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
// objpert.Calibrate.
//
// Errors: as there, or a *privacy.ParamError for the shares.
func Calibrate(c objpert.Config, share Share) (objpert.Objective, Curvature, error) {
	var none Curvature
	total := share.Curvature + share.Scores
	switch {
	case !(share.Curvature > 0 && share.Curvature < 1):
		return objpert.Objective{}, none, &privacy.ParamError{Name: "Share.Curvature", Value: share.Curvature,
			Want: "a number in (0, 1), for example 0.1"}
	case !(share.Scores >= 0 && total < 1):
		return objpert.Objective{}, none, &privacy.ParamError{Name: "Share.Scores", Value: share.Scores,
			Want: "a number ≥ 0, less than 1 with Share.Curvature"}
	}
	eps, delta := math.Nextafter(c.Epsilon, 0), math.Nextafter(c.Delta, 0)
	unit, err := privacy.GaussianSigma(eps, delta)
	if err != nil {
		return objpert.Objective{}, none, err
	}
	// The fit is calibrated to the ε that a Gaussian mechanism of its share has.
	part := c
	part.Epsilon, err = privacy.EpsilonUpper(privacy.GaussianProfile(math.Sqrt(1-total)/unit, privacy.AddRemove), delta)
	if err != nil {
		return objpert.Objective{}, none, err
	}
	if !(part.Epsilon > 0) {
		return objpert.Objective{}, none, &privacy.ParamError{Name: "Share", Value: total,
			Want: "less: no ε is left for the fit at this δ"}
	}
	fit, err := objpert.Calibrate(part)
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
	// The excess of ln δ over what is wanted; it rises with μ. A computed profile
	// takes a second or more, so that few are asked for.
	excess := func(mu float64) (float64, error) {
		p, err := with(mu).Together()
		if err != nil {
			return 0, err
		}
		return math.Max(-1e6, privacy.LogDeltaUpper(p, eps)-math.Log(delta)), nil
	}
	lo, err := largest(math.Sqrt(total)/unit, gaussianSlope(unit, total, eps), excess)
	if err != nil {
		return fit, none, err
	}
	if lo == 0 {
		return fit, none, &privacy.ParamError{Name: "Share", Value: total,
			Want: "more: the fit alone needs all of the budget"}
	}
	return fit, with(lo), nil
}

// gaussianSlope returns about d ln δ/dμ² where the Gaussian mechanism of μ = 1/unit
// has the ε, the part of total apart.
func gaussianSlope(unit, total, eps float64) float64 {
	at := func(more float64) float64 {
		return privacy.LogDeltaUpper(privacy.GaussianProfile(math.Sqrt(1-total+total*more)/unit, privacy.AddRemove),
			eps)
	}
	return (at(1.01) - at(0.99)) * unit * unit / (0.02 * total)
}

// largest returns an x > 0 at which the rising f is at most 0 and, where that can
// be had, at least −5e-4; 0 if there is none. It starts at guess with a slope of f
// over x², and goes on by secants within what is known to lie on either side.
func largest(guess, slope float64, f func(float64) (float64, error)) (float64, error) {
	const tolerance = 5e-4
	lo, hi := 0.0, math.Inf(1)
	x, lastX, last := guess, 0.0, math.NaN()
	for i := range 150 {
		y, err := f(x)
		if err != nil {
			return 0, err
		}
		if y <= 0 {
			lo = x
		} else {
			hi = x
		}
		if y <= 0 && y >= -tolerance || hi <= lo*(1+1e-7) || hi < 1e-300 {
			break
		}
		if secant := (y - last) / (x*x - lastX*lastX); secant > 0 && !math.IsInf(secant, 1) {
			slope = secant
		}
		lastX, last = x, y
		next := math.Sqrt(math.Max(0, x*x-(y+tolerance/2)/slope))
		switch {
		case next > lo && next < hi && i < 10: // secants that do not get there by then will not
			x = next
		case math.IsInf(hi, 1):
			x *= 2
		default:
			x = 0.5 * (lo + hi)
		}
	}
	return lo, nil
}
