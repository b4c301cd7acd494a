package ssp

import (
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/limits"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Of every parameter the ends of its range are admitted, and what is next to them is not.
func TestLimits(t *testing.T) {
	scale := func(field string) limits.Range { return limits.In(field, 0x1p-100, 0x1p100) }
	ada := AdaSSP{RowNorm: 1, LabelBound: 1, SigmaEigen: 1, SigmaGram: 1, SigmaCross: 1, Failure: 0.1}
	limits.Check(t, ada, AdaSSP.Validate, scale("RowNorm"), scale("LabelBound"), scale("SigmaEigen"),
		scale("SigmaGram"), scale("SigmaCross"), limits.In("Failure", 5e-324, limits.Below(1)))
	limits.Check(t, Boosted{AdaSSP: ada, Clip: 1, Rounds: 1}, Boosted.Validate, scale("Clip"),
		limits.In("Rounds", 1, 1000))
	fun := Functional{RowNorm: 1, LabelBound: 1, Features: 3, Noise: Gaussian, Scale: 1}
	limits.Check(t, fun, Functional.Validate, scale("RowNorm"), scale("LabelBound"), scale("Scale"),
		limits.In("Features", 1, 1<<20), limits.In("Noise", float64(Laplace), float64(Gaussian)))
	deep := TukeyEM{RowNorm: 1, LabelBound: 1, Features: 3, Models: 8, TestScale: 1, Eta: 1, Delta: 0.1}
	limits.Check(t, deep, TukeyEM.Validate, scale("RowNorm"), scale("LabelBound"), limits.In("Features", 1, 1<<12),
		limits.In("Models", 4, mostModels), limits.In("TestScale", 0x1p-10, 0x1p20),
		limits.In("Eta", 0x1p-20, mostWeight/8), limits.In("Delta", limits.Above(0x1p-1000), 0.5))

	add := AdaSSPConfig{RowNorm: 1, LabelBound: 1, Epsilon: 1, Delta: 0.1, Adjacency: privacy.AddRemove}
	limits.Check(t, add, func(c AdaSSPConfig) error { _, err := CalibrateAdaSSP(c); return err },
		limits.In("Epsilon", 1e-9, 1e3, limits.Below(1e-9)), limits.In("EigenShare", 1e-9, limits.Below(1),
			limits.Below(1e-9)))
	limits.Check(t, FunctionalConfig{RowNorm: 1, LabelBound: 1, Features: 3, Epsilon: 1, Adjacency: privacy.AddRemove},
		func(c FunctionalConfig) error { _, err := CalibrateFunctional(c); return err },
		limits.In("Epsilon", limits.None, 1e3))
	limits.Check(t, TukeyEMConfig{RowNorm: 1, LabelBound: 1, Features: 1, Models: 100, Epsilon: 1, Delta: 1e-6,
		Adjacency: privacy.AddRemove}, func(c TukeyEMConfig) error { _, err := CalibrateTukeyEM(c); return err },
		limits.In("Epsilon", limits.None, 1e3))
}
