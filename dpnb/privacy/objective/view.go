package objective

import "math"

// view is a cell at one ε ≥ 0: what the credits of the tiles over it need.
type view struct {
	*cell
	cBig, cSmall float64 // edges at big (the smaller one) and small
	peakAt       float64 // u⋆ at big
	peak         float64 // scaled sup_u M at big
	rises        bool    // M(·, big) only rises up to the edge
	flat         float64 // scaled ∫ φ(c)dγ over the cell, rounded up
	mHigh        float64 // sup of m over the cell
	logKeep      float64 // ln(1 + 1/kHigh): where E is below, the rate is positive
	limit        float64 // scaled upper bound on ∫ sup_u M dγ over the cell
}

// newView prepares c, of which p is known. logGauss(γ) returns bounds on ln δ_G(ε; γ).
func newView(c *cell, p peak, shift float64, logGauss func(float64) (lo, hi float64)) view {
	v := view{cell: c, cBig: p.cBig, cSmall: p.cSmall}
	v.peak, v.peakAt = math.Exp(p.logRate+shift), p.at
	v.rises = p.at >= v.cBig
	_, hi := logGauss(c.big)
	lo, _ := logGauss(c.small)
	v.flat = math.Exp(hi+shift) - math.Exp(lo+shift)
	v.limit = math.Exp(p.logMost+shift) * (1 + 1e-11)
	if v.cSmall <= v.small*v.kLow*(1-1e-9) {
		// c falls and m is at least that: the rate only rises, up to φ(c).
		v.limit = min(v.limit, v.flat)
	}
	v.mHigh = c.big * c.kHigh
	if !math.IsInf(c.kHigh, 1) {
		v.logKeep = math.Log1p(1 / c.kHigh)
	}
	return v
}

// exponent returns E(γ, u) = ε − γ²/2 − γu, which is γ(c − u).
func exponent(eps, gamma, u float64) float64 { return eps - gamma*(0.5*gamma+u) }

// scaledPDF returns e^shift·φ(u).
func scaledPDF(u, shift float64) float64 { return math.Exp(logPDF(u) + shift) }

// rateAt returns e^shift·M(u, big) with λ/S̄ = kLow.
func (v *view) rateAt(eps, shift, u float64) float64 {
	if u >= v.cBig {
		return scaledPDF(v.cBig, shift)
	}
	rest := 1 - v.kLow*math.Expm1(exponent(eps, v.big, u))
	if rest <= 0 {
		return 0
	}
	return scaledPDF(u, shift) * rest
}

// sup returns an upper bound on e^shift·M(u, γ) over u in [ua, ub], γ in the cell. For u ≥ −γ and c ≥ 0 the rate rises
// with γ and falls with λ/S̄, so the worst is at big and kLow, and in u it has one peak. Elsewhere its factors are
// bounded one by one.
func (v *view) sup(eps, shift, ua, ub float64) float64 {
	if ub < ua {
		return 0
	}
	if v.cBig < 0 {
		return v.crude(eps, shift, ua, ub)
	}
	best := 0.0
	if ua < -v.small {
		best = v.crude(eps, shift, ua, min(ub, -v.small))
		ua = -v.small
		if ub < ua {
			return best
		}
	}
	switch {
	case v.rises || ub <= v.peakAt:
		best = max(best, v.rateAt(eps, shift, ub))
	case ua >= v.peakAt:
		best = max(best, v.rateAt(eps, shift, ua))
	default:
		best = max(best, v.peak)
	}
	return best * (1 + 1e-11)
}

// most returns an upper bound on e^shift·∫ M dγ over the cell of paths within [ua, ub].
func (v *view) most(eps, shift, ua, ub float64) float64 {
	return min(v.limit, v.width()*v.sup(eps, shift, ua, ub))
}

// crude bounds the rate by the product of the bounds of its factors.
func (v *view) crude(eps, shift, ua, ub float64) float64 {
	best := 0.0
	if ub >= v.cBig {
		c := max(v.cBig, min(0, min(v.cSmall, ub)))
		best = scaledPDF(c, shift)
	}
	if ua < v.cSmall {
		u := min(ub, v.cSmall)
		// E is concave in γ and falls with u: its least value is at an end of the cell and at the largest u.
		e := max(0, min(exponent(eps, v.small, u), exponent(eps, v.big, u)))
		if rest := 1 - v.kLow*math.Expm1(e); rest > 0 {
			best = max(best, scaledPDF(max(ua, min(0, u)), shift)*rest)
		}
	}
	return best * (1 + 1e-11)
}

