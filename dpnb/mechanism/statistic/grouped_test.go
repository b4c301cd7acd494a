package statistic

import (
	"slices"
	"testing"

	"github.com/dpnb/notebooks/dpnb/noise"
)

// The sums of a group are those of its records alone, and its block is nobody else's.
func TestGrouped(t *testing.T) {
	means := Means{Of: []Number{{0, 10}, {-1, 1}}, For: Gaussian}
	by := Cells{{Levels: 2}, {Edges: []float64{0, 5, 10}}}
	g := Grouped{Of: means, By: by}
	if err := g.Validate(); err != nil || g.Columns() != 4 || g.Len() != 12 ||
		g.Norm(Gaussian) != means.Norm(Gaussian) {
		t.Fatal(err)
	}
	src := noise.NewSeeded(1)
	columns := make([][]float64, 4)
	for range 500 {
		columns[0] = append(columns[0], float64(src.IntN(3)-1)) // −1 is in no group
		columns[1] = append(columns[1], 12*src.Float64()-1)
		columns[2] = append(columns[2], 12*src.Float64()-1)
		columns[3] = append(columns[3], 2*src.Float64()-1)
	}
	got := make([]float64, g.Len())
	g.Sum(got, columns)
	for cell := range by.Len() {
		own := make([][]float64, 2)
		for i := range columns[0] {
			if by.of(columns, i) == cell {
				own[0], own[1] = append(own[0], columns[2][i]), append(own[1], columns[3][i])
			}
		}
		want := make([]float64, 3)
		means.Sum(want, own)
		if !slices.Equal(got[3*cell:3*cell+3], want) || len(own[0]) == 0 {
			t.Errorf("group %d: %v, want %v", cell, got[3*cell:3*cell+3], want)
		}
	}
	if (Grouped{Of: means, By: Cells{{Levels: MostCells / 2}}}).Validate() == nil {
		t.Error("any number of sums is accepted")
	}
}
