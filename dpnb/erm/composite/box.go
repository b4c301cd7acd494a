package composite

import "math"

// Box is C = {θ : loⱼ ≤ θⱼ ≤ hiⱼ}.
type Box struct {
	// Lower and Upper are the bounds, each of length d, or of length 1 for the same bound everywhere; nil is no bound.
	// Single bounds may be ∓Inf.
	Lower, Upper []float64
}

// NewBox returns [−κ, κ]ᵈ.
func NewBox(kappa float64) Box { return Box{Lower: []float64{-kappa}, Upper: []float64{kappa}} }

// Name returns "box".
func (Box) Name() string { return "box" }

// Validate checks that the bounds are for d coordinates and leave room.
func (c Box) Validate(d int) error {
	for _, b := range [][]float64{c.Lower, c.Upper} {
		if len(b) > 1 && len(b) != d {
			return dataError("the box has %d bounds, want 1 or d = %d", len(b), d)
		}
	}
	for j := range d {
		lo, hi := c.bounds(j)
		if !(lo <= hi) || math.IsInf(lo, 1) || math.IsInf(hi, -1) {
			return dataError("the box is empty: coordinate %d is to lie in [%v, %v]", j, lo, hi)
		}
	}
	return nil
}

func (c Box) bounds(j int) (lo, hi float64) {
	return boundAt(c.Lower, j, math.Inf(-1)), boundAt(c.Upper, j, math.Inf(1))
}

func boundAt(b []float64, j int, none float64) float64 {
	switch len(b) {
	case 0:
		return none
	case 1:
		return b[0]
	default:
		return b[j]
	}
}

// Contains implements Constraint.
func (c Box) Contains(theta []float64) bool {
	for j, x := range theta {
		if lo, hi := c.bounds(j); !(lo <= x && x <= hi) {
			return false
		}
	}
	return true
}

// Project cuts each coordinate.
func (c Box) Project(dst, v []float64) {
	if len(c.Lower) == 1 && len(c.Upper) == 1 {
		lo, hi := c.Lower[0], c.Upper[0]
		for j, x := range v {
			dst[j] = cut(x, lo, hi)
		}
		return
	}
	for j, x := range v {
		lo, hi := c.bounds(j)
		dst[j] = cut(x, lo, hi)
	}
}

// Nearest keeps vⱼ where it points out of the box at a bound, and is 0 elsewhere.
func (c Box) Nearest(dst, v, theta []float64) {
	for j, x := range theta {
		lo, hi := c.bounds(j)
		switch {
		case x <= lo && v[j] < 0, x >= hi && v[j] > 0:
			dst[j] = v[j]
		default:
			dst[j] = 0
		}
	}
}

// Gap is Σ max(vⱼ(loⱼ−θⱼ), vⱼ(hiⱼ−θⱼ)); where there is no bound vⱼ is moved to 0.
func (c Box) Gap(v, theta []float64) (slack, rounding float64) {
	var gap float64
	for j, x := range theta {
		lo, hi := c.bounds(j)
		if v[j] < 0 && math.IsInf(lo, -1) || v[j] > 0 && math.IsInf(hi, 1) {
			v[j] = 0
		}
		switch {
		case v[j] < 0:
			gap += v[j] * (lo - x)
		case v[j] > 0:
			gap += v[j] * (hi - x)
		}
	}
	return up(gap, len(v)), 0
}
