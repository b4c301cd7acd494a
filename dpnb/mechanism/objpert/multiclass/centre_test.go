package multiclass

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// What centring errs by is taken from τ: where a fit of many classes is just feasible it is nearly all of it, and noise
// that is longer than most has nothing left.
func TestCentringIsPaidFor(t *testing.T) {
	m := Softmax{Classes: 200, RowNorm: 1, Lambda: 1e6, Tolerance: 1e-8, OutputSigma: 1}
	m.Sigma = m.Tolerance / (214.001 * 0x1p-53 * math.Sqrt(199))
	refused := 0
	for seed := range uint64(20) {
		_, err := m.Run(matrix.NewDense(1, 1, []float64{1}), []float64{0}, noise.NewSeeded(seed), nil)
		if errors.Is(err, erm.ErrTolerance) {
			refused++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if refused == 0 || refused > 10 {
		t.Errorf("%d of 20 are refused", refused)
	}
}

// Each class has the penalty on second differences, and no two have one together.
func TestEachClassIsSmoothed(t *testing.T) {
	m := Softmax{Classes: 3, RowNorm: 1, Lambda: 1,
		Penalty: objpert.Penalty{Rough: []objpert.Roughness{{Span: matrix.Span{First: 1, Len: 3}, Weight: 2}}}}
	d := []float64{0, 1, -2, 1}
	all := m.problem(matrix.NewDense(1, 4, nil), []float64{0}).Quadratic
	for i := range 12 {
		for j := range 12 {
			if want := 2 * d[i%4] * d[j%4]; i/4 == j/4 && all.At(i, j) != want || i/4 != j/4 && all.At(i, j) != 0 {
				t.Errorf("%d, %d: %v", i, j, all.At(i, j))
			}
		}
	}
}

// Centred noise is as near to the exactly centred one as it is said to be; of two classes, of which the error is seen
// best, by no more than some ten times.
func TestCentringError(t *testing.T) {
	exact := func(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }
	for _, classes := range []int{2, 3, 7} {
		nearest := 1e9
		for seed := range uint64(200) {
			b := make([]float64, 2*classes)
			noise.NewSeeded(seed).Gaussian(b, 3)
			centred := slices.Clone(b)
			Center(centred, classes)
			square := exact(0)
			for i := range b {
				off := exact(centred[i])
				off.Sub(off, exact(b[i]))
				for c := range classes {
					off.Add(off, new(big.Float).Quo(exact(b[c*2+i%2]), exact(float64(classes))))
				}
				square.Add(square, off.Mul(off, off))
			}
			distance, _ := new(big.Float).Sqrt(square).Float64()
			bound := centringError(b, classes)
			if distance > bound {
				t.Fatalf("%d classes: off by %g, said to be at most %g", classes, distance, bound)
			}
			nearest = min(nearest, bound/distance)
		}
		t.Logf("%d classes: the bound is %.1f times the largest error", classes, nearest)
		if classes == 2 && nearest > 12 {
			t.Errorf("the bound is %.1f times the largest error", nearest)
		}
	}
}
