package sgd

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/limits"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// Of every parameter the ends of its range are admitted, and what is next to them is not.
func TestLimits(t *testing.T) {
	limits.Check(t, Cost{Rate: 0.1, NoiseMultiplier: 1, Steps: 10}, Cost.Validate, limits.In("Rate", 0, 1),
		limits.In("Steps", 1, maxSteps), limits.Positive("NoiseMultiplier"), limits.NotNegative("ScoreMultiplier"),
		limits.In("MeanRuns", 0, 1e6), limits.In("Accounting", float64(Sharpest), float64(Renyi)))
	d := descent()
	limits.Check(t, d, Descent.Validate, limits.In("Rate", 5e-324, 1), limits.Positive("PlannedRecords"),
		limits.NotNegative("Lambda"), limits.In("Average", 0, float64(d.Steps)), limits.In("Steps", 1, maxSteps))
	d.NoiseMultiplier = 1
	limits.Check(t, d, Descent.Validate, limits.In("Clip", 0x1p-100, limits.None))
	q := quantiles(deciles)
	q.NoiseMultiplier = 1
	limits.Check(t, q, Quantiles.Validate, limits.NotNegative("Records"), limits.In("RowNorm", 0x1p-100, limits.None),
		limits.In("Steps", float64(q.Steps), float64(q.Steps)))
	limits.Check(t, q.WithCurvature(0.2), Curvature.Validate, limits.In("Fit.Records", 0, 0),
		limits.In("Share", limits.None, limits.Below(1)))

	rule := func(u Adaptive) error { return u.validate() }
	limits.Check(t, q.Update, rule, limits.Positive("Radius"), limits.NotNegative("Ball"),
		limits.In("Steps", 1, limits.None), limits.NotNegative("Noise"), limits.In("Level", 0, limits.Below(1)),
		limits.NotNegative("Ridge"))
	limits.Check(t, weakSignal{Adaptive: q.Update}, weakSignal.validate, limits.NotNegative("Signal"))
	limits.Check(t, Projected{Plain{1}, 1}, Projected.validate, limits.Positive("Radius"))
	limits.Check(t, Plain{1}, Plain.validate, limits.Positive("LearningRate"))
	limits.Check(t, Momentum{LearningRate: 1, Beta: 0.5}, Momentum.validate, limits.Positive("LearningRate"),
		limits.In("Beta", 5e-324, limits.Below(1), 0))
	limits.Check(t, Adam{LearningRate: 1}, Adam.validate, limits.Positive("LearningRate"),
		limits.In("Beta1", 0, limits.Below(1)), limits.In("Beta2", 0, limits.Below(1)), limits.Positive("Kappa", 0))
	runs := func(s int, p float64) bool { _, err := MeanRunsFor(s, p); return err == nil }
	if !runs(0, 0.5) || !runs(1e5, 0.5) || runs(-1, 0.5) || runs(1e5+1, 0.5) || runs(3, 0) || runs(3, 1) {
		t.Error("runs that are asked for in vain")
	}

	// Levels, and places among features.
	many := make([]float64, MaxLevels+1)
	for i := range many {
		many[i] = float64(i+1) / (MaxLevels + 2)
	}
	spans := func(u Adaptive, s ...matrix.Span) error { u.Curves = s; return u.fits(5) }
	over := func(r Reference) error {
		c := q.WithCurvature(0.2, r)
		return c.Check(matrix.NewDense(1, 4, nil), []float64{0})
	}
	nowhere := func(v matrix.Direction) error {
		c := q.WithCurvature(0.2)
		c.Nowhere = []matrix.Direction{v}
		return c.Check(matrix.NewDense(1, 4, nil), []float64{0})
	}
	shrink := func(w ...float64) error { u := q.Update; u.Shrink = w; return u.validate() }
	for name, c := range map[string]struct{ fine, bad error }{
		"levels":      {ValidLevels(many[1:]), ValidLevels(many)},
		"first level": {ValidLevels([]float64{1e-6}), ValidLevels([]float64{limits.Below(1e-6)})},
		"last level":  {ValidLevels([]float64{1 - 1e-6}), ValidLevels([]float64{limits.Above(1 - 1e-6)})},
		"two levels":  {ValidLevels([]float64{0.5, 0.5 + 1e-6}), ValidLevels([]float64{0.5, limits.Below(0.5 + 1e-6)})},
		"curves":      {spans(q.Update, matrix.Span{First: 1, Len: 3}), spans(q.Update, matrix.Span{First: 1, Len: 4})},
		"first":       {over(Reference{First: 0, Count: 1, Sum: 3}), over(Reference{First: -1, Count: 1, Sum: 3})},
		"count":       {over(Reference{First: 0, Count: 4, Sum: 3}), over(Reference{First: 0, Count: 5, Sum: 3})},
		"no count":    {over(Reference{First: 2, Count: 2, Sum: 0}), over(Reference{First: 0, Count: 0, Sum: 3})},
		"sum":         {over(Reference{Count: 1, Sum: 0}), over(Reference{Count: 1, Sum: -1})},
		"sum beyond":  {over(Reference{Count: 1, Sum: 3}), over(Reference{Count: 1, Sum: 4})},
		"left":        {over(Reference{Count: 2, Left: 1}), over(Reference{Count: 2, Left: 2})},
		"left before": {over(Reference{Count: 2, Left: 0}), over(Reference{Count: 2, Left: -1})},
		"nowhere": {nowhere(matrix.Direction{First: 2, Weights: []float64{1, 1}}),
			nowhere(matrix.Direction{First: 3, Weights: []float64{1, 1}})},
		"nowhere at all": {nowhere(matrix.Direction{First: 0, Weights: []float64{1}}),
			nowhere(matrix.Direction{First: 0})},
		"shrink":        {shrink(0, math.MaxFloat64), shrink(-5e-324)},
		"shrink by all": {shrink(1), shrink(math.Inf(1))},
	} {
		if c.fine != nil || c.bad == nil {
			t.Errorf("%s: %v is refused, %v is not", name, c.fine, c.bad)
		}
	}
}
