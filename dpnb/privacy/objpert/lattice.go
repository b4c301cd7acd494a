package objpert

import (
	"math"
	"sort"
)

// The certified upper bound on Tight, remove direction, ε ≥ 0: the supremum of
// the line integral ∫ M(u(γ), γ)dγ over all admissible paths. With
// v = u + γ + λ·Clock(γ) (in units of σ) a path is any v that does not fall as
// γ does, so this is an isotonic problem. On nodes v_k the rate is replaced by a
// piecewise-linear majorant; then step functions with values v_k are the
// extreme points, and the best of them is found cell by cell. Where no path
// through a node can reach what is already certified, the node is dropped, and
// the rest is refined.

// lattice is one level of the refinement.
type lattice struct {
	v     []float64 // where the nodes are, in order
	last  int
	cells []view
	// windows are the v between which the rate varies, cell by cell.
	windows []span
	// Per cell: nodes from[j] … to[j]; the credit of a path that stays at the
	// node; what changing to the next node inside the cell may add.
	from, to   []int
	stay, turn [][]float64
	// guess is the credit of a node as it probably is, to choose a path by.
	guess [][]float64
	// upTo, onward and enter are the values of the recursion; see sweep.
	upTo, onward [][]float64
	enter        []float64
	keep         []int   // of every cell of the grid, its index here or −1
	fixed        float64 // credit of the cells left out
	beyond       float64 // what paths that leave the windows can gain by it
	slop         float64
	evaluations  int
}

// span is the tube of one cell in terms of v.
type span struct{ lo, hi float64 }

// fill computes the credits of every node of cell j.
func (l *lattice) fill(j int, eps, shift float64) {
	v := &l.cells[j]
	n := l.to[j] - l.from[j] + 1
	stay, turn, guess := make([]float64, n), make([]float64, n), make([]float64, n)
	l.stay[j], l.turn[j], l.guess[j] = stay, turn, guess
	// Outside the window the rate is constant: 0 (what |u| > far has is in
	// l.beyond) on one side, the edge's on the other.
	from := min(max(l.from[j], l.below(l.windows[j].lo)), l.to[j])
	to := max(min(l.to[j], l.above(l.windows[j].hi)), from)
	for i := range n {
		if k := l.from[j] + i; k < from && v.neg || k > to && !v.neg {
			stay[i], guess[i] = v.flat, v.flat
		}
	}
	l.fillWindow(v, from, l.slop*float64(j), eps, shift, credits{
		stay[from-l.from[j] : to-l.from[j]+1], turn[from-l.from[j]:], guess[from-l.from[j]:]})
}

// credits are those of consecutive nodes in a cell.
type credits struct{ stay, turn, guess []float64 }

// fillWindow computes the credits of as many nodes as out.stay has, from node
// from on; beyond them no path of interest goes, or nothing changes.
func (l *lattice) fillWindow(v *view, from int, slack, eps, shift float64, out credits) {
	n := len(out.stay)
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
	// A node's majorant is the rate along its line plus the bend of the
	// intervals beside it, or, where that is not known well enough, a constant
	// no less than the rate on the tiles beside it.
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
	// What a path can gain by changing nodes inside the cell, beyond the better
	// of the two: nothing between constants.
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

// below returns the last node at or below v, the first if there is none; above
// the first at or above it, the last if there is none.
func (l *lattice) below(v float64) int { return max(0, sort.SearchFloat64s(l.v, v)-1) }
func (l *lattice) above(v float64) int { return min(l.last, sort.SearchFloat64s(l.v, v)) }

// sweep fills all cells and runs the recursion down and up.
func (l *lattice) sweep(eps, shift float64) (best float64) {
	m := len(l.cells)
	l.stay, l.turn, l.guess = make([][]float64, m), make([][]float64, m), make([][]float64, m)
	l.upTo, l.onward = make([][]float64, m), make([][]float64, m)
	for j := range l.cells {
		l.fill(j, eps, shift)
	}
	// Down: upTo[j][i] is the best total of cells 0 … j of a path that is at
	// node i at the end of cell j; it does not fall with i.
	for j := 0; j < m; j++ {
		stay, turn := l.stay[j], l.turn[j]
		cur := make([]float64, len(stay))
		for i := range cur {
			if j > 0 {
				above := l.upTo[j-1]
				cur[i] = above[min(l.from[j]+i-l.from[j-1], len(above)-1)]
			}
			cur[i] += stay[i]
			if i > 0 {
				cur[i] = max(cur[i], cur[i-1]+max(0, stay[i]-stay[i-1])+turn[i-1])
			}
		}
		l.upTo[j] = cur
	}
	last := l.upTo[m-1]
	best = last[len(last)-1]
	// Up: onward[j][i] is the most that a path at node i in cell j can gain from
	// there on, beyond staying at i to the end of the cell.
	for j := m - 1; j >= 0; j-- {
		stay, turn := l.stay[j], l.turn[j]
		cur := make([]float64, len(stay))
		for i := len(cur) - 1; i >= 0; i-- {
			if j+1 < m {
				cur[i] = l.entering(j+1, l.from[j]+i)
			}
			if i+1 < len(cur) {
				cur[i] = max(cur[i], cur[i+1]+max(0, stay[i+1]-stay[i])+turn[i])
			}
		}
		l.onward[j] = cur
		best := math.Inf(-1)
		enter := make([]float64, len(cur))
		for i := len(cur) - 1; i >= 0; i-- {
			best = max(best, cur[i]+stay[i])
			enter[i] = best
		}
		l.enter = enter
	}
	return best
}

// entering returns the best total of cell j and those below it for a path that
// enters it at node k or a later one; the sweep up has just done cell j.
func (l *lattice) entering(j, k int) float64 {
	return l.enter[max(0, k-l.from[j])]
}

// survivors returns, cell by cell, the span of v through which a path may still
// have a total above the threshold; ok is false if there is none in some cell,
// so that no path has.
func (l *lattice) survivors(threshold float64) (spans []span, ok bool) {
	spans = make([]span, len(l.cells))
	for j := range l.cells {
		first, final := -1, -1
		for i, t := range l.upTo[j] {
			if t+l.onward[j][i] > threshold {
				if first < 0 {
					first = i
				}
				final = i
			}
		}
		if first < 0 {
			return nil, false
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
	var prev []float64
	for j := range m {
		n := len(l.guess[j])
		cur := make([]float64, n)
		arg := make([]int32, n)
		for i := range cur {
			cur[i] = l.guess[j][i]
			if j > 0 {
				cur[i] += prev[min(l.from[j]+i-l.from[j-1], len(prev)-1)]
			}
			arg[i] = int32(i)
			if i > 0 && cur[i-1] >= cur[i] {
				cur[i], arg[i] = cur[i-1], arg[i-1]
			}
		}
		prev, from[j] = cur, arg
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
