package geometry

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Share is which part of the budget, in μ², the count and the mean have.
type Share struct{ Count, Mean float64 }

// Default is a hundredth for the count and four for the mean: with half or twice as much the fits are as good.
var Default = Share{Count: 0.01, Mean: 0.04}

// Calibrate returns c with its noise, of planned records that of the mean alone, and with the fit that fits makes, so
// that all is (ε, δ)-private: a fit with
// which Gaussian mechanisms beside it are (ε, δ)-private, that have the part of μ² that fits is told; part says what μ
// is for some of that.
//
// Errors: those of fits, *privacy.ParamError for the shares.
func Calibrate(c Centred, s Share, epsilon, delta float64,
	fits func(beside, mu float64) (of mechanism.Informed, part func(share float64) float64, err error)) (Centred,
	error) {
	total := s.Count + s.Mean
	if c.Planned > 0 {
		s.Count, total = 0, s.Mean
	}
	if !((s.Count > 0 || c.Planned > 0) && s.Mean > 0 && total < 1) {
		return c, &privacy.ParamError{Name: "Share", Value: s, Want: "two positive numbers that add up to less than 1"}
	}
	mu, err := privacy.MuOf(epsilon, delta)
	if err != nil {
		return c, err
	}
	c.Mu = math.Sqrt(1-total) * mu
	of, part, err := fits(total, c.Mu)
	if err != nil {
		return c, err
	}
	c.Of, c.MeanSigma = of, 1/part(s.Mean)
	if c.Planned == 0 {
		c.CountSigma = 1 / part(s.Count)
	}
	return c, nil
}
