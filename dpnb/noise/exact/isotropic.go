package exact

import (
	"math"
	"math/big"
)

// Isotropic is a vector of density proportional to exp(−‖z‖₂): Γ·N/‖N‖, Γ the sum of d exponential and N a vector of d
// normal variates. It may be used once.
type Isotropic struct {
	s                 *Sampler
	direction, length []variate
	used              bool
}

// IsotropicLaplace draws the first digits of such a vector of d coordinates.
func (s *Sampler) IsotropicLaplace(d int) *Isotropic {
	return &Isotropic{s: s, direction: s.Normals(d).variates, length: s.noise(d, (*Sampler).exponential).variates}
}

// AddRounded replaces each θ of dst by k·grid, k the integer next to the real number (θ + scale·zⱼ)/grid: see
// Noise.AddRounded, also for what panics.
//
// With every variate known to p binary digits, integers bound ‖N‖ from below and above, then Γ·Nⱼ/‖N‖, then the sum; if
// an interval is not inside one cell, a digit more of every variate is drawn.
func (n *Isotropic) AddRounded(dst []float64, scale, grid float64) {
	checkGrid(scale, grid)
	if len(dst) != len(n.direction) || n.used {
		panic("exact: noise of another length, or used before")
	}
	n.used = true
	r := newRounder(scale, grid)
	out := make([]float64, len(dst))
	digits := (64 + int(n.s.width) - 1) / int(n.s.width)
	for !n.round(out, dst, &r, digits) {
		digits++
	}
	copy(dst, out)
}

// known is what is known of Γ·N/‖N‖ with every variate cut after so many digits: Γ, |Nⱼ| and ‖N‖ are between integers
// times 2^−bits.
type known struct {
	lower                  []*big.Int // |Nⱼ|, and below lower + 1
	least, largest         *big.Int   // ‖N‖
	gamma, gammaAbove, one *big.Int
	bits                   int
}

// know returns what so many digits say, and false if ‖N‖ may still be 0.
func (n *Isotropic) know(digits int) (k known, ok bool) {
	k = known{lower: make([]*big.Int, len(n.direction)), least: new(big.Int), largest: new(big.Int),
		gamma: new(big.Int),
		one:   big.NewInt(1), bits: digits * int(n.s.width)}
	square, upper := new(big.Int), new(big.Int)
	for j := range k.lower {
		k.lower[j] = n.s.cut(&n.direction[j], digits)
		k.least.Add(k.least, square.Mul(k.lower[j], k.lower[j]))
		upper.Add(k.lower[j], k.one)
		k.largest.Add(k.largest, square.Mul(upper, upper))
		k.gamma.Add(k.gamma, n.s.cut(&n.length[j], digits))
	}
	if k.least.Sign() == 0 {
		return k, false
	}
	k.least.Sqrt(k.least)
	k.largest.Add(k.largest.Sqrt(k.largest), k.one)
	k.gammaAbove = new(big.Int).Add(k.gamma, big.NewInt(int64(len(k.lower))))
	return k, true
}

// between returns integers with factor·Γ·|Nⱼ|/‖N‖·2^bits strictly between them, or at lo.
func (k *known) between(j int, factor *big.Int) (lo, hi *big.Int) {
	lo = new(big.Int).Mul(k.gamma, factor)
	lo.Quo(lo.Mul(lo, k.lower[j]), k.largest)
	hi = new(big.Int).Mul(k.gammaAbove, factor)
	hi.Mul(hi, new(big.Int).Add(k.lower[j], k.one))
	return lo, hi.Add(hi.Quo(hi, k.least), k.one)
}

// Fill fills dst with float64 next to scale·z, z the vector of n, and returns a bound on the distance, rounded up:
//
//	‖dst − scale·z‖₂ ≤ eta ≤ 4u‖dst‖₂ + scale·√d·2⁻⁶⁰ + √d·2⁻¹⁰⁷⁰,  u = 2⁻⁵³.
//
// Digits are drawn until every coordinate is known to 2⁻⁶¹; to convert and to multiply rounds by u each. It panics
// unless dst has n's length, n was not used, the scale is valid.
func (n *Isotropic) Fill(dst []float64, scale float64) (eta float64) {
	checkScale(scale)
	if len(dst) != len(n.direction) || n.used {
		panic("exact: noise of another length, or used before")
	}
	n.used = true
	one := big.NewInt(1)
	digits := (64 + int(n.s.width) - 1) / int(n.s.width)
	for !n.near(dst, scale, digits, one) {
		digits++
	}
	var square float64
	for _, b := range dst {
		square += b / scale * (b / scale)
	}
	d := float64(len(dst))
	return (4*0x1p-53*scale*math.Sqrt(square) + scale*math.Sqrt(d)*0x1p-60 + math.Sqrt(d)*0x1p-1070) *
		(1 + (d+8)*0x1p-52)
}

// near is true if so many digits tell every coordinate to 2⁻⁶¹; dst then has them.
func (n *Isotropic) near(dst []float64, scale float64, digits int, one *big.Int) bool {
	k, ok := n.know(digits)
	if !ok {
		return len(dst) == 0
	}
	for j := range dst {
		lo, hi := k.between(j, one)
		if new(big.Int).Sub(hi, lo).BitLen() > k.bits-61 {
			return false
		}
		f := new(big.Float).SetInt(lo)
		z, _ := f.SetMantExp(f, -k.bits).Float64()
		if dst[j] = scale * z; n.direction[j].negative {
			dst[j] = -dst[j]
		}
	}
	return true
}

// round is true if so many digits decide every cell; out then has the results.
func (n *Isotropic) round(out, dst []float64, r *rounder, digits int) bool {
	k, ok := n.know(digits)
	if !ok {
		return len(dst) == 0
	}
	significand := new(big.Int).SetUint64(r.significand)
	unit := r.exponent - k.bits
	if r.grid <= unit {
		return false
	}
	for j, theta := range dst {
		lo, hi := k.between(j, significand)
		if n.direction[j].negative {
			lo, hi = hi.Neg(hi), lo.Neg(lo)
		}
		at, inexact := floor(finite(theta), unit)
		lo.Add(lo, at)
		if hi.Add(hi, at); inexact {
			hi.Add(hi, k.one)
		}
		at, ok = cell(lo, hi, uint(r.grid-unit))
		if !ok {
			return false
		}
		out[j] = r.multiple(at)
	}
	return true
}

// floor returns ⌊x/2^unit⌋ of a finite x, and whether x is no multiple of 2^unit.
func floor(x float64, unit int) (v *big.Int, inexact bool) {
	m, e := dyadic(x)
	v = big.NewInt(m)
	if e >= unit {
		return v.Lsh(v, uint(e-unit)), false
	}
	back := new(big.Int).Set(v)
	v.Rsh(v, uint(unit-e))
	return v, new(big.Int).Lsh(v, uint(unit-e)).Cmp(back) != 0
}
