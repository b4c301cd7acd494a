package privacy_test

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/limits"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Of every parameter the ends of its range are admitted, and what is next to them is not.
func TestLimits(t *testing.T) {
	limits.Check(t, privacy.Approx{Epsilon: 1, Adj: privacy.AddRemove}, privacy.Approx.Validate,
		limits.NotNegative("Epsilon"), limits.In("Delta", 0, 1), limits.In("Adj", 1, 2))
	limits.Check(t, privacy.ApproximateMinimum{Tolerance: 1, Lambda: 1, SigmaOut: 1},
		privacy.ApproximateMinimum.Validate, limits.NotNegative("Tolerance"), limits.Positive("Lambda"),
		limits.Positive("SigmaOut"))
	limits.Check(t, privacy.Gaussian{Sigma: 1, Sensitivity: 1}, privacy.Gaussian.Validate, limits.Positive("Sigma"),
		limits.NotNegative("Sensitivity"))
	limits.Check(t, privacy.Laplace{Scale: 1}, privacy.Laplace.Validate, limits.Positive("Scale"),
		limits.NotNegative("Sensitivity"))
	limits.Check(t, privacy.IsotropicLaplace{Scale: 1}, privacy.IsotropicLaplace.Validate, limits.Positive("Scale"),
		limits.NotNegative("Sensitivity"))
	if (privacy.Laplace{Scale: 0.5, Sensitivity: math.MaxFloat64}).Validate() == nil {
		t.Error("an infinite ε is admitted")
	}
	limits.Check(t, privacy.HalfNormal{K: 1, A: 1}, privacy.HalfNormal.Validate, limits.NotNegative("K"),
		limits.NotNegative("A"))
	limits.Check(t, privacy.HalfNormalGaussian{HalfNormal: privacy.HalfNormal{K: 1, A: 1}},
		privacy.HalfNormalGaussian.Validate, limits.NotNegative("Mu"), limits.NotNegative("K"))
	limits.Check(t, privacy.SubsampledGaussian{Sigma: 1, Sensitivity: 1}, privacy.SubsampledGaussian.Validate,
		limits.In("Rate", 0, 1), limits.Positive("Sigma"))
	gaussian := privacy.Gaussian{Sigma: 1, Sensitivity: 1}
	limits.Check(t, privacy.SelectionPoisson{Base: gaussian, Mean: 1}, func(s privacy.SelectionPoisson) error {
		_, err := s.RDP(privacy.AddRemove)
		return err
	}, limits.Positive("Mean"))

	p := privacy.GaussianProfile(1, privacy.AddRemove)
	// Arguments of functions: the ends of what they take.
	for name, c := range map[string]struct {
		from, to float64
		f        func(x float64) error
	}{
		"ranges": {0, 1000, func(x float64) error { return privacy.BoundedRange{Ranges: []float64{x}}.Validate() }},
		"pure":   {0, 1000, func(x float64) error { return privacy.BoundedRange{Pure: []float64{x}}.Validate() }},
		"gaussian": {0, 1000, func(x float64) error {
			return privacy.BoundedRange{Gaussian: []float64{x}}.Validate()
		}},
		"tail":              {5e-324, limits.Below(1), func(x float64) error { _, _, err := privacy.AsGaussian(p, x); return err }},
		"δ of EpsilonUpper": {0, 1, func(x float64) error { _, err := privacy.EpsilonUpper(p, x); return err }},
		"α of TradeOff": {0, 1, func(x float64) error {
			_, err := privacy.TradeOff(p, privacy.Remove, x)
			return err
		}},
		"α of HalfNormal": {1, math.MaxFloat64, func(x float64) error {
			_, err := privacy.HalfNormal{K: 1, A: 1}.RDP(x)
			return err
		}},
		"mean": {5e-324, 1e9, func(x float64) error { _, err := privacy.SelectionPoissonProfile(p, x); return err }},
		"ε of GaussianSigma": {0, limits.None, func(x float64) error {
			_, err := privacy.GaussianSigma(x, 1e-5)
			return err
		}},
	} {
		for _, x := range []float64{c.from, c.to} {
			if err := c.f(x); err != nil && !math.IsNaN(x) {
				t.Errorf("%s = %v is refused: %v", name, x, err)
			}
		}
		for _, x := range []float64{limits.Below(c.from), limits.Above(c.to), math.NaN()} {
			if c.f(x) == nil && !math.IsInf(x, 1) {
				t.Errorf("%s = %v is admitted", name, x)
			}
		}
	}
}
