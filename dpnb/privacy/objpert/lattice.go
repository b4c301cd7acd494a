package objpert

import "math"

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
	v0, h float64 // node k is at v0 + kh, k = 0 … last
	last  int
	cells []view
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
	slop         float64
	evaluations  int
}

// span is the tube of one cell in terms of v.
type span struct{ lo, hi float64 }

// node returns v_k, infinite for the two open ends.
func (l *lattice) node(k int) float64 {
	switch {
	case k < 0:
		return math.Inf(-1)
	case k > l.last:
		return math.Inf(1)
	}
	return l.v0 + float64(k)*l.h
}

// fill computes the credits of every node of cell j.
func (l *lattice) fill(j int, eps, shift float64) {
	v := &l.cells[j]
	from, to := l.from[j], l.to[j]
	n := to - from + 1
	l.evaluations += n
	d := max(0, v.travel()-l.slop)
	width := v.width()
	// entry(k) is u at the big end, for the reflected cell too.
	t := v.clockTop - float64(j)*l.slop
	entry := func(k int) float64 {
		node := l.v0 + float64(k)*l.h
		if v.neg {
			return -(node + t + d)
		}
		return node + t
	}
	line, lineErr := make([]float64, n), make([]float64, n)
	exact, level := make([]bool, n), make([]bool, n)
	guess := make([]float64, n)
	for i := range line {
		u := entry(from + i)
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
	tiles, turn := make([]float64, n), make([]float64, n)
	for i := -1; i < n; i++ {
		inner := i >= 0 && i+1 < n
		if !inner && (i < 0 && from > 0 || i >= 0 && to < l.last) {
			continue // outside the tube: no path of interest goes there
		}
		ua, ub := l.node(from+i), l.node(from+i+1)
		if v.neg {
			ua, ub = -ub-t-d, -ua-t-d
		} else {
			ua, ub = ua+t, ub+t
		}
		ub += d
		if !inner {
			// Beyond the last node on the flat side the rate is the same.
			at := max(i, 0)
			if level[at] && v.neg == (i < 0) {
				continue
			}
			constant[at] = true
			caps[at] = max(caps[at], width*v.sup(eps, shift, ua, ub))
			continue
		}
		if level[i] && level[i+1] {
			tiles[i] = line[i]
			caps[i], caps[i+1] = max(caps[i], line[i]), max(caps[i+1], line[i])
			continue
		}
		tile := width * v.sup(eps, shift, ua, ub)
		tiles[i] = tile
		bend := math.Inf(1)
		if exact[i] && exact[i+1] {
			bend = width * v.bend(eps, shift, ua, ub, l.h)
		}
		if max(line[i], line[i+1])+bend <= tile {
			bends[i], bends[i+1] = max(bends[i], bend), max(bends[i+1], bend)
			caps[i], caps[i+1] = max(caps[i], tile+bend), max(caps[i+1], tile+bend)
			turn[i] = width*v.turn(eps, shift, ua, ub, l.h) + lineErr[i] + lineErr[i+1]
			continue
		}
		constant[i], constant[i+1] = true, true
		caps[i], caps[i+1] = max(caps[i], tile), max(caps[i+1], tile)
	}
	stay := make([]float64, n)
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
	l.stay[j], l.turn[j], l.guess[j] = stay, turn, guess
}

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
			s.lo = l.v0 + float64(first)*l.h
		}
		if final < l.last {
			s.hi = l.v0 + float64(final)*l.h
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
		out[j] = l.v0 + float64(node)*l.h
		if node >= l.last {
			out[j] = math.Inf(1)
		}
	}
	return out
}
