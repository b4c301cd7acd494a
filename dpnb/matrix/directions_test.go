package matrix

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
)

// Directions are no longer than 1 as real numbers, nor much shorter, for entries of any size; what is not finite
// becomes zeros; a row's direction is the same wherever it stands.
func TestDirections(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, d := range []int{1, 3, 50, 20000} {
		m := NewDense(9, d, nil)
		for i := range m.Data {
			m.Data[i] = r.NormFloat64() * math.Ldexp(1, []int{0, -600, -1070, 600, 1020, 3, 3, 3, 3}[i/d])
		}
		m.Data[6*d] = math.NaN()
		m.Data[7*d] = math.Inf(-1)
		clear(m.Data[8*d:])
		unit, norms := Directions(m, 2)
		sparse, sparseNorms := Directions(m.Sparse(), 0)
		row, other := make([]float64, d), make([]float64, d)
		for i := range 9 {
			unit.Row(row, i)
			sparse.Row(other, i)
			square := new(big.Float).SetPrec(300)
			for j, v := range row {
				f := new(big.Float).SetPrec(300).SetFloat64(v)
				square.Add(square, f.Mul(f, f))
				if !(math.Abs(other[j]-v) <= 0x1p-22*math.Abs(v)+0x1p-148) {
					t.Errorf("d = %d, row %d: %g, in the sparse one %g", d, i, v, other[j])
				}
			}
			s, _ := square.Float64()
			switch none := i >= 6; {
			case none && (s != 0 || norms[i] != 0 || sparseNorms[i] != 0):
				t.Errorf("d = %d, row %d: norm %g, direction of norm %g", d, i, norms[i], s)
			case !none && (square.Cmp(big.NewFloat(1)) > 0 || s < 1-0x1p-21 || !(norms[i] > 0) ||
				math.IsInf(norms[i], 1)):
				t.Errorf("d = %d, row %d: norm %g, square of the direction 1 − %g", d, i, norms[i], 1-s)
			}
		}
		if d == 3 {
			if got := norms[0]; !(math.Abs(got-math.Sqrt(SumSquares(m.Data[:3]))) <= 0) {
				t.Errorf("norm %g", got)
			}
		}
	}
}

// A row in which a column stands twice would be longer than 1, as Margins adds the two: it counts as none.
func TestDirectionsOfOddRows(t *testing.T) {
	rows := &CSR{N: 3, D: 3, Starts: []int{0, 2, 4, 6}, Columns: []int32{0, 2, 1, 1, 2, 0},
		Values: []float64{3, 4, 3, 4, 3, 4}}
	unit, norms := Directions(rows, 1)
	if want := []float64{5, 0, 0}; !slices.Equal(norms, want) {
		t.Errorf("norms %v, want %v", norms, want)
	}
	margins := make([]float64, 3)
	if unit.Margins(margins, []float64{0, 1, 0}, 0, 3); margins[1] != 0 {
		t.Errorf("margin %v of a row that counts as none", margins[1])
	}
}

// askedFor counts how often each row is asked for.
type askedFor struct {
	Rows
	times []atomic.Int32
}

func (a *askedFor) Row(dst []float64, i int) {
	a.times[i].Add(1)
	a.Rows.Row(dst, i)
}

// Each row is read once, by one worker.
func TestDirectionsReadRowsOnce(t *testing.T) {
	const n = 2*MaxBlock + 5
	a := &askedFor{NewDense(n, 2, nil), make([]atomic.Int32, n)}
	Directions(a, 2)
	for i := range a.times {
		if k := a.times[i].Load(); k != 1 {
			t.Fatalf("row %d is read %d times", i, k)
		}
	}
}
