package objpert

import (
	"math"
	"sync"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// tightTolerance is the relative gap between the certified values of Tight at
// which refinement stops.
const tightTolerance = 0.004

// pruneShare is the part of the tolerance below which paths are not refined.
const pruneShare = 0.8

// maxEvaluations bounds the nodes of one call; what is then known is returned.
const maxEvaluations = 6_000_000

// grids caches the cells of each level of refinement.
type grids struct {
	*problem
	mu     sync.Mutex
	levels [][]cell
}

// level returns the cells of a level, those of level ℓ+1 being pieces of those
// of level ℓ.
func (g *grids) level(l int) []cell {
	g.mu.Lock()
	defer g.mu.Unlock()
	for len(g.levels) <= l {
		n := len(g.levels)
		var from []cell
		if n == 0 {
			from = g.start(4)
		} else {
			from = append(from, g.levels[n-1]...)
		}
		for i := range from {
			from[i].parent = i
		}
		g.levels = append(g.levels, g.refine(from, n))
	}
	return g.levels[l]
}

// refine splits cells until each takes at most 0.8/2^l of u to cross and spans
// at most 1/2^(l+3) of the range, or is so small that it does not matter.
func (g *grids) refine(cells []cell, l int) []cell {
	lo, hi := g.curve.Range()
	a := (hi - lo) / g.sigma
	scale := math.Ldexp(1, -l)
	var out []cell
	var visit func(c cell)
	visit = func(c cell) {
		small := c.width() <= a*scale/8
		switch {
		case !c.passable():
			small = small && c.width() <= a*math.Ldexp(1, -18)
		case c.travel() > 0.8*scale:
			small = small && c.width() <= a*scale*math.Ldexp(1, -10)
		}
		if small || !(c.bottom < 0.5*(c.bottom+c.top) && 0.5*(c.bottom+c.top) < c.top) {
			out = append(out, c)
			return
		}
		upper, lower := g.split(&c)
		visit(upper)
		visit(lower)
	}
	for _, c := range cells {
		visit(c)
	}
	return out
}

// removeAt returns bounds on ln δ_remove(ε), ε ≥ 0, with no use of the Gaussian
// case.
func (g *grids) removeAt(eps float64) (logLower, logUpper float64) {
	L := Slope(g.curve) / g.sigma
	gauss := gaussBounds(eps)
	logLower, _ = gauss(L)
	quad := g.integral(eps, 1e-3, 3000)
	logUpper = quad.logUpper
	shift := -logUpper
	slack := 1e-11 + 4e-15*math.Abs(logUpper)
	raise := func(scaled float64) {
		if scaled > 0 {
			logLower = math.Max(logLower, math.Log(scaled)-shift-slack)
		}
	}
	raise(g.greedy(eps, shift, quad.cells))
	done := func() bool { return logUpper <= logLower+tightTolerance }
	if done() || math.IsInf(logUpper, -1) {
		return logLower, math.Min(0, logUpper)
	}
	var tube []span
	spent := 0
	for level := 1; level < 13 && spent < maxEvaluations; level++ {
		l := g.newLattice(eps, shift, math.Exp(logLower+shift), level, tube)
		if l.size()+spent > maxEvaluations {
			break
		}
		if debug { println("level", level, "cells", len(l.cells), "last", l.last, "size", l.size(), "spent", spent) }
		best := l.sweep(eps, shift) + l.fixed
		spent += l.evaluations
		cells := g.level(level)
		raise(g.descentAlong(eps, shift, l))
		logUpper = math.Min(logUpper, math.Max(math.Log(best)-shift+slack, logLower))
		if debug { println(" best", best, "lower", math.Exp(logLower+shift), "fixed", l.fixed) }
		if done() {
			break
		}
		target := math.Exp(logLower+shift) * (1 + pruneShare*tightTolerance)
		spans, ok := l.survivors(target - l.fixed)
		if !ok {
			logUpper = math.Min(logUpper, math.Log(target)-shift+slack)
			break
		}
		tube = l.widen(spans, cells)
	}
	return logLower, math.Min(0, math.Max(logUpper, logLower))
}

// gaussBounds returns bounds on ln δ_G(ε; γ) as a function of γ.
func gaussBounds(eps float64) func(float64) (lo, hi float64) {
	return func(gamma float64) (lo, hi float64) {
		p := privacy.GaussianProfile(math.Max(0, gamma), privacy.AddRemove)
		return p.LogDeltaLower(privacy.Remove, eps), p.LogDeltaUpper(privacy.Remove, eps)
	}
}

// newLattice sets up the nodes of a level within the tube of the coarser one.
// known is the scaled value already certified.
func (g *grids) newLattice(eps, shift, known float64, level int, tube []span) *lattice {
	cells := g.level(level)
	l := &lattice{h: math.Ldexp(0.5, -level), slop: clockSlop(cells)}
	gauss := gaussBounds(eps)
	// Beyond |u| = far a path has nothing to gain that matters.
	far := math.Sqrt(2 * math.Max(1, shift-math.Log(1e-7*math.Max(known, 1e-300))))
	lo, hi := math.Inf(1), math.Inf(-1)
	var limits []span
	for i := range cells {
		c := &cells[i]
		if !c.passable() {
			_, up := c.peakBounds(eps)
			l.fixed += math.Exp(up+shift) * (1 + 1e-11)
			continue
		}
		// The rate vanishes where E ≥ ln(1 + 1/k).
		keep := math.Log1p(1 / c.kLow)
		floor := math.Min(edge(eps-keep, c.big), edgeOrInf(eps-keep, c.small))
		floor = math.Min(math.Max(floor, -far), far) - l.h
		ceil := math.Min(edge(eps, c.small), far) + l.h
		ceil = math.Max(ceil, floor)
		if c.neg {
			lo = math.Min(lo, -ceil-c.clockBottom)
			hi = math.Max(hi, -floor-c.clockTop)
		} else {
			lo = math.Min(lo, floor-c.clockBottom)
			hi = math.Max(hi, ceil-c.clockTop)
		}
		l.cells = append(l.cells, newView(c, eps, shift, gauss))
		if tube == nil {
			limits = append(limits, span{math.Inf(-1), math.Inf(1)})
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
	for _, s := range limits {
		if !math.IsInf(s.lo, 0) {
			lo = math.Min(lo, s.lo)
		}
		if !math.IsInf(s.hi, 0) {
			hi = math.Max(hi, s.hi)
		}
	}
	l.v0 = lo
	l.last = max(1, int(math.Ceil((hi-lo)/l.h)))
	l.from, l.to = make([]int, m), make([]int, m)
	for j, s := range limits {
		l.from[j], l.to[j] = 0, l.last
		if !math.IsInf(s.lo, 0) {
			l.from[j] = max(0, int(math.Floor((s.lo-lo)/l.h)))
		}
		if !math.IsInf(s.hi, 0) {
			l.to[j] = max(l.from[j], min(l.last, int(math.Ceil((s.hi-lo)/l.h))))
		}
	}
	return l
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

// size returns the number of nodes.
func (l *lattice) size() int {
	n := 0
	for j := range l.from {
		n += l.to[j] - l.from[j] + 1
	}
	return n
}

// descentAlong returns the certified reward of the lattice's best path.
func (g *grids) descentAlong(eps, shift float64, l *lattice) float64 {
	cells := make([]cell, len(l.cells))
	at := make([]float64, len(l.cells))
	last := len(cells)
	for j, v := range l.path() {
		cells[j] = *l.cells[j].cell
		at[j] = v + cells[j].clockTop
		if math.IsInf(v, 1) && last > j {
			last = j - 1
		}
	}
	return g.descentReward(eps, shift, cells, at, last)
}

// widen turns the spans of the lattice's cells into those of all cells: one
// that no path can cross bounds nothing.
func (l *lattice) widen(spans []span, cells []cell) []span {
	out := make([]span, len(cells))
	j := 0
	for i := range cells {
		if cells[i].passable() {
			out[i] = spans[j]
			j++
		} else {
			out[i] = span{math.Inf(-1), math.Inf(1)}
		}
	}
	return out
}

var debug = false
