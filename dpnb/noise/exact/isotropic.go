package exact

import "math/big"

// Isotropic is a vector of density proportional to exp(−‖z‖₂): Γ·N/‖N‖, Γ the sum
// of d exponential and N a vector of d normal variates. It may be used once.
type Isotropic struct {
	s         *Sampler
	direction []variate
	length    []variate
}

// IsotropicLaplace draws the first digits of such a vector of d coordinates.
func (s *Sampler) IsotropicLaplace(d int) *Isotropic {
	return &Isotropic{s, s.noise(d, s.normal).variates, s.noise(d, s.exponential).variates}
}

// AddRounded replaces each θ of dst by k·grid, k the integer next to the real
// number (θ + scale·zⱼ)/grid, cut to |k| ≤ 2⁵³. A θ that is no number counts as 0,
// an infinite one is cut.
//
// With every variate known to p binary digits, integers bound ‖N‖ from below and
// above, then Γ·Nⱼ/‖N‖, then the sum; if an interval is not inside one cell, a
// digit more of every variate is drawn. It panics as Noise.AddRounded does.
func (n *Isotropic) AddRounded(dst []float64, scale, grid float64) {
	checkGrid(scale, grid)
	if len(dst) != len(n.direction) {
		panic("exact: noise of another length")
	}
	r := newRounder(scale, grid)
	k := make([]int64, len(dst))
	for digits := (64 + int(n.s.width) - 1) / int(n.s.width); ; digits++ {
		if n.round(k, dst, &r, digits) {
			break
		}
	}
	for j := range dst {
		dst[j] = float64(k[j]) * grid
	}
	n.direction, n.length = nil, nil
}

// round is true if so many digits decide every cell; k then has them.
func (n *Isotropic) round(k []int64, dst []float64, r *rounder, digits int) bool {
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
		at, inexact, finite := floor(theta, unit)
		if !finite {
			k[j] = clampBig(at)
			continue
		}
		lo.Add(lo, at)
		if hi.Add(hi, at); inexact {
			hi.Add(hi, one)
		}
		var ok bool
		if k[j], ok = cell(lo, hi, uint(r.grid-unit)); !ok {
			return false
		}
	}
	return true
}

// floor returns ⌊x/2^unit⌋ and whether x is no multiple of 2^unit; finite is false
// for an infinite x, with a number of its sign that is larger than any. A number
// that is none counts as 0.
func floor(x float64, unit int) (v *big.Int, inexact, finite bool) {
	switch {
	case x != x:
		return new(big.Int), false, true
	case x > 0 && x == 2*x:
		return new(big.Int).Lsh(big.NewInt(1), 99), false, false
	case x < 0 && x == 2*x:
		return new(big.Int).Lsh(big.NewInt(-1), 99), false, false
	}
	m, e := dyadic(x)
	v = big.NewInt(m)
	if e >= unit {
		return v.Lsh(v, uint(e-unit)), false, true
	}
	back := new(big.Int).Set(v)
	v.Rsh(v, uint(unit-e))
	return v, new(big.Int).Lsh(v, uint(unit-e)).Cmp(back) != 0, true
}
