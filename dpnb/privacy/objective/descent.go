package objective

import "math"

// A descent is an admissible path of γ against u: from the top of the range down the cells in order, each crossed at
// full speed, and in between γ held. Its reward is a lower bound on δ_remove(ε), with nothing interpolated.

// tally adds up scaled rewards and a bound on the error of the sum.
type tally struct {
	sum, err float64
}

func (t *tally) add(v, e float64) {
	if v-e > 0 && !math.IsInf(v, 1) {
		t.sum += v
		t.err += e
	}
}

// hold adds ∫_{u0}^{u1} [φ(u) − e^ε φ(u + γ)]₊ du, γ in units of σ and signed.
func (t *tally) hold(eps, shift, gamma, u0, u1 float64) {
	if gamma == 0 {
		return
	}
	c := eps/gamma - gamma/2
	if gamma > 0 {
		u0 = math.Max(u0, c)
	} else {
		u1 = math.Min(u1, c)
	}
	if u0 < u1 {
		t.pair(eps, shift, u0, u1, u1-u0, gamma, gamma)
	}
}

// pair adds ∫_{u0}^{u0+d} φ(u)du − e^ε ∫_{u0+g0}^{u1+g1} φ(z)dz if positive; d = u1 − u0 is given by itself because it
// may be far smaller than u0.
func (t *tally) pair(eps, shift, u0, u1, d, g0, g1 float64) {
	x, h := u0+0.5*d, 0.5*d
	mid, hz := 0.5*(g0+g1), h-0.5*(g0-g1)
	if q, e, ok := stretch(x, h); ok && hz >= 0 {
		if qz, ez, okz := stretch(x+mid, hz); okz {
			// The two densities share φ(x), so that its rounding cancels.
			ex := exponent(eps, mid, x)
			ratio := math.Exp(ex)
			scale := scaledPDF(x, shift)
			a, b := 2*h*q, 2*hz*ratio*qz
			round := 1e-15 * (1 + math.Abs(eps) + math.Abs(mid)*(math.Abs(mid)+math.Abs(x)))
			t.add(scale*(a-b), scale*(2*h*e+2*hz*ratio*ez+round*(a+b)))
			return
		}
	}
	a, ea := normalMass(u0, u1, shift)
	b, eb := normalMass(u0+g0, u1+g1, shift+eps)
	// What the exponents lose to rounding.
	near := math.Max(0, math.Max(u0, -u1))
	round := 2e-15 * (near*near + math.Abs(shift) + math.Abs(eps))
	t.add(a-b, ea+eb+round*(a+b))
}

// descentReward returns a lower bound on e^shift times the reward of the path that begins to cross cells[j] at u =
// at[j], if that cell is neither beyond last nor one that cannot be crossed (then γ is held for ever, or the path
// starts below it). at must be such that at[j+1] ≥ at[j] + travel; smaller values are raised.
func (p *problem) descentReward(eps, shift float64, cells []cell, at []float64, last int) float64 {
	var t tally
	u := math.Inf(-1)
	slop := clockSlop(cells)
	for j := range cells {
		c := &cells[j]
		d := c.travel() + slop
		if math.IsInf(c.clockTop, -1) {
			continue // S̄ vanishes at the top: start below it
		}
		if j > last || math.IsInf(d, 1) {
			t.hold(eps, shift, c.top/p.sigma, u, math.Inf(1))
			return math.Max(0, (t.sum-t.err)*(1-1e-12))
		}
		from := math.Max(u, at[j])
		t.hold(eps, shift, c.top/p.sigma, u, from)
		t.pair(eps, shift, from, from+d, d, c.top/p.sigma, c.bottom/p.sigma)
		u = from + d
	}
	t.hold(eps, shift, cells[len(cells)-1].bottom/p.sigma, u, math.Inf(1))
	return math.Max(0, (t.sum-t.err)*(1-1e-12))
}

// passable reports whether a path can cross the cell.
func (c *cell) passable() bool {
	return !math.IsInf(c.clockTop, 0) && !math.IsInf(c.clockBottom, 0)
}

// clockSlop bounds the rounding of a difference of clocks.
func clockSlop(cells []cell) float64 {
	top := 0.0
	for i := range cells {
		if cells[i].passable() {
			top = math.Max(top, math.Max(math.Abs(cells[i].clockTop), math.Abs(cells[i].clockBottom)))
		}
	}
	return 4e-13 * top
}

// greedy returns a lower bound on e^shift·δ_remove(ε) from paths that follow, as far as they can, the peak of the rate
// at each γ.
func (p *problem) greedy(eps, shift float64, cells []cell) float64 {
	at := make([]float64, len(cells))
	for j := range cells {
		c := &cells[j]
		at[j] = math.Inf(-1)
		if !c.passable() {
			continue
		}
		mid := 0.5 * (c.small + c.big)
		k := p.lambda / p.curve.SBar(0.5*(c.top+c.bottom))
		_, peak := peakRate(mid, k, edge(eps, mid))
		if c.neg {
			peak = -peak
		}
		at[j] = peak - 0.5*c.travel()
	}
	return p.descentReward(eps, shift, cells, at, len(cells))
}
