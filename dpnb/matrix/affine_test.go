package matrix_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/matrix"
)

// affine returns rows that are made of sparse ones, twice, beside dense ones.
func affine(n int, r *rand.Rand) matrix.HStack {
	numbers := func(k int) []float64 {
		x := make([]float64, k)
		for j := range x {
			x[j] = r.NormFloat64()
		}
		return x
	}
	sparse := matrix.NewDense(n, 5, numbers(5*n))
	for i := range sparse.Data {
		if r.IntN(3) > 0 {
			sparse.Data[i] = 0
		}
	}
	once := &matrix.Affine{Base: sparse.Sparse(), A: numbers(n), U: numbers(5), Bias: 0.3}
	twice := &matrix.Affine{Base: once, Kept: []int{0, 2, 3, -1}, A: numbers(n), W: numbers(n), V: numbers(4),
		Bias: -2}
	return matrix.HStack{Parts: []matrix.Rows{once, matrix.NewDense(n, 3, numbers(3*n)), twice}}
}

// Rows that are summed as they are read are those that are stored: what they compute differs by no more than Terms
// says. A factor left out of any one operation is seen, and so is a bound that is lower by a factor of ten.
func TestAffineRowsAreTheirEntries(t *testing.T) {
	const n = 300
	r := rand.New(rand.NewPCG(1, 2))
	rows := affine(n, r)
	dense := matrix.Densed(rows)
	_, d := rows.Dims()
	theta, w := make([]float64, d), make([]float64, n)
	for j := range theta {
		theta[j] = r.NormFloat64()
	}
	for i := range w {
		w[i] = r.NormFloat64()
	}
	if !matrix.InMemory(rows) || matrix.InMemory(matrix.Elsewhere{N: n, D: d}) {
		t.Error("what lies in memory is not told from what does not")
	}
	terms, worst := matrix.Terms(rows), 0.0
	if longest := matrix.MaxNorm(dense); terms < longest || !(math.Abs(matrix.MaxNorm(rows)-longest) <= 1e-12) {
		t.Errorf("terms of %v for a row of %v, which is %v", terms, longest, matrix.MaxNorm(rows))
	}
	// A row of 4 = 5·2 − 5·0.2 − 2 − 3, all taken from the base: 16 in sum, whether its norm is known or not.
	for _, known := range []float64{0, 4} {
		one := &matrix.Affine{Base: matrix.NewDense(1, 1, []float64{2}), A: []float64{5}, U: []float64{0.2},
			W: []float64{1}, V: []float64{-2}, Bias: -3, Longest: known}
		if by := matrix.Terms(one); by < 16 || by > 16*(1+1e-9) || matrix.Densed(one).Data[0] != 4 {
			t.Errorf("a norm of %v: terms of %v, want 16, of a row %v", known, by, matrix.Densed(one).Data)
		}
	}
	got, want := make([]float64, n), make([]float64, n)
	rows.Margins(got, theta, 0, n)
	dense.Margins(want, theta, 0, n)
	for i := range got {
		worst = math.Max(worst, math.Abs(got[i]-want[i]))
	}
	unit := 0x1p-53 * terms * floats.Norm(theta, 2)
	if most := float64(2*d+1+matrix.TermsDepth) * unit; worst > most || worst < unit/1e3 {
		t.Errorf("margins err by %g, with a bound of %g", worst, most)
	}
	part, all := make([]float64, d), make([]float64, d)
	for lo := 0; lo < n; lo += 70 {
		rows.AddScaled(part, w[lo:min(lo+70, n)], lo, min(lo+70, n))
	}
	dense.AddScaled(all, w, 0, n)
	if err, most := floats.Distance(part, all, 2), (2*n+matrix.TermsDepth)*0x1p-53*terms*floats.Norm(w, 1); err > most {
		t.Errorf("sums err by %g, with a bound of %g", err, most)
	}
	index := []int{7, 7, 0, 299}
	some := matrix.Densed(matrix.Select(rows, index))
	for k, i := range index {
		if !slices.Equal(some.Data[k*d:(k+1)*d], dense.Data[i*d:(i+1)*d]) {
			t.Errorf("row %d is another one", i)
		}
	}
}
