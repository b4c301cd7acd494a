package multiclass

import (
	"math/big"
	"slices"
	"testing"

	"github.com/dpnb/notebooks/dpnb/noise"
)

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
