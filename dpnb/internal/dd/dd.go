// Package dd is double-double arithmetic: a number is the unevaluated sum of two float64, which together hold some 106
// bits.
//
// Bounds on relative errors, with u = 2⁻⁵³ and no under- or overflow, are those of Joldes, Muller and Popescu 2017
// (Tight and rigorous error bounds for basic building blocks of double-word arithmetic, ACM TOMS 44(2)) and, for the
// root, Lefèvre, Louvet, Muller, Picot and Rideau 2023 (ACM TOMS 49(1)). Where a product is below 2⁻⁹⁶⁹ its error term
// may underflow, by at most 2⁻¹⁰⁷⁴. None of it depends on whether the compiler fuses products with sums.
package dd

import "math"

// Number is Hi + Lo, normalised: Hi is the float64 next to the sum.
type Number struct{ Hi, Lo float64 }

// From returns x.
func From(x float64) Number { return Number{Hi: x} }

// Float returns the float64 next to a.
func (a Number) Float() float64 { return a.Hi }

// TwoSum returns s + e = a + b exactly, s the rounded sum.
func TwoSum(a, b float64) (s, e float64) {
	s = a + b
	bb := s - a
	return s, (a - (s - bb)) + (b - bb)
}

// quickTwoSum is TwoSum for |a| ≥ |b| or a = 0.
func quickTwoSum(a, b float64) Number {
	s := a + b
	return Number{s, b - (s - a)}
}

// TwoProd returns p + e = a·b exactly, p the rounded product.
func TwoProd(a, b float64) (p, e float64) {
	p = float64(a * b) // not to be fused with what follows
	return p, math.FMA(a, b, -p)
}

// Sum returns a + b, exactly.
func Sum(a, b float64) Number {
	s, e := TwoSum(a, b)
	return Number{s, e}
}

// Neg returns −a.
func (a Number) Neg() Number { return Number{-a.Hi, -a.Lo} }

// Scale returns s·a for a power of two s, exactly, and for s = ±1.
func (a Number) Scale(s float64) Number { return Number{s * a.Hi, s * a.Lo} }

// Less reports whether a < b.
func (a Number) Less(b Number) bool { return a.Hi < b.Hi || a.Hi == b.Hi && a.Lo < b.Lo }

// Add returns a + b, to 3u² + 13u³.
func (a Number) Add(b Number) Number {
	s, e := TwoSum(a.Hi, b.Hi)
	t, f := TwoSum(a.Lo, b.Lo)
	v := quickTwoSum(s, e+t)
	return quickTwoSum(v.Hi, f+v.Lo)
}

// AddFloat returns a + b, to 2u².
func (a Number) AddFloat(b float64) Number {
	s, e := TwoSum(a.Hi, b)
	return quickTwoSum(s, a.Lo+e)
}

// Mul returns a·b, to 5u².
func (a Number) Mul(b Number) Number {
	p, e := TwoProd(a.Hi, b.Hi)
	t := math.FMA(a.Hi, b.Lo, float64(a.Lo*b.Lo))
	return quickTwoSum(p, e+math.FMA(a.Lo, b.Hi, t))
}

// MulFloat returns a·b, to 2u².
func (a Number) MulFloat(b float64) Number {
	p, e := TwoProd(a.Hi, b)
	return quickTwoSum(p, math.FMA(a.Lo, b, e))
}

// Div returns a/b, to 15u² + 56u³.
func (a Number) Div(b Number) Number {
	q := a.Hi / b.Hi
	r := b.MulFloat(q)
	d := (a.Hi - r.Hi) + (a.Lo - r.Lo)
	return quickTwoSum(q, d/b.Hi)
}

// Sqrt returns √a for a ≥ 0, to 4u².
func (a Number) Sqrt() Number {
	if a.Hi <= 0 {
		return Number{}
	}
	s := math.Sqrt(a.Hi)
	r := a.Lo + math.FMA(-s, s, a.Hi)
	return quickTwoSum(s, r/(2*s))
}

// Vector is a vector of numbers, their parts side by side.
type Vector struct{ Hi, Lo []float64 }

// NewVector returns a vector of n zeros.
func NewVector(n int) Vector {
	v := make([]float64, 2*n)
	return Vector{v[:n:n], v[n:]}
}

// At returns entry j.
func (v Vector) At(j int) Number { return Number{v.Hi[j], v.Lo[j]} }

// Set makes x entry j.
func (v Vector) Set(j int, x Number) { v.Hi[j], v.Lo[j] = x.Hi, x.Lo }

// Copy makes v equal to w.
func (v Vector) Copy(w Vector) {
	copy(v.Hi, w.Hi)
	copy(v.Lo, w.Lo)
}
