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
	// The fewer degrees, the more proposals are refused: of two, a wrong test of them is seen by many draws alone.
	for _, c := range []struct {
		nu, draws int
		more      float64
	}{{1, 20_000, 1.06}, {2, 1_000_000, 1.01}, {3, 500_000, 1.01}, {10, 20_000, 1.06}, {1000, 20_000, 1.06}} {
		rng := rand.New(rand.NewPCG(1, uint64(c.nu)))
		x := make([]float64, c.draws)
		for i := range x {
			x[i] = Draw(c.nu, rng.NormFloat64)
		}
		if d := distance(x, float64(c.nu)); !(d <= 1.95) { // exceeded once in a thousand seeds
			t.Errorf("%d degrees: √n·KS = %.2f", c.nu, d)
		}
		if d := distance(x, c.more*float64(c.nu)); !(d >= 1.95) {
			t.Errorf("%d degrees: %g as many go unnoticed (%.2f)", c.nu, c.more, d)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("no degree of freedom was accepted")
		}
	}()
	Draw(0, func() float64 { return 0 })
}
