package objective

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
)

// What a path gains that stays at a node while it crosses a cell, or goes on to the next node in the midst of it, is no
// more than the node's credit and what changing may add, where cells lie on either side of γ = 0: the rate is summed
// along paths by its formula, with the largest λ/S̄ of the cell.
func TestCreditsBoundPaths(t *testing.T) {
	for _, c := range []struct {
		of            loss.Curved
		lambda, sigma float64
	}{
		{loss.Logistic{}, 0.3, 1.5}, {loss.Huber{Threshold: 1}, 2, 1}, {loss.PseudoHuber{Threshold: 1}, 0.5, 2},
		{loss.SmoothPinball{Tau: 0.3, Width: 0.5}, 1, 1.2},
	} {
		p := must.Get(New(Config{Curve: c.of.Curve(1, 0), Lambda: c.lambda, Sigma: c.sigma, Bound: Tight}))
		g, tried, near := p.grids, 0, 0
		for _, eps := range []float64{0.2, 1.5} {
			shift := -g.integral(eps, 1e-2, 600).logUpper
			for _, side := range g.sides() {
				l := g.newLattice(eps, shift, 1e-3, 2, side, nil)
				for j := range l.cells {
					l.credit = make([]credits, len(l.cells))
					l.fill(j, eps, shift)
					v, got := &l.cells[j], &l.credit[j]
					d := max(0, v.travel()-l.slop)
					slack := l.slop * float64(j)
					entry := func(i int) float64 {
						if node := l.v[got.first+i]; v.neg {
							return -(node + v.clockTop - slack + d)
						}
						return l.v[got.first+i] + v.clockTop - slack
					}
					rate := func(u, gamma float64) float64 {
						if at := edge(eps, gamma); u >= at {
							return scaledPDF(at, shift)
						}
						return scaledPDF(u, shift) * max(0, 1-v.kHigh*math.Expm1(exponent(eps, gamma, u)))
					}
					// gain follows node i from the big end, and node k in the rest.
					gain := func(i, k int, share float64) (sum float64) {
						const n = 40
						for m := range n {
							part := (float64(m) + 0.5) / n
							at := i
							if part > share {
								at = k
							}
							sum += rate(entry(at)+part*d, v.big-part*v.width()) * v.width() / n
						}
						return sum
					}
					if math.IsInf(v.kHigh, 1) || v.small == 0 {
						continue
					}
					for i := range got.stay {
						one := gain(i, i, 1)
						if one > 1e-12 {
							if tried++; got.stay[i] < 1.2*one {
								near++
							}
						}
						if !(got.stay[i] >= one*(1-5e-3)-1e-12) {
							t.Errorf("%s, ε = %v, cell %d of %v to %v (neg %v), node %d: %v is gained, the "+
								"credit is %v", p.cfg.Curve, eps, j, v.small, v.big, v.neg, i, one, got.stay[i])
						}
						if i+1 == len(got.stay) {
							continue
						}
						for _, share := range []float64{0.2, 0.5, 0.8} {
							both := max(gain(i, i+1, share), gain(i+1, i, share))
							if !(max(got.stay[i], got.stay[i+1])+got.turn[i] >= both*(1-5e-3)-1e-12) {
								t.Errorf("%s, ε = %v, cell %d, nodes %d and the next: %v is gained, the "+
									"credits are %v, %v and %v", p.cfg.Curve, eps, j, i, both, got.stay[i],
									got.stay[i+1], got.turn[i])
							}
						}
					}
				}
			}
		}
		if tried < 200 || near < tried/4 {
			t.Errorf("%s: of %d credits %d are near: nothing is tested", p.cfg.Curve, tried, near)
		}
	}
}

