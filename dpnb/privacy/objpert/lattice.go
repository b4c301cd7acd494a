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
	// Per cell: nodes from[j] … to[j]; credit if the path stays at the node,
	// and if it only passes through it.
	from, to    []int
	stay, pass  [][]float64
	before      [][]float64 // best total of the cells above, at this node at most
	after       [][]float64 // best total of the cells below, from this node on
	keep        []int       // of every cell of the grid, its index here or −1
	fixed       float64     // credit of the cells left out
	slop        float64
	evaluations int
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
	d := math.Max(0, v.travel()-l.slop)
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
	stay, pass := make([]float64, n), make([]float64, n)
	level := make([]bool, n)
	line := make([]float64, n)
	for i := range stay {
		line[i], _, level[i] = v.line(eps, shift, entry(from+i), d)
		stay[i], pass[i] = line[i], line[i]
	}
	// Each interval between nodes raises both its ends, by the bend or to the
	// supremum of the rate over the tile, whichever is the less.
	raise := func(i int, credit, through float64) {
		if i >= 0 && i < n {
			stay[i] = math.Max(stay[i], credit)
			pass[i] = math.Max(pass[i], through)
		}
	}
	for i := -1; i < n; i++ {
		inner := i >= 0 && i+1 < n
		if !inner && (i < 0 && from > 0 || i >= 0 && to < l.last) {
			continue // outside the tube: no path of interest goes there
		}
		ua, ub := l.node(from+i), l.node(from+i+1)
		if v.neg {
			ua, ub = -ub, -ua
			ua, ub = ua-t-d, ub-t-d
		} else {
			ua, ub = ua+t, ub+t
		}
		tile := width * v.sup(eps, shift, ua, ub+d)
		if inner && level[i] && level[i+1] {
			raise(i, line[i], tile)
			raise(i+1, line[i+1], tile)
			continue
		}
		// Beyond the last node on the flat side nothing bends.
		if i == n-1 && !v.neg && level[i] || i == -1 && v.neg && level[0] {
			raise(max(i, 0), line[max(i, 0)], tile)
			continue
		}
		bend := math.Inf(1)
		if inner {
			bend = width * v.bend(eps, shift, ua, ub+d, l.h)
		}
		if inner && math.Max(line[i], line[i+1])+bend <= tile {
			raise(i, line[i]+bend, tile+bend)
			raise(i+1, line[i+1]+bend, tile+bend)
			continue
		}
		raise(i, tile, tile)
		raise(i+1, tile, tile)
	}
	l.stay[j], l.pass[j] = stay, pass
}

// sweep fills all cells and runs the recursion down and up.
func (l *lattice) sweep(eps, shift float64) (best float64) {
	m := len(l.cells)
	l.stay, l.pass = make([][]float64, m), make([][]float64, m)
	l.before, l.after = make([][]float64, m), make([][]float64, m)
	for j := range l.cells {
		l.fill(j, eps, shift)
	}
	// Down: prev holds, for the nodes of the cell above, the best total so far,
	// non-decreasing in the node.
	var prev []float64
	prevFrom := 0
	for j := 0; j < m; j++ {
		n := l.to[j] - l.from[j] + 1
		pre := make([]float64, n)
		for i := range pre {
			if prev != nil {
				pre[i] = prev[min(l.from[j]+i-prevFrom, len(prev)-1)]
			}
		}
		l.before[j] = pre
		cur := make([]float64, n)
		ended, top := math.Inf(-1), math.Inf(-1)
		for i := range cur {
			best := math.Max(pre[i]+l.stay[j][i], ended)
			if i > 0 {
				best = math.Max(best, pre[i-1]+l.pass[j][i])
			}
			ended = math.Max(ended, pre[i]+l.pass[j][i])
			top = math.Max(top, best)
			cur[i] = top
		}
		prev, prevFrom = cur, l.from[j]
	}
	best = prev[len(prev)-1]
	// Up: next is non-increasing in the node.
	var next []float64
	nextFrom := 0
	for j := m - 1; j >= 0; j-- {
		n := l.to[j] - l.from[j] + 1
		post := make([]float64, n)
		for i := range post {
			if next != nil {
				post[i] = next[max(0, l.from[j]+i-nextFrom)]
			}
		}
		l.after[j] = post
		cur := make([]float64, n)
		ended, top := math.Inf(-1), math.Inf(-1)
		for i := n - 1; i >= 0; i-- {
			b := math.Max(post[i]+l.stay[j][i], ended)
			if i+1 < n {
				b = math.Max(b, post[i+1]+l.pass[j][i])
			}
			ended = math.Max(ended, post[i]+l.pass[j][i])
			top = math.Max(top, b)
			cur[i] = top
		}
		next, nextFrom = cur, l.from[j]
	}
	return best
}

// survivors returns, cell by cell, the span of v through which a path may still
// have a total above the threshold; ok is false if there is none in some cell,
// so that no path has.
func (l *lattice) survivors(threshold float64) (spans []span, ok bool) {
	spans = make([]span, len(l.cells))
	for j := range l.cells {
		pre, post, stay, pass := l.before[j], l.after[j], l.stay[j], l.pass[j]
		n := len(pre)
		first, final := -1, -1
		// The best of paths that pass a node and end the cell at a later one.
		later := make([]float64, n+1)
		later[n] = math.Inf(-1)
		for i := n - 1; i >= 0; i-- {
			later[i] = math.Max(later[i+1], pass[i]+post[i])
		}
		earlier := math.Inf(-1)
		for i := 0; i < n; i++ {
			earlier = math.Max(earlier, pre[i]+pass[i])
			through := math.Max(pre[i]+stay[i]+post[i], math.Max(earlier+post[i], pre[i]+later[i]))
			if through > threshold {
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

// path returns the nodes of the best path, as v, cell by cell.
func (l *lattice) path() []float64 {
	out := make([]float64, len(l.cells))
	node := 0
	for j := range l.cells {
		best, at := math.Inf(-1), 0
		for i := range l.before[j] {
			if t := l.before[j][i] + l.stay[j][i] + l.after[j][i]; t > best {
				best, at = t, i
			}
		}
		node = max(node, at+l.from[j])
		out[j] = l.v0 + float64(node)*l.h
		if node >= l.last {
			out[j] = math.Inf(1)
		}
	}
	return out
}
