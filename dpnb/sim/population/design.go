package population

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/noise"
)

// Design is a law of the rows. All have centred, uncorrelated entries of variance 1/d. In all but Elliptical the
// entries are independent and subgaussian with a norm of order 1/√d, which is what the theorems of dtz24 ask for
// (Definition 3.2).
type Design int

const (
	// Rademacher entries are ±1/√d. Every row has norm 1.
	Rademacher Design = iota + 1
	// Gaussian entries are N(0, 1/d). Rows have no bound, so no private mechanism could take them as they are.
	Gaussian
	// Uniform entries are uniform on ±√(3/d).
	Uniform
	// Sparse entries are 0 with probability 3/4 and else ±2/√d.
	Sparse
	// Skewed entries are 2/√d with probability 1/5 and else −1/(2√d): their third moment is not that of a Gaussian.
	Skewed
	// Elliptical rows are Gaussian rows times √(1/10) or √(19/10), half and half. The entries of a row are not
	// independent, no theorem of dtz24 covers them, and its predictions do not hold: it shows what a check can see.
	Elliptical
)

// Designs lists the designs that the theorems cover.
var Designs = []Design{Rademacher, Gaussian, Uniform, Sparse, Skewed}

// String returns the name.
func (d Design) String() string {
	switch d {
	case Rademacher:
		return "Rademacher"
	case Gaussian:
		return "Gaussian"
	case Uniform:
		return "uniform"
	case Sparse:
		return "sparse"
	case Skewed:
		return "skewed"
	case Elliptical:
		return "elliptical"
	}
	return fmt.Sprintf("Design(%d)", int(d))
}

// fill writes rows of d features to x, whose length is a multiple of d.
func (d Design) fill(r *noise.Seeded, x []float64, features int) {
	c := 1 / math.Sqrt(float64(features))
	switch d {
	case Rademacher:
		plus := math.Float64bits(c)
		for len(x) > 0 {
			bits := r.Uint64()
			block := x[:min(64, len(x))]
			for i := range block {
				block[i] = math.Float64frombits(plus | bits<<63)
				bits >>= 1
			}
			x = x[len(block):]
		}
	case Gaussian:
		r.Gaussian(x, c)
	case Uniform:
		c *= 2 * math.Sqrt(3)
		for i := range x {
			x[i] = c * (r.Float64() - 0.5)
		}
	case Sparse:
		values := [8]float64{2 * c, -2 * c} // three bits an entry
		for len(x) > 0 {
			bits := r.Uint64()
			block := x[:min(21, len(x))]
			for i := range block {
				block[i] = values[bits&7]
				bits >>= 3
			}
			x = x[len(block):]
		}
	case Skewed:
		for i := range x {
			x[i] = -c / 2
			if r.Uint64()%5 == 0 {
				x[i] = 2 * c
			}
		}
	case Elliptical:
		for len(x) > 0 {
			scale := c * math.Sqrt(0.1)
			if r.Uint64()&1 == 0 {
				scale = c * math.Sqrt(1.9)
			}
			r.Gaussian(x[:features], scale)
			x = x[features:]
		}
	default:
		panic("population: unknown design")
	}
}
