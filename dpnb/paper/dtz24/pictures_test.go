package dtz24

import (
	"testing"

	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/paper/internal/pictures"
)

// What the figures of this room draw, and the tables beside them.
func TestPictures(t *testing.T) {
	testscale.InTurn(t)
	seen := pictures.New(t)
	seen.Figure(PlainFigure(200, 40, 6))
	seen.Figures(PlainFigures(2, 6))
	seen.Figure(LawFigure(2, 6))
	seen.Figures(LossFigures(), nil)
	for number := 3; number <= 6; number++ {
		f, _, err := DrawFigure(number, Scale{Dots: 2, Repetitions: 2, Curve: 3})
		seen.Figures(f, err)
	}
	seen.Figure(SmallRidge{Threshold: 10, Lambda: 0.001, Nus: []float64{0, 0.2}, Entries: 400}.Figure("A spike", 2, 6))
	seen.Figure(UniversalityFigure(RobustObjective, 40, 20, 2, 6))
	seen.Beside(MinimaxFigure(8, 4, 100, 6))
	seen.Figure(RidgeFigure(2, 6))
	seen.Long(func() { seen.Figure(StepsFigure()) })
	seen.Table(PromiseTable())
	seen.Figure(PathFigure(2, 6))
	seen.Figure(MinimaxGrowth(20, 6))
	seen.Long(func() {
		seen.Beside(Plan{Records: 2000, Features: 100, Epsilon: 1, Delta: 1e-6, Signal: 2}.CostFigure())
	})
	frontier := must.Get(NewFrontier(2, 1e-6, []float64{0.5, 2, 8}, figure.Geometric(0.002, 0.5, 5)))
	seen.Figure(frontier.Figure(0.5), nil)
	seen.Figure(frontier.Figure(3), nil)
	seen.Figure(frontier.Map(), nil)
	seen.Compare()
}
