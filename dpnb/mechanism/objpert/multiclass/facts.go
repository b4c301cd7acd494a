package multiclass

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// WithGaussian implements mechanism.WithGaussians: the profile is that of a fit whose output noise has μ² more,
// Gaussian mechanisms being what both are.
func (m Softmax) WithGaussian(mu float64) (privacy.Profile, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	m.OutputSigma = objpert.OutputBeside(m.Tolerance, m.Lambda, m.OutputSigma, mu)
	return m.Profile()
}

// For implements mechanism.Informed: the ridge is that of two classes (objpert.Objective.For), for the K/2 times as
// much noise that a class has beside its curvature where K are about as frequent. A larger ridge and penalties on
// second differences, the same for each class, change no profile: docs/theory/multiclass.md, section 1.
func (m Softmax) For(f mechanism.Facts) (mechanism.Mechanism, float64) {
	each := f
	each.Mu *= math.Sqrt(2 / float64(m.Classes))
	least := m.Lambda
	m.Lambda, m.Penalty = m.Penalty.Ridge(least, each.Ridge(m.Smoothness(), true, 0), true)
	if m.Lambda > least {
		m.OutputSigma *= least / m.Lambda * (1 + 0x1p-48) // 2τ/(λσ_out) must not rise
	}
	ridge := m.Lambda + m.Shrinkage
	m.Penalty = m.Penalty.Smoothing(f.Curves, objpert.RoughClasses*ridge)
	return m, f.Stretch(ridge, true)
}

// WithGaussian implements mechanism.WithGaussians: each of the K fits has a K-th of μ² as noise of its output.
func (m OneVsRest) WithGaussian(mu float64) (privacy.Profile, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	b := &m.Binary
	each := mu / math.Sqrt(float64(m.Classes)) * (1 + 0x1p-50)
	b.OutputSigma = objpert.OutputBeside(b.Tolerance, b.Lambda, b.OutputSigma, each)
	return m.Profile()
}

// For implements mechanism.Informed: that of each fit, which has a K-th of μ².
func (m OneVsRest) For(f mechanism.Facts) (mechanism.Mechanism, float64) {
	f.Mu /= math.Sqrt(float64(m.Classes))
	one, stretch := m.Binary.For(f)
	m.Binary = one.(objpert.Objective)
	return m, stretch
}

// Part returns the μ of a Gaussian mechanism that has the part share of μ² beside a fit that was calibrated for
// Config.Reserved = all, share being of that.
func (m Softmax) Part(share, all float64) float64 { return part(m.Lipschitz()/m.Sigma, share, all) }

// Part is that of Softmax, for all K fits.
func (m OneVsRest) Part(share, all float64) float64 {
	return part(math.Sqrt(float64(m.Classes))*m.Binary.Lipschitz()/m.Binary.Sigma, share, all)
}

func part(mu, share, all float64) float64 { return math.Sqrt(share/(1-all)) * mu * (1 - 0x1p-40) }
