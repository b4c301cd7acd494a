package noise

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// Mean and variance of the entries, E W = mI and Var W_ij = m(1 + [i = j]), and of 1/(xᵀW⁻¹x) = χ²_{m−d+1} for a fixed
// unit x.
func TestWishartLaw(t *testing.T) {
	const d, m, draws = 4, 7, 40_000
	for name, src := range map[string]*Seeded{"seeded": NewSeeded(5)} {
		var sum, square [d][d]float64
		var chi, chi2 float64
		x := mat.NewVecDense(d, []float64{0.5, -0.5, 0.5, 0.5})
		for range draws {
			w := Wishart(src, d, m)
			for i := range d {
				for j := range d {
					sum[i][j] += w.At(i, j)
					square[i][j] += w.At(i, j) * w.At(i, j)
				}
			}
			var c mat.Cholesky
			if !c.Factorize(w) {
				t.Fatal("not positive definite")
			}
			var v mat.VecDense
			must.Do(c.SolveVecTo(&v, x))
			y := 1 / mat.Dot(x, &v)
			chi += y
			chi2 += y * y
		}
		for i := range d {
			for j := range d {
				mean := sum[i][j] / draws
				variance := square[i][j]/draws - mean*mean
				want, wantVar := 0.0, float64(m)
				if i == j {
					want, wantVar = m, 2*m
				}
				if !(math.Abs(mean-want) <= 6*math.Sqrt(wantVar/draws)) ||
					!(math.Abs(variance-wantVar) <= 0.1*wantVar) {
					t.Errorf("%s: W[%d][%d]: mean %.3f, variance %.3f, want %g and %g", name, i, j, mean, variance,
						want, wantVar)
				}
			}
		}
		const nu = 1.0 + m - d
		if mean, variance := chi/draws, chi2/draws-chi/draws*chi/draws; !(math.Abs(mean-nu) <= 6*
			math.Sqrt(2*nu/draws)) || !(math.Abs(variance-2*nu) <= 0.6) {
			t.Errorf("%s: 1/(xᵀW⁻¹x): mean %.3f, variance %.3f, want %g and %g", name, mean, variance, nu, 2*nu)
		}
	}
}

func TestWishartDeterministic(t *testing.T) {
	a, b := Wishart(NewSeeded(3), 5, 9), Wishart(NewSeeded(3), 5, 9)
	if !mat.Equal(a, b) {
		t.Error("one seed, two matrices")
	}
	if mat.Equal(a, Wishart(NewSeeded(4), 5, 9)) {
		t.Error("two seeds, one matrix")
	}
	if w := Wishart(NewSeeded(3), 1, 1); !(w.At(0, 0) > 0) {
		t.Errorf("of one row and column: %v", w.At(0, 0))
	}
	for _, c := range [][2]int{{0, 3}, {3, 2}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v was drawn", c)
				}
			}()
			Wishart(NewSeeded(1), c[0], c[1])
		}()
	}
}

func BenchmarkWishart(b *testing.B) {
	for _, d := range []int{100, 1000} {
		b.Run(map[int]string{100: "d=100", 1000: "d=1000"}[d], func(b *testing.B) {
			src := NewSeeded(1)
			for b.Loop() {
				Wishart(src, d, 2*d)
			}
		})
	}
}
