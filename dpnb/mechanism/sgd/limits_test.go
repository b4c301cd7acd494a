package sgd

import (
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/limits"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

func TestLimits(t *testing.T) {
	limits.Check(t, Cost{Rate: 0.1, NoiseMultiplier: 1, Steps: 10}, Cost.Validate, limits.In("Rate", 0, 1),
		limits.In("Steps", 1, maxSteps), limits.Positive("NoiseMultiplier"), limits.NotNegative("ScoreMultiplier"),
		limits.In("MeanRuns", 0, 1e6), limits.In("Accounting", float64(Sharpest), float64(Renyi)))
	d, q := descent(), quantiles(deciles)
	limits.Check(t, d, Descent.Validate, limits.In("Rate", 5e-324, 1), limits.Positive("PlannedRecords"),
		limits.NotNegative("Lambda"), limits.In("Average", 0, float64(d.Steps)),
		limits.In("Clip", 0x1p-100, limits.None))
	limits.Check(t, q, Quantiles.Validate, limits.NotNegative("Records"), limits.In("RowNorm", 0x1p-100, limits.None),
		limits.In("Steps", float64(q.Steps), float64(q.Steps)))
	limits.Check(t, q.WithCurvature(0.2), Curvature.Validate, limits.In("Fit.Records", 0, 0),
		limits.In("Share", limits.None, limits.Below(1)))
	limits.Check(t, q.Update, func(u Adaptive) error { return u.validate() }, limits.Positive("Radius"),
		limits.NotNegative("Ball"), limits.In("Steps", 1, limits.None), limits.NotNegative("Noise"),
		limits.In("Level", 0, limits.Below(1)), limits.NotNegative("Ridge"))
	limits.Check(t, weakSignal{Adaptive: q.Update}, weakSignal.validate, limits.NotNegative("Signal"))
	limits.Check(t, Projected{Plain{1}, 1}, Projected.validate, limits.Positive("Radius"))
	limits.Check(t, Adam{LearningRate: 1}, Adam.validate, limits.Positive("LearningRate"),
		limits.In("Beta1", 0, limits.Below(1)), limits.In("Beta2", 0, limits.Below(1)), limits.Positive("Kappa", 0))
	over := func(first, count, sum, left int) error {
		c := q.WithCurvature(0.2, Reference{First: first, Count: count, Sum: sum, Left: left})
		return c.Check(matrix.NewDense(1, 4, nil), []float64{0})
	}
	limits.Pairs(t, map[string][2]error{
		"levels": {ValidLevels([]float64{1e-6, 0.5, 0.5 + 1e-6, 1 - 1e-6}), ValidLevels([]float64{limits.Below(1e-6)})},
		"last":   {nil, ValidLevels([]float64{limits.Above(1 - 1e-6)})},
		"first":  {over(0, 1, 3, 0), over(-1, 1, 3, 0)}, "count": {over(0, 4, 3, 0), over(0, 5, 3, 0)},
		"no count": {over(2, 2, 0, 0), over(0, 0, 3, 0)}, "sum": {over(0, 1, 0, 0), over(0, 1, -1, 0)},
		"sum beyond": {over(0, 1, 3, 0), over(0, 1, 4, 0)}, "left": {over(0, 2, 0, 1), over(0, 2, 0, 2)},
	})
}
