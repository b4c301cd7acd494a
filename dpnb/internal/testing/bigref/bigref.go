// Package bigref has the functions that privacy bounds rest on to some hundred binary digits, from series of its own
// over math/big. It is for tests: a bound that was computed in float64 is held against what it bounds, whatever the
// cancellation in between.
//
// Every function returns a new number of prec bits and leaves its arguments alone. The relative error of a result is
// below 2^−(prec−40) unless its comment says otherwise.
package bigref

import (
	"math"
	"math/big"
)

// prec is the precision of results in bits.
const prec = 512

// work is the precision of what is computed on the way.
const work = prec + 64

// F is a number; its zero value is not ready for use, see New.
type F = *big.Float

func blank() F { return new(big.Float).SetPrec(work) }

// New returns the number that x is, exactly.
func New(x float64) F { return blank().SetFloat64(x) }

// Int returns n.
func Int(n int64) F { return blank().SetInt64(n) }

// Sum returns the sum of its arguments.
func Sum(xs ...F) F {
	s := blank()
	for _, x := range xs {
		s.Add(s, x)
	}
	return s
}

// Sub returns a − b.
func Sub(a, b F) F { return blank().Sub(a, b) }

// Product returns the product of its arguments.
func Product(xs ...F) F {
	p := Int(1)
	for _, x := range xs {
		p.Mul(p, x)
	}
	return p
}

// Quo returns a/b.
func Quo(a, b F) F { return blank().Quo(a, b) }

// Neg returns −a.
func Neg(a F) F { return blank().Neg(a) }

// Sqrt returns √a.
func Sqrt(a F) F { return blank().Sqrt(a) }

// small reports whether |a| < 2^exponent.
func small(a F, exponent int) bool { return a.Sign() == 0 || a.MantExp(nil) <= exponent }

// negligible reports whether adding term to sum no longer changes it.
func negligible(term, sum F) bool {
	return term.Sign() == 0 || term.MantExp(nil) < sum.MantExp(nil)-work-2
}

// Expm1 returns e^x − 1 with its relative precision at every x.
func Expm1(x F) F {
	if small(x, -12) {
		// x + x²/2! + …
		sum, term := Sum(x), Sum(x)
		for n := int64(2); !negligible(term, sum); n++ {
			term = Quo(Product(term, x), Int(n))
			sum = Sum(sum, term)
		}
		return sum
	}
	return Sub(Exp(x), Int(1))
}

// Exp returns e^x for x up to 1e9, and 0 below −1e9.
func Exp(x F) F {
	if x.Cmp(Int(-1e9)) < 0 {
		return Int(0)
	}
	// x = k·ln 2 + r; e^r = (e^{r/2^20})^{2^20}, the last by squaring e^y − 1.
	kf, _ := Quo(x, ln2).Float64()
	k := math.Round(kf)
	r := Sub(x, Product(New(k), ln2))
	const halvings = 20
	y := Expm1(blank().SetMantExp(r, -halvings))
	for range halvings {
		y = Sum(y, y, Product(y, y)) // (1 + y)² − 1
	}
	return blank().SetMantExp(Sum(Int(1), y), int(k))
}

// Log1p returns ln(1 + x) with its relative precision at every x > −1.
func Log1p(x F) F {
	if small(x, -5) {
		// 2 artanh(x/(2 + x))
		return twiceArtanh(Quo(x, Sum(x, Int(2))))
	}
	return Log(Sum(Int(1), x))
}

// Log returns ln x, x > 0.
func Log(x F) F {
	m := blank()
	e := x.MantExp(m) // x = m·2^e, ½ ≤ m < 1
	if f, _ := m.Float64(); f < math.Sqrt2/2 {
		m.SetMantExp(m, 1)
		e--
	}
	if d := Sub(m, Int(1)); small(d, -5) {
		return Sum(Product(Int(int64(e)), ln2), twiceArtanh(Quo(d, Sum(m, Int(1)))))
	}
	// Halley's iteration y ← y + 2(m − e^y)/(m + e^y) triples the digits.
	f, _ := m.Float64()
	y := New(math.Log(f))
	for range 3 {
		v := Exp(y)
		y = Sum(y, Quo(Product(Int(2), Sub(m, v)), Sum(m, v)))
	}
	return Sum(Product(Int(int64(e)), ln2), y)
}

// twiceArtanh returns 2(z + z³/3 + z⁵/5 + …).
func twiceArtanh(z F) F {
	square, sum, power := Product(z, z), Sum(z), Sum(z)
	for n := int64(3); ; n += 2 {
		power = Product(power, square)
		term := Quo(power, Int(n))
		if negligible(term, sum) {
			return Sum(sum, sum)
		}
		sum = Sum(sum, term)
	}
}

// ln2 = 2 artanh(1/3).
var ln2 = twiceArtanh(Quo(Int(1), Int(3)))

// pi is Machin's 16 arctan(1/5) − 4 arctan(1/239).
var pi = Sub(Product(Int(16), arctanInverse(5)), Product(Int(4), arctanInverse(239)))

func arctanInverse(n int64) F {
	power := Quo(Int(1), Int(n))
	square, sum := Neg(Product(power, power)), Sum(power)
	for k := int64(3); ; k += 2 {
		power = Product(power, square)
		term := Quo(power, Int(k))
		if negligible(term, sum) {
			return sum
		}
		sum = Sum(sum, term)
	}
}

// Pi returns π.
func Pi() F { return Sum(pi) }

// Float returns the float64 nearest to x; ±Inf and 0 beyond its range.
func Float(x F) float64 { f, _ := x.Float64(); return f }

// Above reports whether the float64 bound is at least x, and Below whether it is at most that. A 2^−400 part of x is
// left for the error of x itself.
func Above(bound float64, x F) bool {
	return math.IsInf(bound, 1) || !math.IsInf(bound, -1) && Sub(New(bound), x).Cmp(Neg(room(x))) >= 0
}

// Below is the mirror image of Above.
func Below(bound float64, x F) bool {
	return math.IsInf(bound, -1) || !math.IsInf(bound, 1) && Sub(New(bound), x).Cmp(room(x)) <= 0
}

func room(x F) F {
	r := blank().Abs(x)
	return r.SetMantExp(r, -400)
}
