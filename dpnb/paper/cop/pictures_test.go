package cop

import (
	"context"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/paper/internal/pictures"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// What the figures of this room draw, and a table beside them.
func TestPictures(t *testing.T) {
	testscale.InTurn(t)
	defer measure.Fatal(t)
	seen := pictures.New(t)
	plane := smoothing.Norm{Kernel: smoothing.Gaussian{}, Width: 0.3}
	seen.Figure(Plane("‖x‖₁, µ = 0.3", "x", plane.Gap, 0.02, 0.1, 0.3), nil)
	prices := measure.Must(Prices(1, Delta, 1.1))
	seen.Figure(Gaps("At equal cost", "x", prices, func(p Price) float64 { return p.Width }, 4), nil)
	fixed, chosen := Signs(10, 2000, noise.NewSeeded(4))
	seen.Figure(Overlap("Signs", "b·Aᵀs", fixed, chosen, [2]string{"fixed", "chosen"}), nil)
	seen.Figures(Figure3(), nil)
	seen.Figures(Figure4(), nil)
	seen.Long(func() {
		e := Reproduce(5, false, Compared()...)
		e.Counts, e.Epsilons, e.Runs = []int{50, 100}, []float64{1}, 3
		points := measure.Must(e.Run(context.Background()))
		seen.Figure(points.At(1, 5).Figure("Figure 5", Relative), nil)
		seen.Figure(points.At(1, 5).Figure("Figure 5, of the records", Empirical), nil)
		seen.Table(Table{Title: "Figure 5", Points: points, Of: Empirical}.Display(), nil)
	})
	seen.Compare()
}
