package exact

import (
	"math"
	"math/big"
	"math/bits"
)

// Noise is a vector of independent variates, of which so far only those digits are known that decided what they are. It
// may be used once, for one sum; Redraw makes it another.
type Noise struct {
	s        *Sampler
	draw     func(*Sampler) variate
	variates []variate
	used     bool
}

// Normals draws the first digits of d independent N(0, 1) variates.
func (s *Sampler) Normals(d int) *Noise { return s.noise(d, (*Sampler).normal) }

// Laplaces draws the first digits of d independent variates of density e^{−|x|}/2.
func (s *Sampler) Laplaces(d int) *Noise { return s.noise(d, (*Sampler).laplace) }

func (s *Sampler) noise(d int, draw func(*Sampler) variate) *Noise {
	n := &Noise{s: s, draw: draw, variates: make([]variate, d)}
	n.Redraw()
	return n
}

// Redraw replaces the noise by a fresh vector of the same law and length.
func (n *Noise) Redraw() {
	for j := range n.variates {
		n.variates[j] = n.draw(n.s)
	}
	n.used = false
}

// AddRounded is Normals(len(dst)).AddRounded(dst, sigma, grid).
func (s *Sampler) AddRounded(dst []float64, sigma, grid float64) {
	s.Normals(len(dst)).AddRounded(dst, sigma, grid)
}

// FillNormal fills dst with float64 next to exact N(0, sigma²) variates: with b* = σN the real vector,
//
//	‖dst − b*‖₂ ≤ eta = 4u‖dst‖₂ + σ√d·2⁻⁶⁴,  u = 2⁻⁵³,
//
// surely, and eta is rounded up. Each is σ(k + x) with x cut after 64 binary digits; to convert, to add and to multiply
// rounds by u each. It panics unless sigma is valid.
func (s *Sampler) FillNormal(dst []float64, sigma float64) (eta float64) {
	checkScale(sigma)
	var square float64
	for j := range dst {
		v := s.normal()
		b := sigma * (float64(v.whole) + float64(s.fraction64(&v))*0x1p-64)
		square += b * b
		if v.negative {
			b = -b
		}
		dst[j] = b
	}
	d := float64(len(dst))
	return (4*0x1p-53*math.Sqrt(square) + sigma*math.Sqrt(d)*0x1p-64) * (1 + (d+8)*0x1p-52)
}

// AddRounded replaces each θ of dst by k·grid, k the integer next to the real number (θ + scale·v)/grid, v the variate
// of n in its place. Of a k beyond 2⁵³ it gives the float64 that is next to k·grid. A θ that is not finite counts as 0.
//
// It panics unless n has as many variates as dst entries and was not used before, the scale is valid and the grid is
// too (validGrid).
func (n *Noise) AddRounded(dst []float64, scale, grid float64) {
	checkGrid(scale, grid)
	if len(dst) != len(n.variates) || n.used {
		panic("exact: noise of another length, or used before")
	}
	n.used = true
	r := newRounder(scale, grid)
	for j, theta := range dst {
		if k, ok := r.fast(theta, n.s, &n.variates[j]); ok {
			dst[j] = float64(k) * grid
		} else {
			dst[j] = r.exactly(theta, n.s, &n.variates[j])
		}
	}
}

// rounder adds scale times a variate to a number and rounds the sum to the grid.
type rounder struct {
	// The scale is significand·2^exponent with 53 bits; the grid is 2^grid.
	significand    uint64
	exponent, grid int
}

func newRounder(scale, grid float64) rounder {
	m, e := dyadic(scale)
	_, g := math.Frexp(grid)
	return rounder{uint64(m), e, g - 1}
}

// dyadic returns x = m·2^e, |m| < 2⁵³, x finite.
func dyadic(x float64) (m int64, e int) {
	f, e := math.Frexp(x)
	return int64(f * 0x1p53), e - 53
}

// fast rounds by what the first digit of v, of 64 bits, says; ok is false if that does not decide or if the numbers are
// too far from each other in size.
//
// In units of 2^(exponent − 64) the noise is known to be in the open interval from a to a + significand, an integer of
// less than 127 bits.
func (r *rounder) fast(theta float64, s *Sampler, v *variate) (k int64, ok bool) {
	unit := r.exponent - 64
	step := r.grid - unit // the grid is 2^step units
	if s.width != 64 || step < 64 || step > 125 || v.whole >= 1<<9 || !(math.Abs(theta) <= 0x1p500) || theta != 0 &&
		math.Abs(theta) < 0x1p-500 {
		return 0, false
	}
	t := math.Ldexp(theta, -r.grid)
	if math.Abs(t) >= 1<<61 {
		return 0, false
	}
	whole, part := math.Modf(t)
	lo, inexact := fixed(part, step)
	// significand·(whole·2⁶⁴ + fraction)
	h1, l1 := bits.Mul64(r.significand, s.at(&v.fraction, 0))
	a := int128{int64(h1 + r.significand*v.whole), l1}
	if v.negative {
		a = a.add(int128{0, r.significand}).negate()
	}
	lo = lo.add(a).add(power(step - 1))
	hi := lo.add(int128{0, r.significand - 1})
	if inexact {
		hi = hi.add(int128{0, 1})
	}
	k, k2 := lo.high(step), hi.high(step)
	return int64(whole) + k, k == k2
}

// exactly rounds as fast does, with as many digits as it takes and with numbers of any size, and returns the multiple
// of the grid.
func (r *rounder) exactly(theta float64, s *Sampler, v *variate) float64 {
	m, e := dyadic(finite(theta))
	for digits := 1; ; digits++ {
		unit := r.exponent - int(s.width)*digits
		least := min(unit, e, r.grid-1)
		scale := new(big.Int).Lsh(new(big.Int).SetUint64(r.significand), uint(unit-least))
		lo := s.cut(v, digits)
		hi := new(big.Int).Add(lo, big.NewInt(1))
		lo.Mul(lo, scale)
		hi.Mul(hi, scale)
		if v.negative {
			lo, hi = hi.Neg(hi), lo.Neg(lo)
		}
		at := new(big.Int).Lsh(big.NewInt(m), uint(e-least))
		if k, ok := cell(lo.Add(lo, at), hi.Add(hi, at), uint(r.grid-least)); ok {
			return r.multiple(k)
		}
	}
}

func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}

// cell returns the k with the open interval from lo to hi inside that from (k − ½)2^step to (k + ½)2^step; ok is false
// if there is none. step ≥ 1. It overwrites lo and hi.
func cell(lo, hi *big.Int, step uint) (k *big.Int, ok bool) {
	half := new(big.Int).Lsh(big.NewInt(1), step-1)
	lo.Rsh(lo.Add(lo, half), step) // Rsh rounds down, also below 0
	hi.Rsh(hi.Sub(hi.Add(hi, half), big.NewInt(1)), step)
	return lo, lo.Cmp(hi) == 0
}

// multiple returns the finite float64 that is next to k times the grid.
func (r *rounder) multiple(k *big.Int) float64 {
	f := new(big.Float).SetInt(k)
	x, _ := f.SetMantExp(f, r.grid).Float64()
	return max(-math.MaxFloat64, min(math.MaxFloat64, x))
}
