package objective

import (
	"math"
	"sort"
)

// The certified upper bound on Tight, remove direction, ε ≥ 0: the supremum of the line integral ∫ M(u(γ), γ)dγ over
// all admissible paths. With v = u + γ + λ·Clock(γ) (in units of σ) a path is any v that does not fall as γ does, so
// this is an isotonic problem. On nodes v_k the rate is replaced by a piecewise-linear majorant; then step functions
// with values v_k are the extreme points, and the best of them is found cell by cell. Where no path through a node can
// reach what is already certified, the node is dropped, and the rest is refined.

// lattice is one level of the refinement.
type lattice struct {
	v     []float64 // where the nodes are, in order
	last  int
	cells []view
	// windows are the v between which the rate varies, cell by cell.
	windows []span
	// Per cell: nodes from[j] … to[j], and their credits.
	from, to []int
	credit   []credits
	// upTo and onward are the values of the recursion; see down and up.
	upTo, onward [][]float64
	keep         []int   // of every cell of the grid, its index here or −1
	fixed        float64 // credit of the cells left out
	beyond       float64 // what paths that leave the windows can gain by it
	slop         float64
	evaluations  int
}

// span is the tube of one cell in terms of v.
type span struct{ lo, hi float64 }

// credits are those of the nodes of a cell: within its window, from node first on, the credit of a path that stays at
// the node, what changing to the next node inside the cell may add, and the credit as it probably is, to choose a path
// by. On either side of the window the rate is constant: 0 (what |u| > far has is in lattice.beyond) or the edge's.
type credits struct {
	first             int
	stay, turn, guess []float64
	before, after     float64
}

// end is the node behind the window.
func (c *credits) end() int { return c.first + len(c.stay) }

// fill computes the credits of every node of cell j.
func (l *lattice) fill(j int, eps, shift float64) {
	v := &l.cells[j]
	first := min(max(l.from[j], l.below(l.windows[j].lo)), l.to[j])
	n := max(min(l.to[j], l.above(l.windows[j].hi)), first) - first + 1
	c := credits{first, make([]float64, n), make([]float64, n), make([]float64, n), 0, v.flat}
	if v.neg {
		c.before, c.after = v.flat, 0
	}
	l.fillWindow(v, l.slop*float64(j), eps, shift, &c)
	l.credit[j] = c
}

// fillWindow computes the credits of as many nodes as out.stay has; beyond them no path of interest goes, or nothing
// changes.
func (l *lattice) fillWindow(v *view, slack, eps, shift float64, out *credits) {
	n, from := len(out.stay), out.first
	l.evaluations += n
	stay, turn, guess := out.stay, out.turn, out.guess
	d := max(0, v.travel()-l.slop)
	width := v.width()
	// entry is u at the big end, for the reflected cell too.
	t := v.clockTop - slack
	entry := func(i int) float64 {
		node := l.v[from+i]
		if v.neg {
			return -(node + t + d)
		}
		return node + t
	}
	line, lineErr := make([]float64, n), make([]float64, n)
	exact, level := make([]bool, n), make([]bool, n)
	for i := range line {
		u := entry(i)
		line[i], lineErr[i], exact[i], level[i] = v.line(eps, shift, u, d)
		if guess[i] = line[i]; !exact[i] && line[i] > 0 {
			guess[i] = 0.5 * width * (v.rateAt(eps, shift, u) + v.rateAt(eps, shift, u+d))
		}
	}
	// A node's majorant is the rate along its line plus the bend of the intervals beside it, or, where that is not
	// known well enough, a constant no less than the rate on the tiles beside it.
	bends, caps := make([]float64, n), make([]float64, n)
	constant := make([]bool, n)
	tiles := make([]float64, n)
	for i := 0; i+1 < n; i++ {
		ua, ub, h := l.v[from+i], l.v[from+i+1], l.v[from+i+1]-l.v[from+i]
		if v.neg {
			ua, ub = -ub-t-d, -ua-t-d
		} else {
			ua, ub = ua+t, ub+t
		}
		ub += d
		if level[i] && level[i+1] {
			tiles[i] = line[i]
			caps[i], caps[i+1] = max(caps[i], line[i]), max(caps[i+1], line[i])
			continue
		}
		tile := v.most(eps, shift, ua, ub)
		tiles[i] = tile
		bend := math.Inf(1)
		if exact[i] && exact[i+1] {
			bend = width * v.bend(eps, shift, ua, ub, h)
		}
		if max(line[i], line[i+1])+bend <= tile {
			bends[i], bends[i+1] = max(bends[i], bend), max(bends[i+1], bend)
			caps[i], caps[i+1] = max(caps[i], tile+bend), max(caps[i+1], tile+bend)
			turn[i] = width*v.turn(eps, shift, ua, ub, h) + lineErr[i] + lineErr[i+1]
			continue
		}
		constant[i], constant[i+1] = true, true
		caps[i], caps[i+1] = max(caps[i], tile), max(caps[i+1], tile)
	}
	for i := range stay {
		if constant[i] {
			stay[i] = caps[i]
		} else {
			stay[i] = line[i] + bends[i]
		}
	}
	// What a path can gain by changing nodes inside the cell, beyond the better of the two: nothing between constants.
	for i := 0; i+1 < n; i++ {
		switch {
		case constant[i] && constant[i+1]:
			turn[i] = 0
		case constant[i]:
			turn[i] = max(0, tiles[i]+bends[i+1]-caps[i])
		case constant[i+1]:
			turn[i] = max(0, tiles[i]+bends[i]-caps[i+1])
		}
	}
}

