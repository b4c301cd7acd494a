package mechanism

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Law is that of the noise with which numbers are released of which one record changes the vector by at most 1 in the
// Euclidean norm: what it costs, how it is drawn and what variance it has. The zero value is Gaussian.
type Law int

const (
	// Gaussian noise N(0, scale²) in each number is a Gaussian mechanism of μ = 1/scale.
	Gaussian Law = iota
	// Laplace noise has the density ∝ e^{−‖z‖₂/scale}, and costs ε = 1/scale. Of one number it is the Laplace law; of
	// k, a number has the variance (k + 1)·scale², where independent Laplace variates for ‖·‖₁ ≤ √k had 2k·scale².
	Laplace
)

// Validate returns a *privacy.ParamError for a law that is none.
func (l Law) Validate() error {
	return privacy.Within(l == Gaussian || l == Laplace, "Law", int(l), "Gaussian or Laplace")
}

// String implements fmt.Stringer.
func (l Law) String() string {
	switch l {
	case Gaussian:
		return "Gaussian"
	case Laplace:
		return "Laplace"
	}
	return fmt.Sprintf("Law(%d)", int(l))
}

// Cost returns what releases with noise of these scales cost together, rounded up: the μ of Gaussian mechanisms, the ε
// of Laplace noise. Each may be chosen with knowledge of those before.
func (l Law) Cost(scales ...float64) float64 {
	var sum float64
	for _, s := range scales {
		if l == Gaussian {
			sum += 1 / (s * s)
		} else {
			sum += 1 / s
		}
	}
	if l == Gaussian {
		sum = math.Sqrt(sum)
	}
	return sum * (1 + 0x1p-48)
}

// Variance returns that of one of k numbers, in scale².
func (l Law) Variance(k int) float64 {
	if l == Gaussian {
		return 1
	}
	return float64(k) + 1
}

// Noise is drawn as far as its first digits.
type Noise interface {
	// AddRounded adds it, times a scale, and rounds the real sums to a public grid.
	AddRounded(dst []float64, scale, grid float64)
}

// Draw draws noise for k numbers.
func (l Law) Draw(k int, src noise.Source) Noise {
	draw := noise.Exact(src)
	switch {
	case l == Gaussian:
		return draw.Normals(k)
	case k == 1:
		return draw.Laplaces(k)
	}
	return draw.IsotropicLaplace(k)
}

// Count returns a number of records with noise, the real sum rounded to a public grid; it may be negative. One record
// more or less changes the number by 1, which who calls it has charged.
func (l Law) Count(records int, scale float64, src noise.Source) float64 {
	count := []float64{float64(records)}
	l.Draw(1, src).AddRounded(count, scale, exact.Grid(scale))
	return count[0]
}
