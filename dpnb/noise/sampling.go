package noise

import (
	"math"
	"math/bits"
)

// Uniform returns a number that is uniform over the midpoints of 2⁵² equal cells
// of (0, 1): never 0 and never 1. (Of 2⁵³ the midpoints are not all numbers.)
func Uniform(src Source) float64 { return (float64(src.Uint64()>>12) + 0.5) * 0x1p-52 }

// small returns a number that is uniform over (0, 1) and has as many digits near
// zero as elsewhere.
func small(src Source) float64 {
	for scale := 1.0; ; scale *= 0x1p-64 {
		v := src.Uint64()
		if v == 0 {
			continue
		}
		zeros := bits.LeadingZeros64(v)
		if v <<= zeros; zeros > 12 {
			v |= src.Uint64() >> (64 - zeros)
		}
		return (float64(v>>12) + 0.5) * 0x1p-52 * scale * math.Ldexp(1, -zeros)
	}
}

// Exponential returns an Exp(1) variate.
func Exponential(src Source) float64 { return -math.Log(Uniform(src)) }

// Below returns a number that is uniform over 0 … n−1. It panics unless n ≥ 1.
func Below(src Source, n int) int {
	if n < 1 {
		panic("noise: Below wants n ≥ 1")
	}
	m := uint64(n)
	for {
		// What would make the first remainders likelier is drawn again.
		if v := src.Uint64(); v >= -m%m {
			return int(v % m)
		}
	}
}

// Poisson returns a Poisson variate of the given mean: how many arrivals of a
// process of rate one fall before it, so that it takes mean + 1 draws. It panics
// unless the mean is positive and at most 1e6.
func Poisson(src Source, mean float64) int {
	if !(mean > 0 && mean <= 1e6) {
		panic("noise: the mean of Poisson must be positive and at most 1e6")
	}
	k := 0
	for t := Exponential(src); t <= mean; t += Exponential(src) {
		k++
	}
	return k
}

// IsotropicLaplace fills dst with noise of density proportional to
// exp(−‖x‖₂/scale): a uniform direction and a Gamma(d, scale) norm, d = len(dst).
// It panics unless the scale is positive and finite.
//
// The norm is half the squares of 2d normal variates, which has the Gamma law: in
// one dimension a logarithm of a uniform number would show its grid (see Laplace).
func IsotropicLaplace(src Source, dst []float64, scale float64) {
	if !(scale > 0) || math.IsInf(scale, 1) {
		panic("noise: scale must be positive and finite")
	}
	if len(dst) == 0 {
		return
	}
	squares := func() (sum float64) {
		src.Gaussian(dst, 1)
		for _, v := range dst {
			sum += v * v
		}
		return sum
	}
	radius := 0.5 * (squares() + squares())
	square := squares()
	for square == 0 {
		square = squares() // no direction: one normal variate in 2³² is zero
	}
	for j := range dst {
		dst[j] *= scale * radius / math.Sqrt(square)
	}
}

// Subset draws Poisson samples: subsets of 0 … n−1 that have each number with
// probability Rate, independently of all others.
//
// The gap to the next member is geometric, so that a sample costs q·n draws and
// not n. A gap beyond ln(16)/q is not trusted to a single draw, in which too few
// bits would be left for it: as the law has no memory, the first ln(16)/q numbers
// are passed over and a new gap is drawn.
type Subset struct {
	rate, perLog float64
	reach        float64
}

// NewSubset returns a sampler of the given rate q. It panics unless 0 ≤ q ≤ 1.
func NewSubset(rate float64) Subset {
	if !(rate >= 0 && rate <= 1) {
		panic("noise: the rate of Subset must be in [0, 1]")
	}
	s := Subset{rate: rate, perLog: 1 / math.Log1p(-rate)}
	s.reach = math.Max(1, math.Floor(math.Log(1.0/16)*s.perLog))
	return s
}

// Draw appends a sample of 0 … n−1 to dst, in rising order.
func (s Subset) Draw(dst []int, src Source, n int) []int {
	switch {
	case s.rate == 0:
		return dst
	case s.rate == 1:
		for i := range n {
			dst = append(dst, i)
		}
		return dst
	}
	for at := 0.0; ; {
		// P(gap ≥ k) = (1−q)ᵏ.
		var gap float64
		if s.rate < 0x1p-20 {
			gap = math.Floor(math.Log1p(-small(src)) * s.perLog)
		} else {
			gap = math.Floor(math.Log(Uniform(src)) * s.perLog)
		}
		if gap >= s.reach {
			at += s.reach
		} else if at += gap; at < float64(n) {
			dst = append(dst, int(at))
			at++
		}
		if at >= float64(n) {
			return dst
		}
	}
}

// Forks returns a family of sources, of the kind of src, that are independent of
// each other and of src. Give source i to task i, and the result does not depend
// on the number of workers. Two calls give different families, as src has moved on.
// ok is false for a source of a kind that is not known; there is no family then.
func Forks(src Source) (fork func(i int) Source, ok bool) {
	switch s := src.(type) {
	case *Secure:
		return func(int) Source { return NewSecure() }, true
	case *Seeded:
		family := s.Stream(int(s.Uint64() >> 2))
		return func(i int) Source { return family.Stream(i) }, true
	}
	return nil, false
}