// below returns the last node at or below v, the first if there is none; above the first at or above it, the last if
// there is none.
func (l *lattice) below(v float64) int { return max(0, sort.SearchFloat64s(l.v, v)-1) }
func (l *lattice) above(v float64) int { return min(l.last, sort.SearchFloat64s(l.v, v)) }

// sweep fills all cells and runs the recursion down and up.
func (l *lattice) sweep(eps, shift float64) (best float64) {
	m := len(l.cells)
	l.credit = make([]credits, m)
	l.upTo, l.onward = make([][]float64, m), make([][]float64, m)
	for j := range l.cells {
		l.fill(j, eps, shift)
	}
	for j := range m {
		l.down(j)
	}
	last := l.upTo[m-1]
	best = last[len(last)-1]
	var enter []float64
	for j := m - 1; j >= 0; j-- {
		enter = l.up(j, enter)
	}
	return best
}

// entered returns the totals with which the nodes of cell j are entered, of those of the cells above. Nodes beyond the
// last of the cell above are entered from it.
func (l *lattice) entered(j int, totals [][]float64) []float64 {
	cur := make([]float64, l.to[j]-l.from[j]+1)
	if j > 0 {
		above := totals[j-1]
		skip := min(l.from[j]-l.from[j-1], len(above)-1)
		for i := copy(cur, above[skip:]); i < len(cur); i++ {
			cur[i] = above[len(above)-1]
		}
	}
	return cur
}

// down sets upTo[j][i], the best total of cells 0 … j of a path that is at node from[j] + i at the end of cell j. It
// does not fall with i, so that outside the window, where all nodes have one credit, nothing is gained by changing
// nodes, except to have been at the window's end.
func (l *lattice) down(j int) {
	c := &l.credit[j]
	cur := l.entered(j, l.upTo)
	first, end := c.first-l.from[j], c.end()-l.from[j]
	addTo(cur[:first], c.before)
	prev := c.before
	for k, stay := range c.stay {
		i := first + k
		cur[i] += stay
		if i > 0 {
			turn := 0.0
			if k > 0 {
				turn = c.turn[k-1]
			}
			cur[i] = max(cur[i], cur[i-1]+max(0, stay-prev)+turn)
		}
		prev = stay
	}
	if end < len(cur) {
		addTo(cur[end:], c.after)
		floor := cur[end-1] + max(0, c.after-prev)
		for i := end; i < len(cur) && cur[i] < floor; i++ {
			cur[i] = floor
		}
	}
	l.upTo[j] = cur
}

