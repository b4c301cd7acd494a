package objective

import (
	"cmp"
	"math"
	"slices"
)

// newLattice sets up the nodes of a level within the tube of the coarser one. known is the scaled value already
// certified.
func (g *grids) newLattice(eps, shift, known float64, level, side int, tube []span) *lattice {
	cells := g.level(level)
	h := math.Ldexp(0.5, -level)
	l := &lattice{slop: clockSlop(cells)}
	zero, pad := g.clock(0), l.slop*float64(len(cells)+1)
	gauss := gaussBounds(eps)
	// Beyond |u| = far a path has nothing to gain that matters.
	far := math.Sqrt(2 * math.Max(1, shift-math.Log(1e-7*math.Max(known, 1e-300))))
	var limits, windows []span
	l.keep = make([]int, len(cells))
	peaks, dropped := l.drop(eps, shift, known, cells)
	for i := range cells {
		if dropped[i] {
			l.keep[i] = -1
			continue
		}
		l.keep[i] = len(l.cells)
		c := &cells[i]
		l.cells = append(l.cells, newView(c, peaks[i], shift, gauss))
		windows = append(windows, c.window(eps, far, h))
		l.beyond += c.width() * scaledPDF(far, shift) * (1 + 1e-11)
		if tube == nil {
			s := span{math.Inf(-1), math.Inf(1)}
			if side != 0 && c.neg == (side > 0) {
				// γ = 0 is crossed at u ≥ 0, or at u ≤ 0.
				if c.neg {
					s.lo = -zero - pad
				} else {
					s.hi = -zero + pad
				}
			}
			limits = append(limits, s)
		} else {
			limits = append(limits, tube[c.parent])
		}
	}
	// v does not fall from cell to cell, so neither do its limits.
	m := len(limits)
	for j := 1; j < m; j++ {
		limits[j].lo = math.Max(limits[j].lo, limits[j-1].lo)
	}
	for j := m - 2; j >= 0; j-- {
		limits[j].hi = math.Min(limits[j].hi, limits[j+1].hi)
	}
	l.windows = slices.Clone(windows)
	// Nor do the windows' once they are made not to: a path that is raised to the one, or lowered to the other, loses
	// no more than l.beyond.
	for j := m - 2; j >= 0; j-- {
		windows[j].lo = math.Min(windows[j].lo, windows[j+1].lo)
	}
	for j := 1; j < m; j++ {
		windows[j].hi = math.Max(windows[j].hi, windows[j-1].hi)
	}
	for j, w := range windows {
		limits[j].lo = math.Max(limits[j].lo, w.lo)
		limits[j].hi = math.Max(limits[j].lo, math.Min(limits[j].hi, w.hi))
	}
	l.place(limits, h)
	l.from, l.to = make([]int, m), make([]int, m)
	for j, s := range limits {
		l.from[j] = l.below(s.lo)
		l.to[j] = max(l.from[j], l.above(s.hi))
	}
	return l
}

// place chooses the nodes: h apart where a cell's rate varies, further apart where only cells vary that a path crosses
// slowly, and none where nothing does.
func (l *lattice) place(limits []span, h float64) {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, s := range limits {
		lo, hi = math.Min(lo, s.lo), math.Max(hi, s.hi)
	}
	n := min(maxBins, max(1, int(math.Ceil((hi-lo)/h))))
	bin := (hi - lo) / float64(n)
	spacing := make([]float64, n)
	want := func(from, to, s float64) {
		last := min(n-1, int((to-lo)/bin))
		for b := max(0, min(n-1, int((from-lo)/bin))); b <= last; b++ {
			if spacing[b] == 0 || s < spacing[b] {
				spacing[b] = s
			}
		}
	}
	for j, w := range l.windows {
		s := math.Max(h, 0.125*l.cells[j].travel())
		want(math.Max(w.lo, limits[j].lo), math.Min(w.hi, limits[j].hi), s)
		// A limit must not be taken for a node that is far beyond it.
		want(limits[j].lo, limits[j].lo, h)
		want(limits[j].hi, limits[j].hi, h)
	}
	l.v = append(l.v, lo)
	at := lo
	step := func(to, s float64) {
		for to-at >= s*(1-1e-9) {
			at += (to - at) / math.Floor((to-at)/s*(1+1e-9))
			l.v = append(l.v, at)
		}
	}
	for b, s := range spacing {
		if s == 0 {
			continue
		}
		begin, end := lo+bin*float64(b), lo+bin*float64(b+1)
		if b > 0 && spacing[b-1] == 0 && begin > at {
			l.v, at = append(l.v, begin), begin
		}
		step(end, s)
		if b+1 < n && spacing[b+1] == 0 && end > at {
			l.v, at = append(l.v, end), end
		}
	}
	if hi > at {
		l.v = append(l.v, hi)
	}
	l.last = len(l.v) - 1
}

// maxBins bounds the pieces of the range of v that have a spacing of their own.
const maxBins = 4096

// window returns the v between which the rate varies on the cell: on either side it is constant at each γ, or |u| >
// far. h is room to spare.
func (c *cell) window(eps, far, h float64) span {
	// The rate vanishes where E ≥ ln(1 + 1/k).
	keep := math.Log1p(1 / c.kLow)
	floor := math.Min(edge(eps-keep, c.big), edgeOrInf(eps-keep, c.small))
	floor = math.Min(math.Max(floor, -far), far) - h
	ceil := math.Max(floor, math.Min(edge(eps, c.small), far)+h)
	if c.neg {
		return span{-ceil - c.clockBottom, -floor - c.clockTop}
	}
	return span{floor - c.clockBottom, ceil - c.clockTop}
}

// drop says which cells are left out of the lattice, with their credit, as if each were crossed where the rate is at
// its peak, added once and for all: those that no path can cross, and those too poor to matter.
func (l *lattice) drop(eps, shift, known float64, cells []cell) (peaks []peak, dropped []bool) {
	peaks, dropped = make([]peak, len(cells)), make([]bool, len(cells))
	credit := make([]float64, len(cells))
	order := make([]int, len(cells))
	for i := range cells {
		peaks[i] = cells[i].peak(eps)
		credit[i] = math.Exp(peaks[i].logMost+shift) * (1 + 1e-11)
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(credit[a], credit[b]) })
	sum := 0.0
	for _, i := range order {
		if sum += credit[i]; sum <= dropShare*known || !cells[i].passable() {
			dropped[i] = true
			l.fixed += credit[i]
		}
	}
	return peaks, dropped
}

func edgeOrInf(eps, gamma float64) float64 {
	if gamma == 0 {
		if eps < 0 {
			return math.Inf(-1)
		}
		return math.Inf(1)
	}
	return edge(eps, gamma)
}
