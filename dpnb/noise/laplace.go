package noise

import (
	"math"
	"math/rand/v2"
)

// Laplacian is a Source that draws Laplace noise too. Secure and Seeded do.
type Laplacian interface {
	Source
	// Laplace fills dst with independent Laplace variates of density
	// e^{−|x|/scale}/(2·scale). It panics if scale is negative or not finite.
	Laplace(dst []float64, scale float64)
}

// Laplace fills dst with independent Laplace variates of the given scale, each
// from four normal variates (see laplace): its last bits are a mixture of
// theirs, so that neither the grid of the uniform numbers nor the state of the
// sampler can be read off them, as they can from the textbook's logarithm of
// one uniform number.
//
// Source: Mironov 2012, CCS '12, for the attack on the logarithm; Holohan and
// Braghin 2021, arXiv:2107.10138, for the defence by several draws.
func (s *Secure) Laplace(dst []float64, scale float64) { laplace(rand.New(&buffer{}), dst, scale) }

// Laplace fills dst with independent Laplace variates of the given scale.
func (s *Seeded) Laplace(dst []float64, scale float64) { laplace(s.Rand, dst, scale) }

// laplace uses that N₁N₂ + N₃N₄ has the characteristic function 1/(1 + t²): given
// N₂, E e^{itN₁N₂} = E e^{−t²N₂²/2} = (1 + t²)^{−1/2}, and there are two of them.
func laplace(rng *rand.Rand, dst []float64, scale float64) {
	if !(scale >= 0) || math.IsInf(scale, 1) {
		panic("noise: scale must be finite and not negative")
	}
	for i := range dst {
		dst[i] = scale * (rng.NormFloat64()*rng.NormFloat64() + rng.NormFloat64()*rng.NormFloat64())
	}
}
