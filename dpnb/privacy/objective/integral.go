package objective

import "math"

// quadrature is a certified enclosure of ∫ sup_u M(u, γ)dγ and its grid.
type quadrature struct {
	// logUpper ≥ ln of the integral, logLower ≤ it.
	logUpper, logLower float64
	// cells, from the top of the range down.
	cells []cell
}

// integral encloses the bound Integral at ε ≥ 0,
//
//	δ(ε) ≤ ∫ sup_u M(u, γ)dγ,
//
// by splitting cells, each with the rate's values at its ends, until the relative gap is at most tol or there are
// maxCells of them.
func (p *problem) integral(eps, tol float64, maxCells int) quadrature {
	type part struct {
		*piece
		lower, upper float64 // logarithms
	}
	eval := func(c *piece) part {
		l, u := c.peakBounds(eps)
		return part{c, l, u}
	}
	var pieces []part
	for _, c := range p.roots() {
		pieces = append(pieces, eval(c))
	}
	for {
		ref := math.Inf(-1)
		for i := range pieces {
			ref = math.Max(ref, pieces[i].upper)
		}
		var up, low float64
		gaps := make([]float64, len(pieces))
		for i := range pieces {
			u, l := math.Exp(pieces[i].upper-ref), math.Exp(pieces[i].lower-ref)
			up += u
			low += l
			gaps[i] = u - l
		}
		gap := up - low
		if math.IsInf(ref, -1) || gap <= tol*low || len(pieces) >= maxCells {
			slack := 1e-12 + 2e-15*math.Abs(ref)
			q := quadrature{logUpper: ref + math.Log(up) + slack, logLower: ref + math.Log(low) - slack}
			for i := range pieces {
				q.cells = append(q.cells, pieces[i].cell)
			}
			return q
		}
		threshold := 0.5 * gap / float64(len(pieces))
		next := make([]part, 0, 2*len(pieces))
		split := false
		for i := range pieces {
			c := &pieces[i]
			mid := 0.5 * (c.top + c.bottom)
			if gaps[i] <= threshold || mid <= c.bottom || mid >= c.top {
				next = append(next, *c)
				continue
			}
			for _, half := range c.split(p) {
				next = append(next, eval(half))
			}
			split = true
		}
		if !split {
			maxCells = 0
		}
		pieces = next
	}
}
