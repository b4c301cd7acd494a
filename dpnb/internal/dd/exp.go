package dd

import "math"

// ExpError bounds the relative error of Exp where the result is not below 2⁻⁹⁶⁰, and ExpUnderflow the absolute one
// everywhere (for results of at most 1).
const (
	ExpError     = 0x1p-98
	ExpUnderflow = 0x1p-1020
)

// ln2 in three parts; products of the first two with |k| ≤ 2¹¹ are exact.
const (
	ln2a = 0x1.62e42fefa38p-1
	ln2b = 0x1.ef35793c76p-45
	ln2c = 0x1.cc01f97b57a08p-87
)

// factorials holds 1/k! for k = 2 … 6.
var factorials = [...]Number{
	{0.5, 0},
	{0x1.5555555555555p-3, 0x1.5555555555555p-57},
	{0x1.5555555555555p-5, 0x1.5555555555555p-59},
	{0x1.1111111111111p-7, 0x1.1111111111111p-63},
	{0x1.6c16c16c16c17p-10, -0x1.f49f49f49f49fp-65},
}

// Exp returns eˣ to ExpError; 0 for x < −708, +Inf for x > 709, NaN for NaN.
//
// x = k·ln 2 + r, |r| ≤ 0.3467, errs by 7u² (three sums of 2u² of at most 0.7, and ln 2 itself by 2⁻¹⁴⁰k). With z =
// r/256 the Taylor polynomial of degree 10 of m = e^z − 1 lacks less than 2⁻¹²⁰m, its terms from z⁷ on, below 2⁻⁶⁹m,
// need no more than float64, and Horner's rule errs by less than 10u²m in the end. m ← m(2 + m) makes e^{2z} − 1 of e^z
// − 1; eight times of it multiply the relative error by at most r eʳ/(eʳ − 1) ≤ 1.19 and add 8u² each: |m| ≤ 0.415 errs
// by 1.19·74u², 1 + m ≥ 0.706 by 41u², relatively 58u², and eˣ by 65u² < 2⁻⁹⁹.
func Exp(x Number) Number {
	switch {
	case math.IsNaN(x.Hi):
		return x
	case x.Hi < -708:
		return Number{}
	case x.Hi > 709:
		return Number{math.Inf(1), 0}
	}
	k := math.RoundToEven(x.Hi * (1 / math.Ln2))
	r := x.AddFloat(float64(-k * ln2a)).AddFloat(float64(-k * ln2b)).AddFloat(float64(-k * ln2c))
	z := r.Scale(0x1p-8)
	low := float64(1.0/3628800*z.Hi) + 1.0/362880
	low = float64(low*z.Hi) + 1.0/40320
	low = float64(low*z.Hi) + 1.0/5040
	p := factorials[4].AddFloat(float64(low * z.Hi))
	for i := 3; i >= 0; i-- {
		p = p.Mul(z).Add(factorials[i])
	}
	m := p.Mul(z).Mul(z).Add(z)
	for range 8 {
		m = m.Scale(2).Add(m.Mul(m))
	}
	m = m.AddFloat(1)
	// −1021 ≤ k ≤ 1023: e^{−708} is a normal number, and 2^k is one, too.
	return m.Scale(math.Float64frombits(uint64(int64(k)+1023) << 52))
}