// up sets onward[j][i], the most that a path at node from[j] + i in cell j can gain from there on, beyond staying there
// to the end of the cell; it does not rise with i. next is what up returned for cell j + 1. It returns the best total
// of cell j and those below it of a path that enters it at node i or a later one.
func (l *lattice) up(j int, next []float64) (enter []float64) {
	c := &l.credit[j]
	n := l.to[j] - l.from[j] + 1
	cur := make([]float64, n)
	if next != nil {
		// Nodes before the first of the cell below enter it at that one.
		skip := l.from[j+1] - l.from[j]
		for i := range min(skip, n) {
			cur[i] = next[0]
		}
		if skip < n {
			copy(cur[skip:], next)
		}
	}
	first, end := c.first-l.from[j], c.end()-l.from[j]
	later := c.after
	for k := len(c.stay) - 1; k >= 0; k-- {
		i := first + k
		if i+1 < n {
			cur[i] = max(cur[i], cur[i+1]+max(0, later-c.stay[k])+c.turn[k])
		}
		later = c.stay[k]
	}
	if first > 0 {
		floor := cur[first] + max(0, later-c.before)
		for i := first - 1; i >= 0 && cur[i] < floor; i-- {
			cur[i] = floor
		}
	}
	l.onward[j] = cur
	enter = make([]float64, n)
	copy(enter, cur)
	addTo(enter[end:], c.after)
	best := math.Inf(-1)
	if end < n {
		best = enter[end]
	}
	for k := len(c.stay) - 1; k >= 0; k-- {
		best = max(best, enter[first+k]+c.stay[k])
		enter[first+k] = best
	}
	addTo(enter[:first], c.before)
	for i := first - 1; i >= 0 && enter[i] < best; i-- {
		enter[i] = best
	}
	return enter
}

// addTo adds v to every element of a.
func addTo(a []float64, v float64) {
	if v == 0 {
		return
	}
	for i := range a {
		a[i] += v
	}
}

// survivors returns, cell by cell, the span of v through which a path may still have a total above the threshold; ok is
// false if there is none in some cell, so that no path has.
func (l *lattice) survivors(threshold float64) (spans []span, ok bool) {
	spans = make([]span, len(l.cells))
	for j := range l.cells {
		first, final := -1, 0
		upTo, onward := l.upTo[j], l.onward[j]
		for i, t := range upTo {
			if t+onward[i] > threshold {
				first = i
				break
			}
		}
		if first < 0 {
			return nil, false
		}
		for final = len(upTo) - 1; !(upTo[final]+onward[final] > threshold); final-- {
		}
		first, final = first+l.from[j]-2, final+l.from[j]+2
		s := span{math.Inf(-1), math.Inf(1)}
		if first > 0 {
			s.lo = l.v[first]
		}
		if final < l.last {
			s.hi = l.v[final]
		}
		spans[j] = s
	}
	return spans, true
}

// path returns the nodes of the best path by the guesses, as v, cell by cell.
func (l *lattice) path() []float64 {
	m := len(l.cells)
	from := make([][]int32, m) // the node of this cell that the best prefix ends at
	totals := make([][]float64, m)
	for j := range m {
		c := &l.credit[j]
		cur := l.entered(j, totals)
		arg := make([]int32, len(cur))
		first, end := c.first-l.from[j], c.end()-l.from[j]
		addTo(cur[:first], c.before)
		addTo(cur[end:], c.after)
		for k, guess := range c.guess {
			cur[first+k] += guess
		}
		for i := range cur {
			arg[i] = int32(i)
			if i > 0 && cur[i-1] >= cur[i] {
				cur[i], arg[i] = cur[i-1], arg[i-1]
			}
		}
		totals[j], from[j] = cur, arg
	}
	out := make([]float64, m)
	node := l.last
	for j := m - 1; j >= 0; j-- {
		i := min(node-l.from[j], len(from[j])-1)
		node = l.from[j] + int(from[j][i])
		out[j] = l.v[node]
		if node >= l.last {
			out[j] = math.Inf(1)
		}
	}
	return out
}
