package qop

import (
	"testing"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/internal/golden"
	"github.com/dpnb/notebooks/dpnb/privacy/wishart"
)

// What the figures of this room draw, and the tables beside them.
func TestPictures(t *testing.T) {
	text := ""
	add := func(f *figure.Figure, table display.Item, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.PNG(); err != nil {
			t.Fatal(err)
		}
		text += f.Numbers() + f.Words() + "\n" + table.Text() + "\n"
	}
	alone := func(f *figure.Figure, err error) { t.Helper(); add(f, display.Item{}, err) }
	alone(PlaneFigure(0, 0, 3), nil)
	alone(PlaneFigure(3, 4, 3), nil)
	add(DensityRatio(7, 0.5, 0.04, 4000, 3))
	alone(NeighboursFigure(7, 0.5, 0.04, 200, 3))
	alone(SidesFigure(20, 3), nil)
	add(LabelErrorFigure(5, 0.5, 0.05))
	f, _, _ := EigenvaluesFigure(wishart.Wishart{D: 20, M: 40}, 1000, 3)
	alone(f, nil)
	add(Parts(7, wishart.Split{Epsilon1: 0.7, Epsilon2: 0.3, Delta1: 0.01, Delta2: 0.01, Delta3: 0.01, Delta4: 0.01},
		4000, 3))
	alone(RiskFigure([]float64{1, 10}, 10, 3))
	alone(WalkFigure(200, 5))
	add(AccountingsFigure(wishart.Wishart{D: 100, M: 200}, 0.01))
	golden.Compare(t, "testdata/pictures.txt", text)
}
