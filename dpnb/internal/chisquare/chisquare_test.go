package chisquare

import (
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	"gonum.org/v1/gonum/mathext"
)

// distance is √n times the Kolmogorov–Smirnov distance to χ² of nu degrees.
func distance(x []float64, nu float64) float64 {
	sort.Float64s(x)
	n := float64(len(x))
	var d float64
	for i, v := range x {
		f := mathext.GammaIncReg(nu/2, v/2)
		d = math.Max(d, math.Max(f-float64(i)/n, float64(i+1)/n-f))
	}
	return math.Sqrt(n) * d
}

func TestDraw(t *testing.T) {
	for _, nu := range []int{1, 2, 3, 10, 1000} {
		rng := rand.New(rand.NewPCG(1, uint64(nu)))
		x := make([]float64, 20_000)
		for i := range x {
			x[i] = Draw(nu, rng.NormFloat64)
		}
		if d := distance(x, float64(nu)); d > 1.95 { // exceeded once in a thousand seeds
			t.Errorf("%d degrees: √n·KS = %.2f", nu, d)
		}
		if d := distance(x, 1.06*float64(nu)); d < 1.95 {
			t.Errorf("%d degrees: 6 %% more go unnoticed (%.2f)", nu, d)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("no degree of freedom was accepted")
		}
	}()
	Draw(0, func() float64 { return 0 })
}
