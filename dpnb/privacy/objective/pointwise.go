package objective

import (
	"math"
	"slices"
)

// pointwiseRemove returns an upper bound on ln δ(ε) of the bound Pointwise in the remove direction, for every real ε:
//
//	δ(ε) = E(1 − e^{ε − W(N)})₊,  W(n) = max_γ ln(1 + S̄(γ)/λ) + γ²/2 + γn   (σ = 1).
//
// W is a supremum of affine functions, hence convex: between two nodes it lies below its chord, for which the
// expectation is closed. Relative error below 1e-6 if S̄ is a parabola or flat.
func (p *problem) pointwiseRemove(eps float64) float64 {
	env := p.envelope()
	lo, hi := p.curve.Range()
	// Where W − ε > 0 the integrand counts. Scale by the largest of φ(n)(1 − e^{ε−W}), found on the nodes.
	// W ≤ ln(1 + s/λ) + L²/2 + L|n| does not reach ε for |n| < inner.
	slope := max(hi, -lo) / p.sigma
	inner := max(0, (eps-math.Log1p(p.curve.Max()/p.lambda)*(1+1e-12))/slope-0.5*slope)
	inner *= 1 - 1e-12
	reach := inner + 40/(inner+3.3)
	// Pieces begin at the same places for every ε, so that W is found once; but where few pieces are wanted and all are
	// far out.
	next := func(n float64) float64 { return math.Max(n+1/(16+4*n), math.Nextafter(n, math.Inf(1))) }
	start := inner
	if inner < 40 {
		start = 0
		for next(start) <= inner {
			start = next(start)
		}
	}
	// Pieces, halved where the chord leaves W by more than chordTol.
	type node struct{ n, w float64 }
	eval := func(n float64) node { return node{n, env.at(n) - eps} }
	var nodes []node
	chordTol := 1e-7 + 3*env.tol
	var visit func(a, b node, depth int)
	visit = func(a, b node, depth int) {
		mid := eval(0.5 * (a.n + b.n))
		off := 0.5*(a.w+b.w) - mid.w
		if depth > 0 && (a.w <= 0 && b.w <= 0 || off > chordTol) {
			if a.w > 0 || b.w > 0 {
				visit(a, mid, depth-1)
				visit(mid, b, depth-1)
				return
			}
		}
		nodes = append(nodes, mid, b)
	}
	end := start
	side := func(sign float64) {
		prev := eval(sign * start)
		nodes = append(nodes, prev)
		for n := start; n < reach; {
			n = next(n)
			b := eval(sign * n)
			visit(prev, b, 16)
			prev, end = b, n
		}
	}
	side(-1)
	slices.Reverse(nodes)
	middle := len(nodes)
	side(1)
	ref := math.Inf(-1)
	for _, t := range nodes {
		if t.w > 0 {
			ref = max(ref, logPDF(t.n)+math.Log(-math.Expm1(-t.w)))
		}
	}
	// Beyond the last node on each side δ counts in full.
	beyond := math.Ln2 + logSurvival(end)
	if math.IsInf(ref, -1) {
		return min(0, beyond)
	}
	sum := math.Exp(beyond - ref)
	for i := 0; i+1 < len(nodes); i++ {
		if i+1 == middle {
			continue // between ∓start, where W ≤ ε
		}
		sum += chordMass(nodes[i].n, nodes[i+1].n, nodes[i].w, nodes[i+1].w, -ref)
	}
	return min(0, ref+math.Log(sum)+1e-10+4e-15*math.Abs(ref))
}

// chordMass returns an upper bound on e^shift ∫_{n0}^{n1} φ(n)(1 − e^{−w(n)})₊dn for the chord w from w0 to w1.
func chordMass(n0, n1, w0, w1, shift float64) float64 {
	if w0 <= 0 && w1 <= 0 {
		return 0
	}
	if w0 < 0 || w1 < 0 {
		// Only where the chord is positive.
		root := n0 + (n1-n0)*w0/(w0-w1)
		if w0 < 0 {
			n0, w0 = min(root, n1), 0
		} else {
			n1, w1 = max(root, n0), 0
		}
	}
	// With w = α + βn the integral is closed.
	beta := (w1 - w0) / (n1 - n0)
	if !(n1 > n0) || math.IsInf(beta, 0) {
		return 0
	}
	alpha := w0 - beta*n0
	mass, err := normalMass(n0, n1, shift)
	less, errLess := normalMass(n0+beta, n1+beta, shift-alpha+0.5*beta*beta)
	return max(0, min(mass+err, mass-less+err+errLess+1e-14*less))
}

// envelope evaluates W.
type envelope struct {
	p   *problem
	tol float64 // how far at may be above W
	// kappa and slope are those of S̄ = κγ(L − γ), or kappa is 0.
	kappa, slope float64
}

func (p *problem) envelope() *envelope {
	e := &envelope{p: p, tol: 5e-4, kappa: kappaOf(p.curve), slope: Slope(p.curve)}
	if e.kappa > 0 {
		e.tol = 1e-9
	}
	if low, up := p.curve.Bounds(p.curve.Range()); low >= up*(1-3*roundoff) {
		e.tol = 1e-9 // flat: the ends of a cell decide
	}
	return e
}

// at returns W(n), rounded up by at most 1e-9 where S̄ is a parabola or flat, by at most 5e-4 otherwise. It is found
// once for all ε.
func (e *envelope) at(n float64) float64 {
	return e.p.known.Of(n, func() float64 { return e.compute(n) })
}

func (e *envelope) compute(n float64) float64 {
	quad := func(gamma float64) float64 {
		g := gamma / e.p.sigma
		return g * (0.5*g + n)
	}
	known := math.Inf(-1)
	for _, c := range e.p.roots() {
		known = max(known, c.lnTop+quad(c.top), c.lnBottom+quad(c.bottom))
	}
	upper := known
	var visit func(c *piece, depth int)
	visit = func(c *piece, depth int) {
		// γ²/2 + γn is convex in γ: over a cell it is largest at an end.
		top, bottom := quad(c.top), quad(c.bottom)
		up := c.lnMax + max(top, bottom)
		if e.kappa > 0 {
			// S̄ = κγ(L − γ): the second derivative of ln(1 + S̄/λ) is at least −2κ/(λ+S̄) − (κL/(λ+S̄))², and at most
			// that bends above the chord.
			w, k := c.top-c.bottom, e.kappa/(e.p.lambda*(1+1/c.kHigh))
			bend := w * w / 8 * (2*k + k*k*e.slope*e.slope)
			up = min(up, max(c.lnTop+top, c.lnBottom+bottom)+bend*(1+1e-9))
		}
		if up <= known+e.tol || depth == 45 {
			upper = max(upper, up)
			return
		}
		halves := c.split(e.p)
		known = max(known, halves[0].lnBottom+quad(halves[0].bottom))
		visit(halves[0], depth+1)
		visit(halves[1], depth+1)
	}
	for _, c := range e.p.roots() {
		visit(c, 0)
	}
	return max(upper, known)
}