// The recursion finds the best of all ways from node to node that do not fall, where a change within a cell has the
// larger credit of the two nodes and what turning adds: for credits at random, by a recursion over all nodes that knows
// nothing of windows. What is left to gain at a node is the rest of the best way through it.
func TestRecursionOverPaths(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 400 {
		cells, nodes := 2+r.IntN(6), 2+r.IntN(7)
		l := &lattice{v: make([]float64, nodes), cells: make([]view, cells), credit: make([]credits, cells),
			from: make([]int, cells), to: make([]int, cells), upTo: make([][]float64, cells),
			onward: make([][]float64, cells)}
		for j := range cells {
			l.from[j], l.to[j] = 0, nodes-1
			if j > 0 {
				l.from[j] = min(nodes-1, l.from[j-1]+r.IntN(2))
			}
		}
		for j, to := cells-1, nodes-1; j >= 0; j-- { // limits do not fall
			l.to[j] = max(l.from[j], to)
			to = max(0, to-r.IntN(2))
		}
		for j := range cells {
			c := &l.credit[j]
			c.first = l.from[j] + r.IntN(l.to[j]-l.from[j]+1)
			for range 1 + r.IntN(l.to[j]-c.first+1) {
				c.stay, c.turn = append(c.stay, r.Float64()), append(c.turn, 0.2*r.Float64())
			}
			c.turn[len(c.turn)-1] = 0 // there is no next node in the window
			if r.IntN(2) == 0 {
				c.before = r.Float64()
			} else {
				c.after = r.Float64()
			}
		}
		// step returns the credit of a node of cell j, and what changing to it from the one before adds to that one's.
		step := func(j, node int) (stay, change float64) {
			c := &l.credit[j]
			of := func(node int) float64 {
				switch {
				case node < c.first:
					return c.before
				case node >= c.end():
					return c.after
				}
				return c.stay[node-c.first]
			}
			stay = of(node)
			if node > l.from[j] {
				change = max(0, stay-of(node-1))
				if node > c.first && node < c.end() {
					change += c.turn[node-1-c.first]
				}
			}
			return stay, change
		}
		upTo := make([][]float64, cells)
		for j := range cells {
			upTo[j] = make([]float64, nodes)
			for node := range upTo[j] {
				if node < l.from[j] || node > l.to[j] {
					upTo[j][node] = math.Inf(-1)
					continue
				}
				stay, change := step(j, node)
				if j > 0 { // from the node itself or, where the cell above has none, from its last
					upTo[j][node] = upTo[j-1][min(node, l.to[j-1])]
				}
				if upTo[j][node] += stay; node > l.from[j] {
					upTo[j][node] = max(upTo[j][node], upTo[j][node-1]+change)
				}
			}
		}
		onward := make([][]float64, cells)
		for j := cells - 1; j >= 0; j-- {
			onward[j] = make([]float64, nodes)
			for node := l.to[j]; node >= l.from[j]; node-- {
				if j+1 < cells {
					at := max(node, l.from[j+1])
					stay, _ := step(j+1, at)
					onward[j][node] = stay + onward[j+1][at]
				}
				if node < l.to[j] {
					_, change := step(j, node+1)
					onward[j][node] = max(onward[j][node], onward[j][node+1]+change)
				}
			}
		}
		for j := range cells {
			l.down(j)
		}
		var enter []float64
		for j := cells - 1; j >= 0; j-- {
			enter = l.up(j, enter)
		}
		for j := range cells {
			for node := l.from[j]; node <= l.to[j]; node++ {
				i := node - l.from[j]
				if a, b := l.upTo[j][i], upTo[j][node]; !(math.Abs(a-b) <= 1e-12) {
					t.Fatalf("cell %d, node %d: up to there %v, want %v", j, node, a, b)
				}
				if a, b := l.onward[j][i], onward[j][node]; !(math.Abs(a-b) <= 1e-12) {
					t.Fatalf("cell %d, node %d: onward %v, want %v", j, node, a, b)
				}
			}
		}
		best := l.upTo[cells-1][len(l.upTo[cells-1])-1]
		if !(math.Abs(best-enter[0]) <= 1e-12) {
			t.Fatalf("the best is %v from above and %v from below", best, enter[0])
		}
	}
}
