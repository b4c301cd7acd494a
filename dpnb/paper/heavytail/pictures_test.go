package heavytail

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/paper/internal/pictures"
)

// What the figures of this room draw.
func TestPictures(t *testing.T) {
	testscale.InTurn(t)
	seen := pictures.New(t)
	seen.Figure(StepsFigure(1, 50))
	seen.Figure(JacobianFigure(0.5), nil)
	f, _ := DensityFigure(0.5)
	seen.Figure(f, nil)
	p := Population{Moment: 3, Features: 3}
	f, _, err := RateFigure(p, []int{100, 300}, 1, 2, 5)
	seen.Figure(f, err)
	f, _, err = SlopesFigure(PhasesCell, []float64{2, math.Inf(1)}, 2, 5)
	seen.Figure(f, err)
	f, _, err = FloorFigure(2, 1, []int{30, 100}, 2, 5)
	seen.Figure(f, err)
	f, _, err = PrimitiveFigure(2, 5)
	seen.Figure(f, err)
	seen.Figure(OnsetFigure(3, []int{5}, []int{100, 300}, []float64{0.3, 3}, 2, 5))
	seen.Figure(DimensionFigure(1))
	losses := []loss.Convex{loss.LeastAbsolute{}, loss.Huber{Threshold: 0.5}}
	seen.Figure(MisjudgedFigure(p, losses, []float64{0.1, 1, 10}, 300, 1, 2, 5))
	seen.Compare()
}
