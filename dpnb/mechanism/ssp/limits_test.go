package ssp

import (
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/limits"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

func TestLimits(t *testing.T) {
	ada := AdaSSP{RowNorm: 1, LabelBound: 1, SigmaEigen: 1, SigmaGram: 1, SigmaCross: 1, Failure: 0.1}
	limits.Check(t, ada, AdaSSP.Validate, limits.Scale("SigmaEigen"), limits.Scale("SigmaGram"),
		limits.Scale("SigmaCross"), limits.In("Failure", 5e-324, limits.Below(1)))
	limits.Check(t, Boosted{ada, 1, 1}, Boosted.Validate, limits.Scale("Clip"), limits.In("Rounds", 1, 1000))
	limits.Check(t, Functional{1, 1, 3, Gaussian, 1}, Functional.Validate, limits.Scale("Scale"),
		limits.In("Features", 1, 1<<20), limits.In("Noise", float64(Laplace), float64(Gaussian)))
	limits.Check(t, TukeyEM{1, 1, 3, 8, 1, 1, 0.1}, TukeyEM.Validate, limits.In("Features", 1, 1<<12),
		limits.In("Models", 4, mostModels), limits.In("TestScale", 0x1p-10, 0x1p20),
		limits.In("Eta", 0x1p-20, mostWeight/8), limits.In("Delta", limits.Above(0x1p-1000), 0.5))
	c := AdaSSPConfig{RowNorm: 1, LabelBound: 1, Epsilon: 1, Delta: 0.1, Adjacency: privacy.AddRemove}
	limits.Check(t, c, func(c AdaSSPConfig) error { _, err := CalibrateAdaSSP(c); return err },
		limits.In("Epsilon", limits.None, 1e3), limits.In("EigenShare", limits.None, limits.Below(1)))
	limits.Check(t, FunctionalConfig{RowNorm: 1, LabelBound: 1, Features: 3, Epsilon: 1, Adjacency: privacy.AddRemove},
		func(c FunctionalConfig) error { _, err := CalibrateFunctional(c); return err },
		limits.In("Epsilon", limits.None, 1e3))
}
