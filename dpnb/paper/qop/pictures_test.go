package qop

import (
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/paper/internal/pictures"
	"github.com/dpnb/notebooks/dpnb/privacy/wishart"
)

// What the figures of this room draw, and the tables beside them.
func TestPictures(t *testing.T) {
	testscale.InTurn(t)
	seen := pictures.New(t)
	seen.Figure(PlaneFigure(0, 0, 3), nil)
	seen.Figure(PlaneFigure(3, 4, 3), nil)
	seen.Beside(DensityRatio(7, 0.5, 0.04, 4000, 3))
	seen.Figure(NeighboursFigure(7, 0.5, 0.04, 200, 3))
	seen.Figure(SidesFigure(20, 3), nil)
	seen.Beside(LabelErrorFigure(5, 0.5, 0.05))
	f, _, _ := EigenvaluesFigure(wishart.Wishart{D: 20, M: 40}, 1000, 3)
	seen.Figure(f, nil)
	seen.Beside(Parts(7, wishart.Split{Epsilon1: 0.7, Epsilon2: 0.3, Delta1: 0.01, Delta2: 0.01, Delta3: 0.01,
		Delta4: 0.01}, 4000, 3))
	seen.Beside(BoundFigure([]float64{0.3, 1, 3}, []float64{1e-6, 1e-2}))
	seen.Figure(BoundSurface([]float64{0.3, 3}, []float64{1e-6, 1e-2}, false))
	b := measure.Must(RunBoxes(2, 0, 3, AsPrinted(Certified)...))
	seen.Figure(b.Figure("Figure 2", true))
	seen.Beside(RiskFigure([]float64{1, 10}, 10, 3))
	seen.Figure(WalkFigure(200, 5))
	seen.Beside(AccountingsFigure(wishart.Wishart{D: 100, M: 200}, 0.01))
	seen.Compare()
}
