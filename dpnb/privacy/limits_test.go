package privacy_test

import (
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/limits"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

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
	limits.Check(t, privacy.HalfNormalGaussian{HalfNormal: privacy.HalfNormal{K: 1, A: 1}},
		privacy.HalfNormalGaussian.Validate, limits.NotNegative("Mu"), limits.NotNegative("K"), limits.NotNegative("A"))
	limits.Check(t, privacy.SubsampledGaussian{Sigma: 1, Sensitivity: 1}, privacy.SubsampledGaussian.Validate,
		limits.In("Rate", 0, 1), limits.Positive("Sigma"))
	limits.Check(t, privacy.SelectionPoisson{Base: privacy.Gaussian{Sigma: 1, Sensitivity: 1}, Mean: 1},
		func(s privacy.SelectionPoisson) error { _, err := s.RDP(privacy.AddRemove); return err },
		limits.Positive("Mean"))
	p, none := privacy.GaussianProfile(1, privacy.AddRemove), limits.None
	limits.Argument(t, "range", 0, 1000, func(x float64) error {
		return privacy.BoundedRange{Ranges: []float64{x}, Pure: []float64{1}, Gaussian: []float64{1}}.Validate()
	})
	limits.Argument(t, "tail", 5e-324, limits.Below(1), func(x float64) error {
		_, _, err := privacy.AsGaussian(p, x)
		return err
	})
	limits.Argument(t, "δ", 0, 1, func(x float64) error { _, err := privacy.EpsilonUpper(p, x); return err })
	limits.Argument(t, "α", 0, 1, func(x float64) error { _, err := privacy.TradeOff(p, 0, x); return err })
	limits.Argument(t, "mean", 5e-324, 1e9, func(x float64) error {
		_, err := privacy.SelectionPoissonProfile(p, x)
		return err
	})
	limits.Argument(t, "order", 1, none, func(x float64) error {
		_, err := privacy.HalfNormal{K: 1, A: 1}.RDP(x)
		return err
	})
	limits.Argument(t, "ε", 0, none, func(x float64) error { _, err := privacy.GaussianSigma(x, 1e-5); return err })
	limits.Argument(t, "ε of a calibration", 5e-324, 1000, privacy.CheckEpsilon)
	if eps, delta := privacy.Typed(0.3, 1e-6); eps != limits.Below(0.3) || delta != limits.Below(1e-6) {
		t.Errorf("typed 0.3 and 1e-6 are %v and %v", eps, delta)
	}
}
