package matrix

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Margins, sums and norms of rows that are kept as float32 are those of the same rows as float64, to the last bit,
// whatever rows are asked for, in turn.
func TestSingleIsDense(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, d := range []int{1, 4, 7, 50} {
		m := newSingle(600, d)
		all := NewDense(600, d, nil)
		for i := range 600 {
			row := all.Data[i*d : (i+1)*d]
			for j := range row {
				row[j] = r.NormFloat64()
			}
			m.set(i, row)
			m.Row(row, i)
		}
		theta, w := make([]float64, d), make([]float64, 600)
		for _, x := range [][]float64{theta, w} {
			for j := range x {
				x[j] = r.NormFloat64()
			}
		}
		for _, part := range [][2]int{{0, 600}, {0, 256}, {256, 512}, {5, 6}, {3, 300}, {597, 600}, {9, 9}} {
			lo, hi := part[0], part[1]
			for _, of := range []func(m Rows) []float64{
				func(m Rows) []float64 { out := make([]float64, hi-lo); m.Margins(out, theta, lo, hi); return out },
				func(m Rows) []float64 { out := make([]float64, hi-lo); m.Norms(out, lo, hi); return out },
				func(m Rows) []float64 { out := slices.Clone(theta); m.AddScaled(out, w[lo:hi], lo, hi); return out },
			} {
				if got, want := of(m), of(all); !slices.Equal(got, want) {
					t.Errorf("d = %d, rows %d to %d: %v, as float64 %v", d, lo, hi, got, want)
				}
			}
		}
	}
}
