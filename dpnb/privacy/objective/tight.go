package objective

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// tightTolerance is the relative gap between the certified values of Tight at which refinement stops.
const tightTolerance = 0.0047

// nearTolerance takes its place where nothing more than 1 % above the Gaussian's δ is certified, to see how near to it
// Tight is.
const nearTolerance = 0.0012

// pruneShare is the part of the tolerance below which paths are not refined.
const pruneShare = 0.85

// dropShare is the part of the value that cells left out of a lattice may have.
const dropShare = 4e-4

// maxEvaluations bounds the nodes of one call; what is then known is returned.
const maxEvaluations = 4_000_000

// farTail is a ln δ below which the lattice is not worth its time: the values known from the integral and from greedy
// paths are returned.
const farTail = -1500

// maxCells bounds the cells of a level.
const maxCells = 12_000

// grids is a problem to be solved to a tolerance.
type grids struct {
	*problem
	// tolerance in place of tightTolerance, if positive.
	tolerance float64
}

func (g *grids) tol() float64 {
	if g.tolerance > 0 {
		return g.tolerance
	}
	return tightTolerance
}

// near takes the place of tol near the Gaussian's δ.
func (g *grids) near() float64 {
	if g.tolerance > 0 {
		return g.tolerance
	}
	return nearTolerance
}

// level returns the cells of a level, those of level ℓ+1 being pieces of those of level ℓ.
func (p *problem) level(l int) []cell {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.levels) <= l {
		n := len(p.levels)
		var from []cell
		if n == 0 {
			from = p.start(4)
		} else {
			from = append(from, p.levels[n-1]...)
		}
		for i := range from {
			from[i].parent = i
		}
		p.levels = append(p.levels, p.refine(from, n))
	}
	return p.levels[l]
}

// refine splits cells until each takes at most 0.4/2^l of u to cross and spans at most 1/2^(l+3) of the range, or is so
// small that it does not matter.
func (p *problem) refine(cells []cell, l int) []cell {
	lo, hi := p.curve.Range()
	a := (hi - lo) / p.sigma
	scale := math.Ldexp(1, -l)
	var out []cell
	var visit func(c cell)
	visit = func(c cell) {
		small := c.width() <= a*scale/8
		switch {
		case !c.passable():
			small = small && c.width() <= a*math.Ldexp(1, -18)
		case c.travel() > 0.4*scale:
			small = small && c.width() <= a*scale*math.Ldexp(1, -10)
		}
		if small || !(c.bottom < 0.5*(c.bottom+c.top) && 0.5*(c.bottom+c.top) < c.top) {
			out = append(out, c)
			return
		}
		upper, lower := p.split(&c)
		visit(upper)
		visit(lower)
	}
	for _, c := range cells {
		visit(c)
	}
	return out
}

// removeAt returns bounds on ln δ_remove(ε), ε ≥ 0, with no use of the Gaussian case.
func (g *grids) removeAt(eps float64) (logLower, logUpper float64) {
	L := Slope(g.curve) / g.sigma
	gauss := gaussBounds(eps)
	logLower, _ = gauss(L)
	quad := g.integral(eps, 1e-2, 600)
	logUpper = quad.logUpper
	shift := -logUpper
	slack := 1e-11 + 4e-15*math.Abs(logUpper)
	raise := func(scaled float64) {
		if scaled > 0 {
			logLower = math.Max(logLower, math.Log(scaled)-shift-slack)
		}
	}
	raise(g.greedy(eps, shift, quad.cells()))
	near := math.Inf(-1)
	for _, side := range g.sides() {
		near = math.Max(near, g.sideIntegral(eps, side, quad))
	}
	if near <= logLower+0.04 && (g.tolerance == 0 || near > logLower+g.tolerance) {
		// The integral may be all that is needed: do it well.
		quad = g.integral(eps, 1e-3, 3000)
		logUpper = math.Min(logUpper, quad.logUpper)
		raise(g.greedy(eps, shift, quad.cells()))
	}
	done := func() bool { return logUpper <= logLower+g.tol() }
	if done() || math.IsInf(logUpper, -1) {
		return logLower, math.Min(0, logUpper)
	}
	// A path of a two-signed loss crosses γ = 0 at u ≥ 0 or at u ≤ 0; the two are reflections of each other if the
	// curve is even.
	worst := math.Inf(-1)
	for _, side := range g.sides() {
		if up := g.sideIntegral(eps, side, quad); up <= logLower+g.tol() {
			worst = math.Max(worst, up)
			continue
		} else if logUpper < farTail {
			worst = math.Max(worst, up)
			continue
		}
		up := g.refineSide(eps, shift, slack, side, logUpper, &logLower)
		worst = math.Max(worst, up)
	}
	logUpper = math.Min(logUpper, worst)
	return logLower, math.Min(0, math.Max(logUpper, logLower))
}

