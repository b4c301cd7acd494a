package geometry

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
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

// Chosen is how many coordinates rows of so many records have, the bias included, and the mechanism for them.
func Chosen(c Centred, records float64, d int) (features int, m mechanism.Mechanism) {
	f := c.frame(records, d)
	m, _ = c.choose(f)
	return f.features() + 1, m
}

// Through returns the coordinates of x in the space without directions, the point that has them, and the bound on by
// how much they may be longer.
func Through(directions []matrix.Direction, x []float64) (coordinates, back []float64, longer float64) {
	s := without(directions)
	coordinates = s.to(append([]float64(nil), x...))
	return coordinates, s.from(coordinates), s.longer()
}

// Sensitivity is what the noise of the sum is for, of rows with so many columns.
func Sensitivity(c Centred, d int) float64 { return c.sums(d) }
