package exact

import "math/big"

// variate is a real number ±(whole + fraction) of which the sign, the whole part and those digits of the fraction are
// known that were looked at. The other digits are independent fair bits.
type variate struct {
	negative bool
	whole    uint64
	fraction number
}

// half is true with probability e^{−1/2}: the length m of the run ½ > u₁ > u₂ > … of uniform numbers is even. P(length
// ≥ m) = 2^{−m}/m!.
func (s *Sampler) half() bool {
	u := number{first: s.digit(), known: 1}
	if u.first>>(s.width-1) != 0 { // u₁ > ½
		return true
	}
	return !s.evenRun(&u)
}

// evenRun is true with probability e^{−x}: the length of the run x > u₁ > u₂ > … is even.
func (s *Sampler) evenRun(x *number) bool {
	if s.width == 64 {
		return s.evenRun64(x)
	}
	var a, b number
	last, next := x, &a
	for even := true; ; even = !even {
		*next = number{}
		if !s.less(next, last) {
			return even
		}
		if last == x {
			last = &b // it is the next one to be drawn
		}
		last, next = next, last
	}
}

// evenRun64 is evenRun by the first words of 64 bits, as long as they differ.
func (s *Sampler) evenRun64(x *number) bool {
	last := s.at(x, 0)
	for length := 0; ; length++ {
		word := s.bits.Uint64()
		switch {
		case word > last:
			return length%2 == 0
		case word == last: // further digits decide, those of x if it is the last
			next, before := number{first: word, known: 1}, x
			if length > 0 {
				before = &number{first: last, known: 1}
			}
			if !s.less(&next, before) {
				return length%2 == 0
			}
			return s.evenRun(&next) == (length%2 == 1)
		}
		last = word
	}
}

// shrink is true with probability e^{−xq}, q = (2k + x)/(2k + 2): the length of the run x > u₁ > u₂ > … is even if each
// of its steps also needs luck of probability q. P(length ≥ m) = (xq)ᵐ/m!.
func (s *Sampler) shrink(k uint64, x *number) bool {
	var a, b number
	last, next := x, &a
	for even := true; ; even = !even {
		if !s.luck(k, x) {
			return even
		}
		*next = number{}
		if !s.less(next, last) {
			return even
		}
		if last == x {
			last = &b
		}
		last, next = next, last
	}
}

// luck is true with probability (2k + x)/(2k + 2): of 2k + 2 equally likely cases 2k are yes, one asks whether a fresh
// uniform number is less than x, one is no.
func (s *Sampler) luck(k uint64, x *number) bool {
	switch c := s.below(2*k + 2); {
	case c < 2*k:
		return true
	case c == 2*k:
		var u number
		return s.less(&u, x)
	}
	return false
}

// normal returns an exact N(0, 1) variate.
//
// With k the number of halves in a row, kept if k(k−1) more succeed, P(k) ∝ e^{−k²/2}; with k + 1 shrinks,
// e^{−x(2k+x)/2}; so k + x has the density ∝ e^{−(k+x)²/2} on x > 0.
//
// Source: Karney 2016, Algorithm N.
func (s *Sampler) normal() variate {
draw:
	for {
		var v variate
		for s.half() {
			v.whole++
		}
		for i := v.whole * (v.whole - 1); v.whole > 1 && i > 0; i-- {
			if !s.half() {
				continue draw
			}
		}
		for i := uint64(0); i <= v.whole; i++ {
			if !s.shrink(v.whole, &v.fraction) {
				continue draw
			}
		}
		v.negative = s.take(1) == 1
		return v
	}
}

// exponential returns an exact Exp(1) variate: the fraction has the density ∝ e^{−x}, and the whole part counts the
// tries that failed, each with probability 1 − ∫e^{−x}dx = e^{−1}.
//
// Source: Karney 2016, after von Neumann 1951.
func (s *Sampler) exponential() variate {
	for v := (variate{}); ; v.whole++ {
		v.fraction = number{}
		if s.evenRun(&v.fraction) {
			return v
		}
	}
}

// laplace returns an exact variate of density e^{−|x|}/2.
func (s *Sampler) laplace() variate {
	v := s.exponential()
	v.negative = s.take(1) == 1
	return v
}

// cut returns the largest integer ≤ |v|·2^(width·digits). It draws what it needs.
func (s *Sampler) cut(v *variate, digits int) *big.Int {
	n := new(big.Int).SetUint64(v.whole)
	d := new(big.Int)
	for i := range digits {
		n.Lsh(n, s.width)
		n.Or(n, d.SetUint64(s.at(&v.fraction, i)))
	}
	return n
}

// fraction64 returns the first 64 binary digits of the fraction of v. It draws what it needs.
func (s *Sampler) fraction64(v *variate) uint64 {
	if s.width == 64 {
		return s.at(&v.fraction, 0)
	}
	var f uint64
	for i, have := 0, uint(0); have < 64; i++ {
		d := s.at(&v.fraction, i)
		if have+s.width > 64 {
			f |= d >> (have + s.width - 64)
		} else {
			f |= d << (64 - have - s.width)
		}
		have += s.width
	}
	return f
}
