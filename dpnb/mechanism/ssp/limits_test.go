package ssp

import (
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/limits"
)

func TestLimits(t *testing.T) {
	limits.Check(t, TukeyEM{RowNorm: 1, LabelBound: 1, Features: 2, Models: 16, TestScale: 1, Eta: 1, Delta: 0.1},
		TukeyEM.Validate, limits.Scale("RowNorm"), limits.Scale("LabelBound"), limits.In("Features", 1, 1<<12),
		limits.In("Models", 4, 1<<14), limits.In("TestScale", 0x1p-10, 0x1p20), limits.In("Eta", 0x1p-20, 1<<17/16),
		limits.In("Delta", limits.Above(0x1p-1000), 0.5))
	ada := AdaSSP{RowNorm: 1, LabelBound: 1, SigmaEigen: 1, SigmaGram: 1, SigmaCross: 1, Failure: 0.05}
	limits.Check(t, ada, AdaSSP.Validate, limits.Scale("RowNorm"), limits.Scale("LabelBound"),
		limits.Scale("SigmaEigen"), limits.Scale("SigmaGram"), limits.Scale("SigmaCross"),
		limits.In("Failure", 5e-324, limits.Below(1)))
	limits.Check(t, Boosted{AdaSSP: ada, Rounds: 10, Clip: 1}, Boosted.Validate, limits.Scale("AdaSSP.SigmaGram"),
		limits.In("Rounds", 1, 1000), limits.Scale("Clip"))
	limits.Check(t, Functional{RowNorm: 1, LabelBound: 1, Features: 2, Noise: Laplace, Scale: 1}, Functional.Validate,
		limits.Scale("RowNorm"), limits.Scale("LabelBound"), limits.In("Features", 1, 1<<20), limits.Scale("Scale"))
}
