package exact

import (
	"math/big"
	"slices"
)

// WideNear draws from b what FillNormal of as many entries draws from it, and returns the exact vector that its result
// is next to, with so many digits of 64 bits of each variate; those that FillNormal does not look at come from later.
func WideNear(b, later Bits, d int, sigma float64, digits int, prec uint) []*big.Float {
	s, wide := New(b), make([]*big.Float, d)
	for j := range wide {
		v := s.normal()
		s.fraction64(&v)
		v.fraction.rest = slices.Clone(v.fraction.rest)
		x := new(big.Float).SetPrec(prec).SetInt(New(later).cut(&v, digits))
		x.SetMantExp(x, -64*digits)
		if v.negative {
			x.Neg(x)
		}
		wide[j] = x.Mul(x, new(big.Float).SetFloat64(sigma))
	}
	return wide
}
