package exact

import "math/big"

// Isotropic is a vector of density proportional to exp(−‖z‖₂): Γ·N/‖N‖, Γ the sum
// of d exponential and N a vector of d normal variates. It may be used once.
type Isotropic struct {
	s                 *Sampler
	direction, length []variate
	used              bool
}

// IsotropicLaplace draws the first digits of such a vector of d coordinates.
func (s *Sampler) IsotropicLaplace(d int) *Isotropic {
	return &Isotropic{s: s, direction: s.Normals(d).variates, length: s.noise(d, (*Sampler).exponential).variates}
}

// AddRounded replaces each θ of dst by k·grid, k the integer next to the real
// number (θ + scale·zⱼ)/grid: see Noise.AddRounded, also for what panics.
//
// With every variate known to p binary digits, integers bound ‖N‖ from below and
// above, then Γ·Nⱼ/‖N‖, then the sum; if an interval is not inside one cell, a
// digit more of every variate is drawn.
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

// round is true if so many digits decide every cell; out then has the results.
func (n *Isotropic) round(out, dst []float64, r *rounder, digits int) bool {
	one := big.NewInt(1)
	lower := make([]*big.Int, len(dst)) // |N| in units of 2^−p, and below lower + 1
	least, largest := new(big.Int), new(big.Int)
	gamma := new(big.Int)
	square := new(big.Int)
	upper := new(big.Int)
	for j := range dst {
		lower[j] = n.s.cut(&n.direction[j], digits)
		least.Add(least, square.Mul(lower[j], lower[j]))
		upper.Add(lower[j], one)
		largest.Add(largest, square.Mul(upper, upper))
		gamma.Add(gamma, n.s.cut(&n.length[j], digits))
	}
	if least.Sign() == 0 {
		return len(dst) == 0
	}
	least.Sqrt(least)
	largest.Add(largest.Sqrt(largest), one)
	gammaAbove := new(big.Int).Add(gamma, big.NewInt(int64(len(dst))))
	significand := new(big.Int).SetUint64(r.significand)
	gamma.Mul(gamma, significand)
	gammaAbove.Mul(gammaAbove, significand)
	// In units of 2^unit, scale·Γ·|N|/‖N‖ is strictly between the quotients.
	unit := r.exponent - digits*int(n.s.width)
	if r.grid <= unit {
		return false
	}
	for j, theta := range dst {
		lo := new(big.Int).Mul(gamma, lower[j])
		lo.Quo(lo, largest)
		hi := new(big.Int).Add(lower[j], one)
		hi.Mul(hi, gammaAbove)
		hi.Add(hi.Quo(hi, least), one)
		if n.direction[j].negative {
			lo, hi = hi.Neg(hi), lo.Neg(lo)
		}
		at, inexact := floor(finite(theta), unit)
		lo.Add(lo, at)
		if hi.Add(hi, at); inexact {
			hi.Add(hi, one)
		}
		k, ok := cell(lo, hi, uint(r.grid-unit))
		if !ok {
			return false
		}
		out[j] = r.multiple(k)
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
