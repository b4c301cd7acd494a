package objective

import (
	"math"
	"testing"

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
		p, err := New(Config{Curve: c.of.Curve(1, 0), Lambda: c.lambda, Sigma: c.sigma, Bound: Tight})
		if err != nil {
			t.Fatal(err)
		}
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
							t.Errorf("%s, ε = %v, cell %d (neg %v), node %d: %v is gained, the credit is %v",
								p.cfg.Curve, eps, j, v.neg, i, one, got.stay[i])
						}
						if i+1 == len(got.stay) {
							continue
						}
						for _, share := range []float64{0.2, 0.5, 0.8} {
							both := max(gain(i, i+1, share), gain(i+1, i, share))
							if !(max(got.stay[i], got.stay[i+1])+got.turn[i] >= both*(1-5e-3)-1e-12) {
								t.Errorf("%s, ε = %v, cell %d, node %d and the next: %v is gained, credits %v and %v",
									p.cfg.Curve, eps, j, i, both, got.stay[i:i+2], got.turn[i])
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
