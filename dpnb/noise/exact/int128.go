package exact

import (
	"math"
	"math/bits"
)

// int128 is hi·2⁶⁴ + lo.
type int128 struct {
	hi int64
	lo uint64
}

func (a int128) add(b int128) int128 {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	return int128{a.hi + b.hi + int64(carry), lo}
}

func (a int128) negate() int128 {
	lo, borrow := bits.Sub64(0, a.lo, 0)
	return int128{-a.hi - int64(borrow), lo}
}

// power returns 2^n, 0 ≤ n ≤ 126.
func power(n int) int128 {
	if n >= 64 {
		return int128{1 << (n - 64), 0}
	}
	return int128{0, 1 << n}
}

// high returns ⌊a/2^n⌋, 64 ≤ n ≤ 127.
func (a int128) high(n int) int64 { return a.hi >> (n - 64) }

// fixed returns ⌊x·2^n⌋ for |x| < 1, n ≤ 125, and whether x·2^n is no integer.
func fixed(x float64, n int) (v int128, inexact bool) {
	m, e := dyadic(math.Abs(x))
	switch shift := e + n; {
	case m == 0:
	case shift >= 64:
		v = int128{m << (shift - 64), 0}
	case shift > 0:
		v = int128{int64(uint64(m) >> (64 - shift)), uint64(m) << shift}
	case shift > -64:
		v.lo = uint64(m) >> -shift
		inexact = v.lo<<-shift != uint64(m)
	default:
		inexact = true
	}
	if x < 0 {
		if v = v.negate(); inexact {
			v = v.add(int128{-1, math.MaxUint64})
		}
	}
	return v, inexact
}
