package mechanism

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// CalibrationConfig asks for an ObjectivePerturbation that satisfies (ε, δ).
// None of it may depend on the records.
type CalibrationConfig struct {
	Loss    loss.Loss
	RowNorm float64
	// Epsilon > 0, 0 < Delta < 1.
	Epsilon, Delta float64
	Adjacency      privacy.Adjacency
	// Lambda fixes λ; zero chooses it by Rule.
	Lambda float64
	// Rule chooses λ where Lambda is zero.
	Rule LambdaRule
	// NoiseFactor f ≥ 1 is for SmallestLambda: σ is f times that of the
	// Gaussian mechanism at the same (ε, δ), and λ the smallest that then
	// satisfies (ε, δ). Zero means 1.3, as in rkw23, section 5, or the least
	// power of 1.3 for which there is such a λ. λ is at least s/1000: a smaller
	// one saves no noise and leaves the fit without a scale.
	NoiseFactor float64
	// Tolerance is τ; zero means 1e-6·L.
	Tolerance float64
}

// LambdaRule is how λ and σ are chosen without looking at the records.
type LambdaRule int

const (
	// LeastNoise takes the smallest λ at which objective perturbation is proved
	// to cost no more than the Gaussian mechanism, so that σ is as small as any
	// accounting could make it. Losses for which there is no such λ fall back
	// to SmallestLambda.
	LeastNoise LambdaRule = iota
	// SmallestLambda takes the smallest λ that suffices for NoiseFactor times
	// the Gaussian mechanism's σ (rkw23, section 5).
	SmallestLambda
)

// outputShare is μ_out/μ_objective: the output noise then costs about
// outputShare²/2 of the privacy loss, and is far below the objective's noise.
const outputShare = 0.01

// CalibrateObjectivePerturbation returns the mechanism with the least noise, by
// the stated rule, that is proved to satisfy (ε, δ).
//
// Errors: *privacy.ParamError; an error that wraps privacy.ErrUnsupported for
// a loss of unbounded slope, an adjacency other than add/remove-one, or an
// (ε, δ) that no λ reaches.
func CalibrateObjectivePerturbation(c CalibrationConfig) (ObjectivePerturbation, error) {
	m := ObjectivePerturbation{Loss: c.Loss, RowNorm: c.RowNorm, Lambda: 1, Sigma: 1, Tolerance: 1, OutputSigma: 1}
	if err := m.Validate(); err != nil {
		return m, err
	}
	if err := c.validate(); err != nil {
		return m, err
	}
	l := m.Lipschitz()
	m.Tolerance = c.Tolerance
	if m.Tolerance == 0 {
		m.Tolerance = 1e-6 * l
	}
	// ε and δ are what a person typed; calibrating for the neighbours below
	// pays for the difference between those decimals and their float64.
	eps, delta := math.Nextafter(c.Epsilon, 0), math.Nextafter(c.Delta, 0)
	satisfied := func(lambda, sigma float64) (bool, error) {
		m.Lambda, m.Sigma = lambda, sigma
		m.OutputSigma = 2 * m.Tolerance / (lambda * outputShare * l / sigma)
		p, err := m.Profile()
		if err != nil {
			return false, err
		}
		return privacy.DeltaUpper(p, eps) <= delta, nil
	}
	unit, err := privacy.GaussianSigma(eps, delta)
	if err != nil {
		return m, err
	}
	sigmaGauss := unit * l
	// The two parts of a Gaussian loss add in squares.
	sigmaExact := sigmaGauss * math.Hypot(1, outputShare) * (1 + 1e-12)
	withLambda := func(lambda float64) (ObjectivePerturbation, error) {
		// Where λ is just large enough for the Gaussian case, that case ends a
		// little above this σ: a search from below could step over it.
		if good, err := satisfied(lambda, sigmaExact); err != nil || good {
			return m, err
		}
		sigma, err := smallest(sigmaGauss, func(sigma float64) (bool, error) { return satisfied(lambda, sigma) })
		if err == nil && math.IsInf(sigma, 1) {
			err = fmt.Errorf("%w: no σ gives (ε = %g, δ = %g) at λ = %g: log(1 + s/λ) = %.4g alone is too much; take a larger λ",
				privacy.ErrUnsupported, c.Epsilon, c.Delta, lambda, math.Log1p(m.Smoothness()/lambda))
		}
		if err != nil {
			return m, err
		}
		_, err = satisfied(lambda, sigma)
		return m, err
	}
	if c.Lambda > 0 {
		return withLambda(c.Lambda)
	}
	if c.Rule == LeastNoise {
		lambda, err := smallest(1e-3*m.Smoothness(), func(lambda float64) (bool, error) {
			m.Lambda, m.Sigma = lambda, sigmaExact
			return m.Gaussian(), nil
		})
		if err != nil {
			return m, err
		}
		if !math.IsInf(lambda, 1) {
			if good, err := satisfied(lambda, sigmaExact); err != nil || good {
				return m, err
			}
		}
	}
	f := c.NoiseFactor
	if f == 0 {
		f = 1.3
	}
	for {
		lambda, err := smallest(1e-3*m.Smoothness(), func(lambda float64) (bool, error) { return satisfied(lambda, f*sigmaGauss) })
		if err != nil {
			return m, err
		}
		if !math.IsInf(lambda, 1) {
			// At the smallest λ that is tried there may be noise to spare.
			return withLambda(lambda)
		}
		if c.NoiseFactor != 0 || f > 1e3 {
			return m, fmt.Errorf("%w: no λ gives (ε = %g, δ = %g) with σ = %g times the Gaussian mechanism's; take a larger NoiseFactor",
				privacy.ErrUnsupported, c.Epsilon, c.Delta, f)
		}
		f *= 1.3
	}
}

