package exact

import (
	"math"
	"math/big"
	"math/bits"
)

// Subset appends to dst, in rising order, a random subset of 0 … n−1 that has each number with probability rate,
// exactly, independently of all others. It panics unless 0 ≤ rate ≤ 1.
//
// Of a rate below 1/16 blocks of numbers are taken together: how many of them are in is a binomial variate, which are
// is a uniform choice. Of a larger one, number i is in if a uniform real number is below the rate: the binary digits of
// 64 such numbers are drawn in one word and compared with the same digit of the rate, until all are decided or the rate
// has no digits left.
func (s *Sampler) Subset(dst []int, rate float64, n int) []int {
	if !(rate >= 0 && rate <= 1) {
		panic("exact: the rate of Subset must be in [0, 1]")
	}
	m, e := dyadic(rate)
	if rate == 0 {
		return dst
	}
	if rate < 1.0/16 {
		if s.counts == nil || s.counts.rate != rate {
			s.counts = newBinomial(rate)
		}
		return s.counts.subset(dst, s, n)
	}
	end := bits.TrailingZeros64(uint64(m))
	for at := 0; at < n; at += 64 {
		undecided := uint64(math.MaxUint64)
		if n-at < 64 {
			undecided = 1<<(n-at) - 1
		}
		var in uint64
		if rate == 1 {
			in, undecided = undecided, 0
		}
		// Digit i = 1, 2, … of the rate m·2^e is bit −e − i of m.
		for i := -e - 1; undecided != 0 && i >= end; i-- {
			w := s.bits.Uint64()
			if i < 53 && m>>i&1 == 1 {
				in |= undecided &^ w
				undecided &= w
			} else {
				undecided &^= w
			}
		}
		for ; in != 0; in &= in - 1 {
			dst = append(dst, at+bits.TrailingZeros64(in))
		}
	}
	return dst
}

// Poisson returns an exact Poisson variate of the given mean: how many arrivals of a process of rate one fall before
// it, sums of exponential variates against the mean. It takes mean + 1 of them. It panics unless the mean is positive
// and at most 1e6.
func (s *Sampler) Poisson(mean float64) int {
	if !(mean > 0 && mean <= 1e6) {
		panic("exact: the mean of Poisson must be positive and at most 1e6")
	}
	var gaps []variate
	// The first 64 digits of each gap are added; each is too small by less than 2⁻⁶⁴.
	var whole, fraction uint64
	limit := math.Floor(mean)
	part := uint64(math.Ldexp(mean-limit, 64)) // rounded down
	for {
		gaps = append(gaps, s.exponential())
		last := &gaps[len(gaps)-1]
		var carry uint64
		fraction, carry = bits.Add64(fraction, s.fraction64(last), 0)
		whole += last.whole + carry
		above, more := bits.Add64(fraction, uint64(len(gaps)), 0)
		switch m := uint64(limit); {
		case whole > m || whole == m && fraction > part:
			return len(gaps) - 1
		case whole+more < m || whole+more == m && above <= part:
			continue
		}
		if s.beyond(gaps, mean) {
			return len(gaps) - 1
		}
	}
}

// beyond reports whether the sum of the gaps is larger than the mean. It draws digits until that is decided.
func (s *Sampler) beyond(gaps []variate, mean float64) bool {
	count := big.NewInt(int64(len(gaps)))
	for digits := 1; ; digits++ {
		sum := new(big.Int)
		for i := range gaps {
			sum.Add(sum, s.cut(&gaps[i], digits))
		}
		// In units of the last digit the sum of the gaps is strictly between sum and sum + count, and the mean is at
		// and less than at + 1.
		at, inexact := floor(mean, -digits*int(s.width))
		if c := sum.Cmp(at); c > 0 || c == 0 && !inexact {
			return true
		}
		if sum.Add(sum, count).Cmp(at) <= 0 {
			return false
		}
	}
}
