package noise_test

import (
	"math"
	"slices"
	"testing"

	"github.com/dpnb/notebooks/dpnb/noise"
)

// The Kolmogorov–Smirnov distance to the Laplace law of the given scale. With n
// = 40,000 draws it exceeds 2.2/√n with a probability of 2e^{−2·2.2²} = 1.3e-4.
func distanceToLaplace(x []float64, scale float64) float64 {
	slices.Sort(x)
	var worst float64
	n := float64(len(x))
	for i, v := range x {
		cdf := 0.5 * math.Exp(-math.Abs(v)/scale)
		if v > 0 {
			cdf = 1 - cdf
		}
		worst = math.Max(worst, math.Max(cdf-float64(i)/n, float64(i+1)/n-cdf))
	}
	return worst * math.Sqrt(n)
}

func TestLaplaceLaw(t *testing.T) {
	for name, src := range map[string]noise.Laplacian{"secure": noise.NewSecure(), "seeded": noise.NewSeeded(3)} {
		x := make([]float64, 40_000)
		src.Laplace(x, 2.5)
		if d := distanceToLaplace(x, 2.5); d > 2.2 {
			t.Errorf("%s: √n·distance %.2f from the Laplace law", name, d)
		}
		// A scale that is wrong by a tenth, and a normal law of the same
		// variance, are seen.
		if d := distanceToLaplace(x, 2.5*1.1); d < 2.2 {
			t.Errorf("%s: a wrong scale is not seen: %.2f", name, d)
		}
		src.Gaussian(x, 2.5*math.Sqrt2)
		if d := distanceToLaplace(x, 2.5); d < 2.2 {
			t.Errorf("%s: a normal law is not seen: %.2f", name, d)
		}
	}
}

func TestLaplaceIsReproducible(t *testing.T) {
	x, y := make([]float64, 9), make([]float64, 9)
	noise.NewSeeded(5).Stream(2).Laplace(x, 1)
	noise.NewSeeded(5).Stream(2).Laplace(y, 1)
	if !slices.Equal(x, y) {
		t.Error("a stream does not repeat itself")
	}
	noise.NewSeeded(5).Laplace(x, 0)
	if !slices.Equal(x, make([]float64, 9)) {
		t.Error("a scale of 0 is not no noise")
	}
	for _, bad := range []float64{-1, math.NaN(), math.Inf(1)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("scale %v is accepted", bad)
				}
			}()
			noise.NewSecure().Laplace(x, bad)
		}()
	}
}