func (c CalibrationConfig) validate() error {
	switch {
	case !(c.Epsilon > 0) || c.Epsilon > 1e3:
		return &privacy.ParamError{Name: "Epsilon", Value: c.Epsilon, Want: "a number in (0, 1000]"}
	case !(c.Delta > 0 && c.Delta < 1):
		return &privacy.ParamError{Name: "Delta", Value: c.Delta, Want: "a number in (0, 1)"}
	case !(c.Lambda >= 0) || math.IsInf(c.Lambda, 1):
		return &privacy.ParamError{Name: "Lambda", Value: c.Lambda, Want: "a positive number, or 0 to have it chosen"}
	case c.Rule != LeastNoise && c.Rule != SmallestLambda:
		return &privacy.ParamError{Name: "Rule", Value: int(c.Rule), Want: "LeastNoise or SmallestLambda"}
	case c.NoiseFactor != 0 && !(c.NoiseFactor >= 1 && c.NoiseFactor < 1e6):
		return &privacy.ParamError{Name: "NoiseFactor", Value: c.NoiseFactor, Want: "a number of at least 1, or 0 for 1.3"}
	case !(c.Tolerance >= 0) || math.IsInf(c.Tolerance, 1):
		return &privacy.ParamError{Name: "Tolerance", Value: c.Tolerance, Want: "a positive number, or 0 to have it chosen"}
	}
	if err := c.Adjacency.Validate(); err != nil {
		return err
	}
	if c.Adjacency != privacy.AddRemove {
		return fmt.Errorf("%w: objective perturbation is calibrated under %v here, not %v", privacy.ErrUnsupported, privacy.AddRemove, c.Adjacency)
	}
	return nil
}

// smallest returns, to a relative 1e-6 and from above, the smallest x ≥ start
// at which ok holds, +Inf if it does not up to 1e12·start. ok is monotone; if
// it were not, it would still hold at what is returned.
func smallest(start float64, ok func(float64) (bool, error)) (float64, error) {
	good, err := ok(start)
	if err != nil || good {
		return start, err
	}
	lo, hi := start, start
	for factor := 2.0; !good; factor *= factor {
		lo, hi = hi, hi*math.Min(factor, 64)
		if hi > 1e15*start {
			return math.Inf(1), nil
		}
		if good, err = ok(hi); err != nil {
			return 0, err
		}
	}
	for hi > lo*(1+1e-6) {
		mid := math.Sqrt(lo) * math.Sqrt(hi)
		if good, err = ok(mid); err != nil {
			return 0, err
		}
		if good {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi, nil
}
