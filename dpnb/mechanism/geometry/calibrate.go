package geometry

import (
	"cmp"
	"math"

	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Share is which part of the budget, in μ² or in ε, the count and the mean have.
type Share struct{ Count, Mean float64 }

// Default is a hundredth for the count and four for the mean: with half or twice as much the fits are as good.
var Default = Share{Count: 0.01, Mean: 0.04}

// DefaultPure is a fiftieth of ε for the count and a tenth for the mean.
var DefaultPure = Share{Count: 0.02, Mean: 0.1}

// of returns s for c: nothing for the count of records that are planned.
func (s Share) of(c Centred) (Share, error) {
	if err := privacy.Within(s.Count > 0 && s.Mean > 0 && s.Count+s.Mean < 1, "Share", s,
		"two positive numbers that add up to less than 1"); err != nil {
		return s, err
	}
	if c.Planned > 0 {
		s.Count = 0
	}
	return s, nil
}

// Calibrate returns c with its noise and with the fit that fits makes, so that all is (ε, δ)-private: a fit with which
// Gaussian mechanisms beside it are (ε, δ)-private, that have the part of μ² that fits is told; part says what μ is for
// some of that.
//
// Errors: those of fits, *privacy.ParamError for the shares.
func Calibrate(c Centred, s Share, epsilon, delta float64,
	fits func(beside, mu float64) (of mechanism.Informed, part func(share float64) float64, err error)) (Centred,
	error) {
	s, err := s.of(c)
	if err != nil {
		return c, err
	}
	total := s.Count + s.Mean
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

// CalibratePure returns c with Laplace noise and with the fit that fits makes for what is left of ε, so that all is
// ε-private.
//
// Errors: those of fits, *privacy.ParamError for the shares and ε.
func CalibratePure(c Centred, s Share, epsilon float64,
	fits func(epsilon float64) (mechanism.Informed, error)) (Centred, error) {
	s, err := s.of(c)
	if err = cmp.Or(err, privacy.Within(epsilon >= 1e-9 && epsilon <= 1e6, "Epsilon", epsilon,
		"a number from 1e-9 to 1e6")); err != nil {
		return c, err
	}
	epsilon = math.Nextafter(epsilon, 0) * (1 - 0x1p-44)
	if c.Law, c.MeanSigma = mechanism.Laplace, 1/(s.Mean*epsilon); c.Planned == 0 {
		c.CountSigma = 1 / (s.Count * epsilon)
	}
	c.Mu = epsilon - c.cost()
	c.Of, err = fits(c.Mu)
	return c, err
}
