package mechanism

import (
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
)

// NoisyCount returns a number of records with noise N(0, σ²), the real sum rounded to a public grid; it may be
// negative. One record more or less changes the number by 1: a Gaussian mechanism with μ = 1/σ, which who
// calls it has charged.
func NoisyCount(records int, sigma float64, src noise.Source) float64 {
	count := []float64{float64(records)}
	noise.Exact(src).Normals(1).AddRounded(count, sigma, exact.Grid(sigma))
	return count[0]
}