// sideIntegral returns an upper bound on the logarithm of the reward of the paths of one side: the integral of the
// rate's peak on the sign of γ that is free, and on the other of its supremum where u has the sign that is left.
func (g *grids) sideIntegral(eps float64, side int, quad quadrature) float64 {
	if side == 0 {
		return quad.logUpper
	}
	sum := 0.0
	shift := -quad.logUpper
	for i := range quad.parts {
		c := &quad.parts[i]
		credit := math.Exp(c.logMost+shift) * (1 + 1e-11)
		if c.neg == (side > 0) {
			// Here u ≥ 0 for γ < 0: in the reflected cell u ≤ 0.
			v := view{cell: &c.cell, cBig: c.cBig, cSmall: c.cSmall}
			if v.cBig > 0 {
				v.rises = true // the peak is at some u > 0
				credit = math.Min(credit, c.width()*v.sup(eps, shift, math.Inf(-1), 0))
			}
		}
		sum += credit
	}
	return math.Log(sum) - shift + 1e-11 + 4e-15*math.Abs(shift)
}

// sides returns on which side of u = 0 paths cross γ = 0: 0 says that they do not.
func (g *grids) sides() []int {
	lo, hi := g.curve.Range()
	switch {
	case lo == 0 || hi == 0:
		return []int{0}
	case g.even():
		return []int{1}
	}
	return []int{1, -1}
}

// even reports that the curve is even, by its type: only what is known to be.
func (g *grids) even() bool {
	lo, hi := g.curve.Range()
	e, ok := g.curve.(interface{ Even() bool })
	return ok && e.Even() && lo == -hi
}

// refineSide returns an upper bound on the logarithm of the best reward of the paths of one side, and raises logLower
// as it goes.
func (g *grids) refineSide(eps, shift, slack float64, side int, logUpper float64, logLower *float64) float64 {
	gauss, _ := gaussBounds(eps)(Slope(g.curve) / g.sigma)
	var tol float64
	var tube []span
	spent, dropped := 0, 0.0
	for level := 1; level < 13; level++ {
		if level > 1 && 2*len(g.level(level-1)) > maxCells || len(g.level(level)) > maxCells {
			break
		}
		l := g.newLattice(eps, shift, math.Exp(*logLower+shift), level, side, tube)
		if l.size()+spent > maxEvaluations {
			break
		}
		if len(l.cells) == 0 {
			// Nothing but cells that count in full wherever they are crossed.
			logUpper = least(logUpper, math.Log(math.Max(l.fixed, dropped))-shift+slack)
			continue
		}
		best := l.sweep(eps, shift) + l.fixed + l.beyond
		dropped += l.beyond
		spent += l.evaluations
		if scaled := g.descentAlong(eps, shift, l, g.level(level)); scaled > 0 {
			*logLower = math.Max(*logLower, math.Log(scaled)-shift-slack)
		}
		// What was dropped on the way may reach the threshold it was dropped at.
		logUpper = least(logUpper, math.Log(math.Max(best, dropped))-shift+slack)
		if tol = g.tol(); *logLower <= gauss+0.01 {
			tol = math.Min(tol, g.near())
		}
		if logUpper <= *logLower+tol {
			break
		}
		target := math.Exp(*logLower+shift) * (1 + pruneShare*tol)
		dropped = math.Max(dropped, target)
		spans, ok := l.survivors(target - l.fixed)
		if !ok {
			logUpper = least(logUpper, math.Log(dropped)-shift+slack)
			break
		}
		tube = l.widen(spans)
	}
	return logUpper
}

// least returns the smaller of two upper bounds; one that could not be computed, as 0·∞ far out in a tail, is none.
func least(known, other float64) float64 {
	if other < known {
		return other
	}
	return known
}

// gaussBounds returns bounds on ln δ_G(ε; γ) as a function of γ, which was rounded once: for large γ that moves ln δ by
// more than its own rounding.
func gaussBounds(eps float64) func(float64) (lo, hi float64) {
	return func(gamma float64) (lo, hi float64) {
		gamma = math.Max(0, gamma)
		p := privacy.GaussianProfileBetween(math.Nextafter(gamma, 0), math.Nextafter(gamma, math.Inf(1)),
			privacy.AddRemove)
		return p.LogDeltaLower(privacy.Remove, eps), p.LogDeltaUpper(privacy.Remove, eps)
	}
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
func (g *grids) descentAlong(eps, shift float64, l *lattice, cells []cell) float64 {
	at := make([]float64, len(cells))
	path := l.path()
	last := -1
	for i, k := range l.keep {
		at[i] = math.Inf(-1)
		if k < 0 {
			continue
		}
		if math.IsInf(path[k], 1) {
			break
		}
		at[i] = path[k] + cells[i].clockTop
		last = i
	}
	return g.descentReward(eps, shift, cells, at, last)
}

// widen turns the spans of the lattice's cells into those of all cells: one that was left out bounds nothing.
func (l *lattice) widen(spans []span) []span {
	out := make([]span, len(l.keep))
	for i, k := range l.keep {
		out[i] = span{math.Inf(-1), math.Inf(1)}
		if k >= 0 {
			out[i] = spans[k]
		}
	}
	return out
}
