package learn

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/matrix"
)

// Cells of lengths are a quarter of an octave wide, the first from 2⁻²⁰ on and the last to 2⁴⁰: each length is in the
// cell whose middle is nearest by ratio, and what is beyond is in none.
func TestCellsOfLengths(t *testing.T) {
	for _, c := range []struct{ log, cell float64 }{{-20.01, -1}, {-19.99, 0}, {-19.76, 0}, {-19.74, 1}, {0.01, 80},
		{-0.01, 79}, {39.74, 238}, {39.76, 239}, {39.99, 239}, {40.01, momentCells}} {
		length := math.Exp2(c.log)
		rows := matrix.NewDense(1, 2, []float64{0.6 * length, -0.8 * length})
		for name, got := range map[string][]float64{
			"slope 1": HeavyTails{Loss: AbsoluteLoss}.lengths(rows, []float64{3}),
			"slope T": HeavyTails{Loss: HuberLoss, Threshold: 1}.lengths(rows, []float64{3}),
			"label":   HeavyTails{Loss: SquaredLoss}.lengths(rows, []float64{-1}),
		} {
			if got[0] != c.cell {
				t.Errorf("%s: a gradient of 2^%v is in cell %v, want %v", name, c.log, got[0], c.cell)
			}
		}
		if c.cell >= 0 && c.cell < momentCells {
			if off := math.Abs(math.Log2(middle(int(c.cell))) - c.log); off > 0.125 {
				t.Errorf("the middle of cell %v is off 2^%v by 2^%v", c.cell, c.log, off)
			}
		}
	}
	rows := matrix.NewDense(3, 1, []float64{0, math.Inf(1), math.NaN()})
	for _, cell := range (HeavyTails{}).lengths(rows, make([]float64, 3)) {
		if cell >= 0 && cell < momentCells {
			t.Errorf("a gradient of no length is in cell %v", cell)
		}
	}
}
