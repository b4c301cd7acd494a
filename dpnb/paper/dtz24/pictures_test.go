package dtz24

import (
	"testing"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/internal/golden"
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
	all := func(f []*figure.Figure, err error) {
		t.Helper()
		for _, one := range f {
			alone(one, err)
		}
	}
	alone(PlainFigure(200, 40, 6))
	all(PlainFigures(2, 6))
	alone(LawFigure(2, 6))
	all(LossFigures(), nil)
	for number := 3; number <= 6; number++ {
		f, _, err := DrawFigure(number, Scale{Dots: 2, Repetitions: 2, Curve: 3})
		all(f, err)
	}
	alone(SmallRidge{Threshold: 10, Lambda: 0.001, Nus: []float64{0, 0.2}, Entries: 400}.Figure("A spike", 2, 6))
	alone(UniversalityFigure(RobustObjective, 40, 20, 2, 6))
	add(MinimaxFigure(8, 4, 100, 6))
	alone(RidgeFigure(2, 6))
	table, err := PromiseTable()
	alone(StepsFigure())
	text += table.Text()
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "testdata/pictures.txt", text)
}
