package objective

import (
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/internal/logspace"
)

// The add direction at ε ≥ 0. In units of σ, for one sign of γ > 0 the reward is ∫ M(u(γ), γ)dγ with c = γ/2 − ε/γ and
//
//	M(u, γ) = φ(c)                             for u ≥ c,
//	M(u, γ) = φ(u)[(1 + k)e^{−γ(c−u)} − k]₊      for u < c,  k = λ/S̄(γ),
//
// which does not fall with u. So for one-signed losses the worst case is the Gaussian mechanism's, and for two-signed
// ones, where the other sign wants u small, it is the best of the paths that fall at full speed all the way: one
// number, where γ = 0 is crossed, is all that is left to choose.

// addHalf is one sign of γ, reflected to γ > 0.
type addHalf struct {
	eps, shift float64
	cells      []cell
	// below[j] is how much less u is at the big end of cell j than at γ = 0.
	below []float64
	flat  []float64 // scaled ∫ φ(c)dγ, rounded up
	low   []float64 // the same, rounded down
	// known are values that were asked for.
	known map[float64][2]float64
}

func (p *problem) newAddHalf(eps, shift float64, cells []cell) *addHalf {
	h := &addHalf{eps: eps, shift: shift, cells: cells, known: map[float64][2]float64{}}
	gauss := gaussBounds(eps)
	origin := p.curve.Clock(0)
	sl, sh := gauss(0)
	for j := range cells {
		c := &cells[j]
		end := c.top
		if c.neg {
			end = c.bottom
		}
		h.below = append(h.below, p.lambda*math.Abs(p.curve.Clock(end)-origin)/p.sigma)
		bl, bh := gauss(c.big) // a cell begins where the one before it ends
		h.flat = append(h.flat, (math.Exp(bh+shift)-math.Exp(sl+shift))*(1+1e-12))
		h.low = append(h.low, max(0, (math.Exp(bl+shift)-math.Exp(sh+shift))*(1-1e-12)))
		sl, sh = bl, bh
	}
	return h
}

// travel is what crossing cell j takes.
func (h *addHalf) travel(j int) float64 {
	if j == 0 {
		return h.below[0]
	}
	return h.below[j] - h.below[j-1]
}

// value returns bounds on the scaled reward of the path that crosses γ = 0 at u. cells are in the order of rising γ.
func (h *addHalf) value(u float64) (lower, upper float64) {
	v, ok := h.known[u]
	if !ok {
		v[0], v[1] = h.compute(u)
		h.known[u] = v
	}
	return v[0], v[1]
}

func (h *addHalf) compute(u float64) (lower, upper float64) {
	for j := range h.cells {
		c := &h.cells[j]
		u0, d := u-h.below[j], h.travel(j)
		cBig := c.big/2 - h.eps/c.big
		if math.IsInf(h.below[j], 1) {
			upper += h.flat[j]
			continue
		}
		if math.IsInf(u, -1) {
			continue
		}
		if u0 >= cBig {
			upper += h.flat[j]
			lower += h.low[j]
			continue
		}
		l, up := h.line(c, u0, d)
		upper += min(up, h.flat[j])
		lower += min(l, h.low[j])
	}
	return lower * (1 - 1e-12), upper * (1 + 1e-12)
}

// line bounds the credit of one cell whose path runs from u0 at big to u0 + d at small and begins below the edge.
func (h *addHalf) line(c *cell, u0, d float64) (lower, upper float64) {
	u1 := u0 + d
	// E = ε + γu − γ²/2 = −γ(c − u); its extremes over the box.
	exp := func(g, u float64) float64 { return h.eps + g*(u-0.5*g) }
	eLow := min(exp(c.small, u0), exp(c.big, u0))
	at := max(c.small, min(u1, c.big))
	eHigh := exp(at, u1)
	if eHigh <= 0 && eLow >= -math.Log1p(1/c.kHigh) {
		x, hu := u0+0.5*d, 0.5*d
		mid, hz := 0.5*(c.small+c.big), 0.5*(d+c.width())
		q, e, ok := stretch(x, hu)
		qz, ez, okz := stretch(x-mid, hz)
		if ok && okz {
			ratio := math.Exp(exp(mid, x))
			a, b := 2*hz*ratio*qz, 2*hu*q
			err := 2*hz*ratio*ez + 2*hu*e + 1e-14*(1+h.eps)*(a+b)
			s := scaledPDF(x, h.shift)
			return s * max(0, a-b-err), s * max(0, a-b+err)
		}
	}
	eHigh = min(0, eHigh)
	rest := (1+c.kLow)*math.Exp(eHigh) - c.kLow
	if rest <= 0 {
		return 0, 0
	}
	near := max(u0, min(0, u1))
	return 0, c.width() * scaledPDF(near, h.shift) * rest * (1 + 1e-11)
}

