package objective

import (
	"math"
	"slices"
	"sync"
)

// quadrature is a certified enclosure of ∫ sup_u M(u, γ)dγ and its grid.
type quadrature struct {
	// logUpper ≥ ln of the integral, logLower ≤ it.
	logUpper, logLower float64
	// parts, from the top of the range down.
	parts []part
}

// part is a piece of the range with the bounds of its own part of the integral at one ε.
type part struct {
	*piece
	peak
	// logLeast is a lower bound, peak.logMost an upper one.
	logLeast float64
}

func (c *piece) part(eps float64) part {
	p := c.peak(eps)
	return part{c, p, c.logLeast(eps, p)}
}

// cells returns those of the parts.
func (q *quadrature) cells() []cell {
	cells := make([]cell, len(q.parts))
	for i := range q.parts {
		cells[i] = q.parts[i].cell
	}
	return cells
}

// refinement is an integral at one ε, whose grids are made one by one and kept: a call with a smaller tolerance goes on
// where another ended.
type refinement struct {
	eps   float64
	mu    sync.Mutex
	grids []grid
}

// grid is one of the grids of a refinement: the largest logMost of its parts, and the sums in units of it.
type grid struct {
	parts        []part
	ref, up, low float64
}

func newGrid(parts []part) grid {
	g := grid{parts, math.Inf(-1), 0, 0}
	for i := range parts {
		g.ref = math.Max(g.ref, parts[i].logMost)
	}
	for i := range parts {
		u, l := g.share(i)
		g.up += u
		g.low += l
	}
	return g
}

// share returns bounds on the part of the integral that is of part i.
func (g *grid) share(i int) (up, low float64) {
	return math.Exp(g.parts[i].logMost - g.ref), math.Exp(g.parts[i].logLeast - g.ref)
}

// halved returns the parts of g with those halved whose bounds are far apart; split says that there are any.
func (g *grid) halved(p *problem, eps float64) (next []part, split bool) {
	threshold := 0.5 * (g.up - g.low) / float64(len(g.parts))
	next = make([]part, 0, 2*len(g.parts))
	for i := range g.parts {
		c := &g.parts[i]
		mid := 0.5 * (c.top + c.bottom)
		if up, low := g.share(i); up-low <= threshold || mid <= c.bottom || mid >= c.top {
			next = append(next, *c)
			continue
		}
		for _, half := range c.split(p) {
			next = append(next, half.part(eps))
		}
		split = true
	}
	return next, split
}

// integral encloses the bound Integral at ε ≥ 0,
//
//	δ(ε) ≤ ∫ sup_u M(u, γ)dγ,
//
// by splitting cells, each with the rate's values at its ends, until the relative gap is at most tol or there are
// maxCells of them.
func (p *problem) integral(eps, tol float64, maxCells int) quadrature {
	r := p.refinement(eps)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.grids == nil {
		var parts []part
		for _, c := range p.roots() {
			parts = append(parts, c.part(eps))
		}
		r.grids = []grid{newGrid(parts)}
	}
	for i := 0; ; i++ {
		g := &r.grids[i]
		enough := math.IsInf(g.ref, -1) || g.up-g.low <= tol*g.low || len(g.parts) >= maxCells
		if !enough && i+1 == len(r.grids) {
			if next, split := g.halved(p, eps); split {
				r.grids = append(r.grids, newGrid(next))
			} else {
				enough = true
			}
		}
		if enough {
			slack := 1e-12 + 2e-15*math.Abs(g.ref)
			return quadrature{g.ref + math.Log(g.up) + slack, g.ref + math.Log(g.low) - slack, g.parts}
		}
	}
}

// kept is how many refinements a problem keeps: those of the last ε that were asked for.
const kept = 4

// refinement returns the one of eps.
func (p *problem) refinement(eps float64) *refinement {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.refined {
		if r.eps == eps {
			return r
		}
	}
	if len(p.refined) == kept {
		p.refined = slices.Delete(p.refined, 0, 1)
	}
	p.refined = append(p.refined, &refinement{eps: eps})
	return p.refined[len(p.refined)-1]
}