// line returns an upper bound on e^shift·∫ M dγ along the full-speed path that is at u0 at big and at u0 + d at small.
// exact says that it is one up to rounding; otherwise it is the cell's width times a supremum. level says that the path
// is on the flat part of the rate throughout.
func (v *view) line(eps, shift, u0, d float64) (credit, err float64, exact, level bool) {
	if u0 >= v.cSmall {
		return v.flat, 0, true, true
	}
	u1 := u0 + d
	// E falls with u and is concave in γ: it is least at u1 and an end of the cell.
	if least := min(exponent(eps, v.small, u1), exponent(eps, v.big, u1)); least >= 0 {
		g := max(v.small, min(-u0, v.big))
		if exponent(eps, g, u0) <= v.logKeep {
			// Positive all along: the reward is φ(u)du − e^ε φ(z)dz.
			x, h := 0.5*(u0+u1), 0.5*d
			mid := 0.5 * (v.small + v.big)
			hz := max(0, h-0.5*v.width())
			q, e, ok := stretch(x, h)
			qz, ez, okz := stretch(x+mid, hz)
			if ok && okz {
				ratio := math.Exp(exponent(eps, mid, x))
				a, b := 2*h*q, 2*hz*ratio*qz
				err := 2*h*e + 2*hz*ratio*ez + 1e-15*(a+b)
				scale := scaledPDF(x, shift)
				return scale * max(0, a-b+err), 2 * scale * err, true, false
			}
		}
	}
	return v.most(eps, shift, u0, u1), 0, false, false
}

// bend returns, for two neighbouring full-speed paths h apart in u, the most by which the rate can exceed its linear
// interpolation between them: h²/8 times the largest −∂²M/∂u² plus h/4 times the largest downward jump of ∂M/∂u. ua and
// ub are the ends of the tile between the two. See section 6 of the proof.
func (v *view) bend(eps, shift, ua, ub, h float64) float64 {
	if math.IsInf(v.mHigh, 1) {
		return math.Inf(1)
	}
	out := 0.0
	if ua < v.cSmall {
		hi := min(ub, v.cSmall)
		near := max(ua, min(0, hi)) // the least |u|
		curve := max(0, 1-near*near) + max(0, 2*hi+v.big)*(v.mHigh+v.big)
		out = scaledPDF(near, shift) * curve * h * h / 8
	}
	if ub >= v.cBig && ua <= v.cSmall {
		lo, hi := max(v.cBig, ua), min(v.cSmall, ub)
		at := max(lo, min(0, hi))
		out += scaledPDF(at, shift) * max(0, v.mHigh-lo) * h / 4
	}
	return out * (1 + 1e-11)
}

// turn returns a bound on ∫ min(D⁺, D⁻) per unit of γ, D the difference of the rates on two full-speed paths h apart in
// u, over the tile [ua, ub] that has both: what a path gains at most by changing from one to the other where the
// difference changes sign. There
//
//	∂M/∂u = φ(u)[m e^E − u·(1 − k(e^E − 1))]  (0 ≤ E ≤ ln(1 + 1/k)), or 0,
//
// with 1 − k(e^E − 1) in [0, 1] and m e^E ≤ m + γ.
func (v *view) turn(eps, shift, ua, ub, h float64) float64 {
	hi := min(ub, v.cSmall)
	if ua >= hi || math.IsInf(v.kHigh, 1) {
		return 0
	}
	eLow := max(0, min(exponent(eps, v.small, hi), exponent(eps, v.big, hi)))
	g := max(v.small, min(-ua, v.big))
	eHigh := max(eLow, exponent(eps, g, ua))
	grow := v.mHigh + v.big
	if eHigh < 1 {
		grow = min(grow, v.mHigh*math.Exp(eHigh))
	}
	restLow := max(0, 1-v.kHigh*math.Expm1(min(eHigh, 1)))
	if eHigh >= 1 {
		restLow = 0
	}
	restHigh := max(0, 1-v.kLow*math.Expm1(eLow))
	rise, fall := grow, restHigh*max(0, hi)-v.small*v.kLow // where u < 0 the rate only rises
	if ua >= 0 {
		rise -= restLow * ua
	} else {
		rise -= restHigh * ua
	}
	near := max(ua, min(0, hi))
	return scaledPDF(near, shift) * h * max(0, min(rise, fall)) * (1 + 1e-11)
}
