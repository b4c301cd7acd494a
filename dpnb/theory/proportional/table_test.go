package proportional

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// The table of docs/theory/proportional.md, to two digits.
func TestTableOfErrors(t *testing.T) {
	testscale.SkipUnlessFull(t)
	for _, c := range []struct {
		eps, ratio, kappa           float64
		none, objective, output, gd float64
		lambda                      float64 // of objective perturbation, which takes seconds to find
	}{
		{0.1, 0.001, 1, 0.0048, 0.026, 0.23, 0.011, 6.09},
		{1, 0.001, 1, 0.0048, 0.0051, 0.045, 0.0052, 0.913},
		{1, 0.01, 1, 0.047, 0.076, 0.28, 0.063, 1.45},
		{1, 0.1, 1, 0.34, 0.8, 0.85, 0.58, 7.87},
		{4, 0.1, 1, 0.34, 0.46, 0.59, 0.4, 1.52},
		{1, 0.01, 3, 0.0097, 0.027, 0.3, 0.023, 0.349},
		{4, 0.1, 3, 0.1, 0.2, 0.52, 0.19, 0.173},
	} {
		task := logisticTask(c.ratio, c.kappa)
		g := Target{c.eps, 1e-5, privacy.AddRemove}
		got := make([]float64, 3)
		steps := 0
		for k, m := range []Mechanism{Objective, Output, NoisyDescent} {
			p, err := task.Best(m, g, objective.DTZ24)
			if m == Objective {
				p, err = task.At(m, g, c.lambda, objective.Tight)
			}
			if err != nil {
				t.Fatal(err)
			}
			got[k] = p.Point.MSE() / (c.kappa * c.kappa)
			steps = p.Steps
		}
		none := must.Get(task.NonPrivate())
		got = append([]float64{none.Point.MSE() / (c.kappa * c.kappa)}, got...)
		for k, want := range []float64{c.none, c.objective, c.output, c.gd} {
			if !(math.Abs(got[k]/want-1) <= 0.05) {
				t.Errorf("ε = %v, d/n = %v, κ = %v, column %d: %.4g, the table says %v", c.eps, c.ratio, c.kappa, k,
					got[k], want)
			}
		}
		t.Logf("| %g | %g | %g | %.2g | %.2g | %.2g | %.2g (%d) |", c.eps, c.ratio, c.kappa, got[0], got[1], got[2],
			got[3], steps)
	}
}

// The percentages below that table.
func TestMisclassification(t *testing.T) {
	testscale.Slow(t)
	task := logisticTask(0.05, 2)
	task.Goal = Misclassification
	for m, want := range map[Mechanism]float64{Objective: 0.2864, Output: 0.2874, NoisyDescent: 0.2583} {
		p := must.Get(task.Best(m, Target{1, 1e-5, privacy.AddRemove}, objective.DTZ24))
		q := p.Quality()
		if !(math.Abs(q.Error-want) <= 3e-4) || !(math.Abs(q.BestError-0.2220) <= 1e-4) {
			t.Errorf("%s: error %.4f, want %v; best %.4f", m, q.Error, want, q.BestError)
		}
	}
}
