package exact

import (
	"math/big"
	"math/bits"
)

// binomial is the law of how many of 2^log numbers are in a subset of the given rate m·2^−digits. Its distribution
// function F(k) is a binary fraction of digits·2^log digits, known exactly as far as it was asked for.
type binomial struct {
	rate   float64
	log    uint
	places uint // digits·2^log
	m, n   *big.Int
	// term is the probability of len(sums)−1 and sums are F(0), F(1), …, in units of 2^−places; first has the first 64
	// digits of each.
	term  *big.Int
	sums  []*big.Int
	first []uint64
}

// newBinomial chooses blocks with one to two members on average, of 64 to 1024 numbers, such that the fractions do not
// become too long.
func newBinomial(rate float64) *binomial {
	m, e := dyadic(rate)
	zeros := bits.TrailingZeros64(uint64(m))
	m, e = m>>zeros, e+zeros
	digits := uint(-e)
	log := uint(6)
	for log < 10 && rate*float64(uint64(2)<<log) < 2 && digits<<(log+1) <= 1<<17 {
		log++
	}
	b := &binomial{rate: rate, log: log, places: digits << log, m: big.NewInt(m)}
	b.n = new(big.Int).Lsh(big.NewInt(1), digits)
	b.n.Sub(b.n, b.m)
	b.term = new(big.Int).Exp(b.n, new(big.Int).Lsh(big.NewInt(1), log), nil)
	b.push(new(big.Int).Set(b.term))
	return b
}

func (b *binomial) push(sum *big.Int) {
	b.sums = append(b.sums, sum)
	b.first = append(b.first, b.word(sum, 0))
}

// word returns digits 64i … 64i + 63 after the binary point of x·2^−places < 1.
func (b *binomial) word(x *big.Int, i int) uint64 {
	w := new(big.Int)
	if end := 64 * uint(i+1); end <= b.places {
		w.Rsh(x, b.places-end)
	} else {
		w.Lsh(x, end-b.places)
	}
	return w.And(w, new(big.Int).SetUint64(^uint64(0))).Uint64()
}

// extend makes the next value of F known, by P(k+1) = P(k)·(B − k)m/((k + 1)n), which divides without remainder.
func (b *binomial) extend() {
	k := int64(len(b.sums))
	b.term.Mul(b.term, b.m)
	b.term.Mul(b.term, big.NewInt(1<<b.log-k+1))
	b.term.Quo(b.term, new(big.Int).Mul(b.n, big.NewInt(k)))
	b.push(new(big.Int).Add(b.sums[k-1], b.term))
}

// draw returns an exact variate: the k with F(k−1) ≤ U < F(k), the digits of the uniform U drawn 64 at a time until
// that is decided.
func (b *binomial) draw(s *Sampler) int {
	u := []uint64{s.bits.Uint64()}
	for k := 0; k < 1<<b.log; k++ {
		if k == len(b.sums) {
			b.extend()
		}
		if u[0] < b.first[k] || u[0] == b.first[k] && b.below(s, &u, k) {
			return k
		}
	}
	return 1 << b.log
}

// below reports whether U < F(k) where the first words are the same.
func (b *binomial) below(s *Sampler, u *[]uint64, k int) bool {
	for i := 1; 64*uint(i) < b.places; i++ {
		if i == len(*u) {
			*u = append(*u, s.bits.Uint64())
		}
		if w := b.word(b.sums[k], i); w != (*u)[i] {
			return (*u)[i] < w
		}
	}
	return false // F(k) has no digits left: U is not less
}

// subset appends the members among 0 … n−1: of each block their number, then as many different places in it, drawn
// again if one came before.
func (b *binomial) subset(dst []int, s *Sampler, n int) []int {
	for at := 0; at < n; at += 1 << b.log {
		from := len(dst)
		for left := b.draw(s); left > 0; {
			v := at + int(s.take(b.log))
			// Into its place among those of the block, from the top.
			i := len(dst)
			for i > from && dst[i-1] > v {
				i--
			}
			if i > from && dst[i-1] == v {
				continue
			}
			dst = append(dst, 0)
			copy(dst[i+1:], dst[i:])
			dst[i] = v
			left--
		}
		for len(dst) > from && dst[len(dst)-1] >= n {
			dst = dst[:len(dst)-1]
		}
	}
	return dst
}
