package sgd

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// CalibrateNoise returns c with the smallest noise multiplier, to within a thousandth, that is proved to satisfy (ε, δ)
// under add/remove-one; what c says of the noise is not read. It must not depend on the records.
//
// Errors: *privacy.ParamError, also if no noise suffices, as with a score that spends more than (ε, δ) by itself.
func (c Cost) CalibrateNoise(eps, delta float64) (Cost, error) {
	c.NoiseMultiplier = 1
	err := cmp.Or(privacy.Positive("Epsilon", eps), privacy.CheckGaussianDelta(delta), c.Validate())
	if err != nil {
		return c, err
	}
	eps, delta = privacy.Typed(eps, delta)
	with := func(c Cost) func(float64) (bool, error) {
		return func(sigma float64) (bool, error) {
			if sigma > 1e9 {
				return false, &privacy.ParamError{Name: "Epsilon", Value: eps,
					Want: "an (ε, δ) that is not spent on the score alone; take a larger ScoreMultiplier"}
			}
			c.NoiseMultiplier = sigma
			return c.satisfies(eps, delta)
		}
	}
	// The Rényi bound takes a millisecond and is always the larger one.
	rough := c
	rough.Accounting = Renyi
	c.NoiseMultiplier, err = privacy.Calibrate(with(rough), 5e-4)
	if err != nil || c.Accounting == Renyi {
		return c, err
	}
	return c.sharpen(eps, delta)
}

// sharpen searches from c's noise, which suffices by a looser bound, for the least that does by c's. Each evaluation
// takes up to half a second, so that it goes by secants of ln ε over ln σ.
func (c Cost) sharpen(eps, delta float64) (Cost, error) {
	const tolerance = 1e-3
	excess := func(x float64) (float64, error) {
		c.NoiseMultiplier = math.Exp(x)
		got, err := c.Epsilon(delta)
		return math.Log(got / eps), err
	}
	low, high := math.Inf(-1), math.Inf(1) // ln σ that does not suffice, that does
	x, slope := math.Log(c.NoiseMultiplier), 1.0
	var lastX, last float64
	for i := range 100 {
		f, err := excess(x)
		if err != nil {
			return c, err
		}
		if f <= 0 {
			high = x
		} else {
			low = x
		}
		if f <= 0 && f >= -tolerance/2 || high-low <= tolerance {
			break
		}
		if s := (last - f) / (x - lastX); i > 0 && s > 0.1 && s < 100 {
			slope = s
		}
		lastX, last = x, f
		x += (f + tolerance/4) / slope
		if !(x > low && x < high) || i > 20 {
			x = 0.5 * (math.Max(low, high-1) + math.Min(high, low+1))
		}
	}
	c.NoiseMultiplier = math.Exp(high)
	if good, err := c.satisfies(eps, delta); err != nil || !good {
		return c, errors.Join(err, fmt.Errorf("%w: no noise was found for ε = %g", privacy.ErrUnsupported, eps))
	}
	return c, nil
}

// MeanRunsFor returns the mean μ of the Poisson law under which more than s runs are made with probability p:
//
//	P(K ≤ s) = Γ(s+1, μ)/Γ(s+1) = 1 − p.
//
// MeanRunsFor(10, 0.9) ≈ 15.41 is that of rkw23, section 5.
//
// Errors: *privacy.ParamError unless 0 ≤ s ≤ 1e5 and 0 < p < 1.
func MeanRunsFor(s int, p float64) (float64, error) {
	if err := cmp.Or(privacy.Within(s >= 0 && s <= 1e5, "s", s, "a number of runs from 0 to 1e5"),
		privacy.Fraction("p", p)); err != nil {
		return 0, err
	}
	return mathext.GammaIncRegCompInv(float64(s)+1, 1-p), nil
}
