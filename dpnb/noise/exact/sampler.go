package exact

import "math/bits"

// Bits is what everything is drawn from: each call returns 64 independent fair bits. noise.Source is one.
type Bits interface{ Uint64() uint64 }

// Sampler draws from Bits. It holds bits that were not used yet: make one for each run with New. It is not safe for
// concurrent use.
type Sampler struct {
	bits Bits
	// width of the digits of uniform numbers in bits, 64 but in tests. The law does not depend on it.
	width uint
	// pool has left unused bits, the lowest first.
	pool uint64
	left uint
	// counts is the law of the last rate of Subset.
	counts *binomial
}

// New returns a sampler that draws from b.
func New(b Bits) *Sampler { return &Sampler{bits: b, width: 64} }

// take returns n ≤ 63 fair bits, the first one the lowest.
func (s *Sampler) take(n uint) uint64 {
	v := s.pool
	if s.left >= n {
		s.pool >>= n
		s.left -= n
	} else {
		word := s.bits.Uint64()
		v |= word << s.left
		n0 := n - s.left
		s.pool = word >> n0
		s.left = 64 - n0
	}
	return v & (1<<n - 1)
}

// digit returns a digit that is uniform over 0 … 2^width − 1.
func (s *Sampler) digit() uint64 {
	if s.width == 64 {
		return s.bits.Uint64()
	}
	return s.take(s.width)
}

// below returns a number that is uniform over 0 … m−1, 1 ≤ m ≤ 2⁶³: as many bits as m−1 has, drawn again if they are
// too large a number.
func (s *Sampler) below(m uint64) uint64 {
	n := uint(bits.Len64(m - 1))
	for {
		if v := s.take(n); v < m {
			return v
		}
	}
}

// Below returns a number that is uniform over 0 … n−1. It panics unless n ≥ 1.
func (s *Sampler) Below(n int) int {
	if n < 1 {
		panic("exact: Below wants n ≥ 1")
	}
	return int(s.below(uint64(n)))
}

// number is a uniform real number of (0, 1), of which the first digits are known: those that were looked at. The zero
// value is one of which nothing is known.
type number struct {
	first uint64
	rest  []uint64
	known int
}

// at returns digit i ≥ 0 of x, the most significant being digit 0.
func (s *Sampler) at(x *number, i int) uint64 {
	for x.known <= i {
		d := s.digit()
		if x.known == 0 {
			x.first = d
		} else {
			x.rest = append(x.rest, d)
		}
		x.known++
	}
	if i == 0 {
		return x.first
	}
	return x.rest[i-1]
}

// less reports whether u < x, for two numbers that are not the same one. It draws digits until it is decided; that they
// are equal has probability 0.
func (s *Sampler) less(u, x *number) bool {
	for i := 0; ; i++ {
		if a, b := s.at(u, i), s.at(x, i); a != b {
			return a < b
		}
	}
}
