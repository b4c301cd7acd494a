package geometry

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// Sums are those of the records without noise, with all features.
func Sums(c Centred, rows matrix.Rows, labels []float64) []float64 {
	_, d := rows.Dims()
	f := c.frame(math.MaxFloat64, d)
	return f.total(rows, labels, 1)
}

// Noisy are the count and the sums as Run releases them.
func Noisy(c Centred, rows matrix.Rows, labels []float64, src noise.Source) (count float64, sums []float64) {
	f := c.bought(rows, labels, src, 1)
	return f.Count, f.released
}

// CountOf is countOf.
var CountOf = countOf
