package smoothing

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// The first vector of the basis tells slopes apart nearly as well as any direction in their plane does.
func TestFirstVectorSeparatesSlopes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 60 {
		var slopes [][]float64
		for range 4 {
			slopes = append(slopes, []float64{rng.NormFloat64(), rng.NormFloat64()})
		}
		worst := func(e []float64) float64 {
			least := math.Inf(1)
			for p, a := range slopes {
				for _, b := range slopes[:p] {
					gap := math.Abs(floats.Dot(e, a) - floats.Dot(e, b))
					least = math.Min(least, gap/floats.Distance(a, b, 2))
				}
			}
			return least
		}
		best := 0.0
		for k := range 2000 {
			sin, cos := math.Sincos(math.Pi * float64(k) / 2000)
			best = math.Max(best, worst([]float64{cos, sin}))
		}
		g := mustGaussian(t, mustPolyhedral(t, slopes, make([]float64, 4)), 1)
		if got := worst(g.basis[0]); !(got > best-0.03) {
			t.Errorf("slopes %v: %v apart, and may be %v", slopes, got, best)
		}
	}
}
