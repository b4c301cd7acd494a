package bigref

import (
	"math/big"
	"sync"
)

// PDF returns φ(x).
func PDF(x F) F {
	half := blank().SetMantExp(Product(x, x), -1)
	return Quo(Exp(Neg(half)), Sqrt(Product(Int(2), pi)))
}

// Survival returns Φ̄(x) = P(N(0, 1) > x).
func Survival(x F) F {
	if x.Sign() < 0 {
		return Sub(Int(1), Survival(Neg(x)))
	}
	if x.Cmp(Int(5)) >= 0 {
		return Product(PDF(x), Mills(x))
	}
	// ½ − φ(x) Σ x^{2n+1}/(1·3·…·(2n+1))
	term, sum, square := Sum(x), Sum(x), Product(x, x)
	for n := int64(3); !negligible(term, sum); n += 2 {
		term = Quo(Product(term, square), Int(n))
		sum = Sum(sum, term)
	}
	return Sub(New(0.5), Product(PDF(x), sum))
}

// Mills returns R(x) = Φ̄(x)/φ(x).
func Mills(x F) F {
	if x.Cmp(Int(5)) < 0 {
		return Quo(Survival(x), PDF(x))
	}
	// 1/(x + 1/(x + 2/(x + 3/(x + …)))), whose error falls like exp(−2x√n).
	f := Float(x)
	n := int64(60 + (210/f)*(210/f))
	r := Sum(x)
	for k := n; k >= 1; k-- {
		r = Sum(x, Quo(Int(k), r))
	}
	return Quo(Int(1), r)
}

// GaussianDelta returns δ(ε) of the Gaussian pair at distance μ > 0,
//
//	φ(x)[R(x) − R(x + μ)], x = ε/μ − μ/2,
//
// for ε < 0 by 1 − e^ε + e^ε δ(−ε). The difference leaves prec − 60 + 2 log₂ μ bits for x up to 1, and as many fewer as
// log₂ x beyond.
func GaussianDelta(eps, mu F) F {
	if eps.Sign() < 0 {
		return Sum(Neg(Expm1(eps)), Product(Exp(eps), GaussianDelta(Neg(eps), mu)))
	}
	half := blank().SetMantExp(mu, -1)
	x := Sub(Quo(eps, mu), half)
	y := Sum(x, mu)
	if x.Cmp(Int(-5)) < 0 {
		return Sub(Survival(x), Product(PDF(x), Mills(y)))
	}
	return Product(PDF(x), Sub(Mills(x), Mills(y)))
}

// LogGamma returns ln Γ(n/2) for a whole n ≥ 1, by the recurrence up to 160 and Stirling's series beyond.
func LogGamma(twice int64) F {
	product := Int(1)
	x := Quo(Int(twice), Int(2))
	for x.Cmp(Int(160)) < 0 {
		product = Product(product, x)
		x = Sum(x, Int(1))
	}
	// (x − ½) ln x − x + ½ ln 2π + Σ B_{2k}/(2k(2k−1)x^{2k−1})
	sum := Sum(Product(Sub(x, New(0.5)), Log(x)), Neg(x), Product(New(0.5), Log(Product(Int(2), pi))))
	power, square := Quo(Int(1), x), Product(x, x)
	for k, b := range bernoulli() {
		n := int64(2 * (k + 1))
		sum = Sum(sum, Quo(Product(b, power), Int(n*(n-1))))
		power = Quo(power, square)
	}
	return Sub(sum, Log(product))
}

// bernoulli has B₂, B₄, … B₁₂₀: with x ≥ 160 what is left of Stirling's series is below 1e−160.
var bernoulli = sync.OnceValue(func() []F { return bernoulliNumbers(120) })

func bernoulliNumbers(most int) []F {
	// The triangle of Akiyama and Tanigawa, in fractions.
	row := make([]*big.Rat, most+1)
	var out []F
	for m := 0; m <= most; m++ {
		row[m] = big.NewRat(1, int64(m+1))
		for j := m; j >= 1; j-- {
			row[j-1] = new(big.Rat).Sub(row[j-1], row[j])
			row[j-1].Mul(row[j-1], big.NewRat(int64(j), 1))
		}
		if m >= 2 && m%2 == 0 {
			out = append(out, blank().SetRat(row[0]))
		}
	}
	return out
}

// LowerGamma returns γ(p, x) = x^p e^{−x} Σ x^k/(p(p+1)…(p+k)), p = twice/2 and x > 0, as its logarithm.
func LowerGamma(twice int64, x F) F {
	p := Quo(Int(twice), Int(2))
	term := Quo(Int(1), p)
	sum := Sum(term)
	for at := Sum(p, Int(1)); !negligible(term, sum); at = Sum(at, Int(1)) {
		term = Quo(Product(term, x), at)
		sum = Sum(sum, term)
	}
	return Sum(Product(p, Log(x)), Neg(x), Log(sum))
}
