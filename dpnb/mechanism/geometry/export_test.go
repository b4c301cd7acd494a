package geometry

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// Sums are those of the records without noise, with all features.
func Sums(c Centred, rows matrix.Rows, labels []float64) []float64 {
	f := c.frame(math.MaxFloat64, rows)
	return f.total(rows, labels, 1)
}

// Noisy are the count and the sums as Run releases them.
func Noisy(c Centred, rows matrix.Rows, labels []float64, src noise.Source) (count float64, sums []float64) {
	f := c.bought(rows, labels, src, 1)
	return f.Count, f.released
}

// About is what Run has bought before it fits.
func About(c Centred, rows matrix.Rows, labels []float64, src noise.Source) *Bought {
	f := c.bought(rows, labels, src, 1)
	return &f.Bought
}

// CountOf is countOf.
var CountOf = countOf

// Chosen is how many coordinates rows of so many records have, the bias included, and the mechanism for them.
func Chosen(c Centred, records float64, d int) (features int, m mechanism.Mechanism) {
	f := c.frame(records, matrix.NewDense(0, d, nil))
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

// Detailed are the sums without noise and the rows of a frame that has products, and cells of all numbers that may have
// them, about some mean, with the bound on what one record adds to the sums.
func Detailed(c Centred, rows matrix.Rows, labels []float64) (sums []float64, s float64, out matrix.Rows, b *Bought) {
	f := c.frame(1e6, rows)
	f.Cells = f.may[:min(len(f.may), mostCells)]
	for j := range f.Mean {
		f.Mean[j] = 0.1 / float64(1+j)
	}
	f.Scale = math.Sqrt(1 - matrix.SumSquares(f.Mean))
	return f.total(rows, labels, 1), c.sums(len(f.Mean), len(f.may) > 0), f.rows(rows, 1), &f.Bought
}

// Asked is of how many numbers it is asked whether they have cells, of so many records.
func Asked(c Centred, records float64, rows matrix.Rows) int { return len(c.frame(records, rows).may) }

// Paired reports whether rows have products, of so many records, and what a record is worth: n̂μ for each.
func Paired(c Centred, records float64, rows matrix.Rows) (paired bool, worth float64) {
	f := c.frame(records, rows)
	return len(f.Pairs) > 0, f.worth
}

// Sensitivity is what the noise of the sum is for, of rows with so many columns.
func Sensitivity(c Centred, d int) float64 { return c.sums(d, false) }

// Left are the directions that rows of d features are without where noise has Laplace's law.
func Left(c Centred, d int) []matrix.Direction {
	f := frame{c: &c, Bought: Bought{Curved: true, Mean: make([]float64, d)}}
	return f.left()
}

// Products are those of features of a row.
func Products(pairs []matrix.Span, z []float64) []float64 {
	out := make([]float64, products(pairs))
	multiply(out, z, z, pairs)
	return out
}

// Kept are the directions in which rows have nothing, and those along which coefficients are held, of rows that kept
// some of d features.
func Kept(c Centred, d int, kept []int) (nowhere, held []matrix.Direction) {
	f := frame{c: &c, Bought: Bought{Mean: make([]float64, d), kept: kept}}
	return f.nowhere(), f.held()
}