// addAt returns bounds on ln δ_add(ε), ε ≥ 0.
func (g *grids) addAt(eps float64) (logLower, logUpper float64) {
	lo, hi := g.curve.Range()
	gauss := gaussBounds(eps)
	lowUp, highUp := math.Inf(-1), math.Inf(-1)
	logLower = math.Inf(-1)
	for i, L := range []float64{hi / g.sigma, -lo / g.sigma} {
		if L == 0 {
			continue
		}
		l, u := gauss(L)
		logLower = max(logLower, l)
		if i == 0 {
			highUp = u
		} else {
			lowUp = u
		}
	}
	logUpper = min(0, logspace.Add(lowUp, highUp)+1e-15)
	if OneSigned(g.curve) || math.IsInf(logUpper, -1) {
		return logLower, logUpper
	}
	// Both signs in full, if there is room to fall from one edge to the other.
	high, low := hi/g.sigma, -lo/g.sigma
	room := -(high/2 - eps/high) - (low/2 - eps/low)
	if need := g.lambda * (g.curve.Clock(hi) - g.curve.Clock(lo)) / g.sigma; need < room*(1-1e-9) {
		l1, _ := gauss(high)
		l2, _ := gauss(low)
		return logspace.Add(l1, l2) - 1e-15, logUpper
	}
	shift := -logUpper
	lower, upper := math.Exp(logLower+shift), math.Inf(1)
	level := addLevel
	if g.tolerance > 0 {
		level = 2 // and from there on, where that is not fine enough
	}
	for ; level <= addLevel && upper > lower*(1+g.tol()); level++ {
		pos, neg := g.halves(eps, shift, level)
		low, up := g.bestCrossing(pos, neg, lower, level == addLevel)
		lower, upper = low, min(up, upper)
	}
	slack := 1e-11 + 4e-15*math.Abs(logUpper)
	if lower > 0 {
		logLower = max(logLower, math.Log(lower)-shift-slack)
	}
	logUpper = min(logUpper, math.Log(upper)-shift+slack)
	return logLower, max(logLower, logUpper)
}

// halves returns the two signs of γ on a grid of cells, each from γ = 0 up.
func (g *grids) halves(eps, shift float64, level int) (pos, neg *addHalf) {
	cells := g.level(1)
	for l := 2; l <= level && 2*len(cells) <= maxAddCells; l++ {
		cells = g.level(l)
	}
	var up, down []cell
	for _, c := range cells {
		if c.neg {
			down = append(down, c)
		} else {
			up = append(up, c)
		}
	}
	slices.Reverse(up)
	pos = g.newAddHalf(eps, shift, up)
	if g.even() {
		return pos, pos
	}
	return pos, g.newAddHalf(eps, shift, down)
}

// maxCrossings bounds the points that bestCrossing tries; what is then known is returned.
const maxCrossings = 1500

// addLevel is the level of refinement of the add direction's cells, the finest that a look of less tolerance comes to.
const addLevel = 7

// maxAddCells is about how many cells it has at most.
const maxAddCells = 6000

// bestCrossing encloses the best, over u, of pos(u) + neg(−u), at least known.
// pos does not fall with u and neg(−u) does not rise, so on an interval their sum is at most pos at its right end plus
// neg at its left one. Where the cells are too coarse for the tolerance, as the best point shows, it stops there,
// unless there are none finer.
func (g *grids) bestCrossing(pos, neg *addHalf, known float64, finest bool) (lower, upper float64) {
	type point struct{ u, pLow, pUp, nLow, nUp float64 }
	points, gap := 0, 0.0
	eval := func(u float64) point {
		points++
		pt := point{u: u}
		pt.pLow, pt.pUp = pos.value(u)
		pt.nLow, pt.nUp = neg.value(-u)
		if low := pt.pLow + pt.nLow; low > known {
			known, gap = low, pt.pUp+pt.nUp-low
		}
		return pt
	}
	reach := 0.0
	for _, h := range []*addHalf{pos, neg} {
		for j := range h.cells {
			if !math.IsInf(h.below[j], 1) {
				c := &h.cells[j]
				reach = max(reach, max(0, c.big/2-h.eps/c.big)+h.below[j])
			}
		}
	}
	reach = min(reach, 60) + 1
	type interval struct{ a, b point }
	list := []interval{{eval(math.Inf(-1)), eval(-reach)}, {eval(reach), eval(math.Inf(1))}}
	const first = 64
	prev := list[0].b
	for i := 1; i <= first; i++ {
		next := list[1].a
		if i < first {
			next = eval(reach * (2*float64(i)/first - 1))
		}
		list = append(list, interval{prev, next})
		prev = next
	}
	closed := 0.0
	for depth := 0; ; depth++ {
		var open []interval
		upper = max(known, closed)
		for _, in := range list {
			if up := in.b.pUp + in.a.nUp; up > known*(1+0.9*g.tol()) {
				open = append(open, in)
				upper = max(upper, up)
			} else {
				closed = max(closed, up)
				upper = max(upper, up)
			}
		}
		if len(open) == 0 || depth == 14 || points > maxCrossings || !finest && gap > 0.9*g.tol()*known {
			return known, upper
		}
		list = list[:0]
		for _, in := range open {
			if math.IsInf(in.a.u, 0) || math.IsInf(in.b.u, 0) {
				list = append(list, in)
				continue
			}
			mid := eval(0.5 * (in.a.u + in.b.u))
			list = append(list, interval{in.a, mid}, interval{mid, in.b})
		}
	}
}
