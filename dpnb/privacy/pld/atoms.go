package pld

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/logspace"
)

// atoms is a discretised privacy loss: mass e^{lnp[i]} at w[i], rising, and e^{lnInf} at +∞. It stands for the profile
//
//	h(α) = e^{lnInf} + Σ_i p_i (1 − α e^{−w_i})₊.
type atoms struct {
	w, lnp []float64
	lnInf  float64
}

// upperAtoms returns a law whose profile is nowhere below the curve's: that of the lower convex hull, in α = e^ε, of
// (0, 1) and the upper bounds at the knots, held constant beyond the last. The masses at the knots of a piecewise
// linear h are
//
//	p_j = (δ_{j−1} − δ_j)/(1 − e^{−(w_j−w_{j−1})}) − (δ_j − δ_{j+1})/(e^{w_{j+1}−w_j} − 1).
//
// Where the profile is exact at the knots this is connect-the-dots.
// Source: Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022, arXiv:2207.04380.
// Proof: docs/theory/composition.md.
func (c *curve) upperAtoms() atoms {
	xs := make([]knot, len(c.knots))
	for i, k := range c.knots {
		xs[i] = knot{k.eps, k.up}
	}
	hull := convexHull(xs, knot{math.Inf(-1), 0})
	last := hull[len(hull)-1]
	a := atoms{w: make([]float64, 0, len(hull)), lnp: make([]float64, 0, len(hull)), lnInf: last.ln}
	before := knot{math.Inf(-1), 0}
	for i, k := range hull {
		after := last
		if i+1 < len(hull) {
			after = hull[i+1]
		}
		a.add(before, k, after, +1)
		before = k
	}
	return a
}

// knot is a point (ε, ln h) of a piecewise linear h.
type knot struct{ w, ln float64 }

// convexHull returns the lower convex hull, in α = e^w, of origin and xs.
func convexHull(xs []knot, origin knot) []knot {
	hull := make([]knot, 0, len(xs)+1)
	hull = append(hull, origin)
	for _, x := range xs {
		for len(hull) > 1 {
			bracket, _, _ := massBracket(hull[len(hull)-2], hull[len(hull)-1], x)
			if bracket > 0 {
				break
			}
			hull = hull[:len(hull)-1]
		}
		hull = append(hull, x)
	}
	return hull[1:]
}

// massBracket returns m and s with p = e^s·m the mass at b of the broken line through a, b and c, and the sum of the
// two terms of which m is the difference, the second weighted by the relative error of its exponential.
func massBracket(a, b, c knot) (m, terms, s float64) {
	fall := -math.Expm1(b.ln - a.ln) // (δ_a − δ_b)/δ_a
	t1 := fall / -math.Expm1(a.w-b.w)
	t2, weight := 0.0, 0.0
	if c.w > b.w && !math.IsInf(b.ln, -1) {
		// δ_b/δ_a by an exponential of its own: 1 − fall would lose its digits where it is small, and the division by a
		// small width brings them up.
		t2 = math.Exp(b.ln-a.ln) * -math.Expm1(c.ln-b.ln) / math.Expm1(c.w-b.w)
		weight = 1 + 0.1*math.Abs(b.ln-a.ln)
	}
	return t1 - t2, math.Abs(t1) + math.Abs(t2)*weight, a.ln
}

// add appends the mass at b, rounded up for side = +1 and down for −1.
func (a *atoms) add(before, b, after knot, side float64) {
	if math.IsInf(before.ln, -1) {
		return // beyond the largest loss
	}
	m, terms, s := massBracket(before, b, after)
	// Each term is the product of a few correctly rounded factors.
	m += side * 3e-15 * terms
	if math.IsNaN(m) && side > 0 {
		// A mass that cannot be computed must not be lost: nothing is promised.
		a.lnInf = 0
	}
	if !(m > 0) {
		return
	}
	ln := s + math.Log(m)
	ln += side * (5e-16*math.Abs(ln) + 5e-16*math.Abs(s))
	a.w = append(a.w, b.w)
	a.lnp = append(a.lnp, ln)
}

// lowerAtoms returns a measure whose profile is nowhere above the curve's. At each knot the lower bound is pulled down
// to what the cells on both sides allow, see lowerEnds, so that the new chords run below the profile. As far as the
// line that continues the chord from (0, 1) to the first knot is higher, the knots are put on that instead, and on the
// first knot where it is not: this keeps the mass of a loss that begins steeply. What is left of the first knot is a
// line that the profile's convexity keeps below. theta tells where the mass matters. ok is false where the curve has no
// lower bounds.
//
// Proof: docs/theory/composition.md.
func (c *curve) lowerAtoms(theta float64) (a atoms, ok bool) {
	n := len(c.knots)
	xs := make([]knot, n)
	line := c.leftLine()
	onLine, own := true, math.Inf(1)
	before := math.Inf(1) // what the cell to the left allows
	for i, k := range c.knots {
		low := math.Min(k.low, before)
		if i == n-1 {
			low = math.Min(low, c.infLow)
		} else {
			var here float64
			here, before = c.lowerEnds(i, theta)
			low = math.Min(low, here)
		}
		if math.IsNaN(low) {
			low = math.Inf(-1)
		}
		xs[i] = knot{k.eps, low}
		if onLine {
			if l := line(k.eps); !math.IsInf(l, -1) {
				onLine = math.Exp(l)*(low-l) < 1e-12
				xs[i].ln = l
			} else {
				// The line has fallen to zero: the knot before is the last on it, and must be low enough for this cell
				// as well.
				onLine = false
				if i > 0 {
					xs[i-1].ln = math.Min(xs[i-1].ln, own)
				}
			}
		}
		own = low
	}
	first := 0
	for ; first < n-1; first++ {
		if !math.IsInf(xs[first].ln, -1) {
			break
		}
	}
	xs = xs[first:]
	if len(xs) < 2 {
		return atoms{lnInf: math.Inf(-1)}, false
	}
	// A knot that was pulled below the limit takes the limit with it, and the knots beyond it go: a line that rises
	// again would have a negative mass.
	least := 0
	for i, x := range xs {
		if x.ln <= xs[least].ln {
			least = i
		}
	}
	xs = xs[:least+1]
	if len(xs) < 2 {
		return atoms{lnInf: math.Inf(-1)}, false
	}
	a.lnInf = math.Min(c.infLow, xs[least].ln)
	xs[least].ln = a.lnInf
	hull := convexHull(xs, knot{math.Inf(-1), 0})
	a.w, a.lnp = make([]float64, 0, len(hull)), make([]float64, 0, len(hull))
	logSlope, from := c.leftSlope()
	started := false
	for i := range hull {
		after := knot{math.Inf(1), 0}
		if i+1 < len(hull) {
			after = hull[i+1]
		}
		if started {
			a.add(hull[i-1], hull[i], after, -1)
			continue
		}
		started = hull[i].w >= from.eps && a.addFirst(logSlope, from, hull[i], after)
	}
	a.cap()
	return a, len(a.w) > 0
}

// cap scales the measure down to a mass of at most one under either law: with more it would not be below every profile
// at α = 0, and composed often it would be above any. Less mass is a lower profile, whatever it is needed for.
func (a *atoms) cap() {
	p, _, _ := a.cumulant(0)
	q, _, _ := a.cumulant(-1)
	over := math.Max(logspace.Add(p, a.lnInf), q)
	if !(over > 0) {
		return
	}
	for i := range a.lnp {
		a.lnp[i] -= over + 1e-15*math.Abs(a.lnp[i])
	}
	a.lnInf -= over
}

// leftSlope returns the logarithm of a slope, and the knot, to whose left the profile falls at least that steeply: the
// steepest certain chord from a knot to the next midpoint, taken too shallow. Far to the left rounding hides it.
func (c *curve) leftSlope() (logSlope float64, from point) {
	logSlope, from = math.Inf(-1), c.knots[0]
	for i, m := range c.mids {
		k := c.knots[i]
		if fall := -math.Expm1(m.up - k.low); fall > 0 {
			l := k.low + math.Log(fall) - k.eps - math.Log(math.Expm1(m.eps-k.eps))
			if l > logSlope+1e-12 {
				logSlope, from = l, k
			}
		}
	}
	return logSlope, from
}

// leftLine returns the logarithm of the line through (0, 1) and the lower bound at the first knot, in α. To the right
// of that knot the profile, convex, is above it.
func (c *curve) leftLine() func(w float64) float64 {
	k := c.knots[0]
	lnFall := math.Log(-math.Expm1(k.low))
	return func(w float64) float64 {
		x := math.Exp(lnFall + w - k.eps)
		if !(x < 1) {
			return math.Inf(-1)
		}
		return math.Log1p(-x) - 1e-15*(4+math.Abs(lnFall)+math.Abs(w-k.eps))/(1-x)
	}
}

// addFirst appends the mass at b if a line of slope −e^{logSlope} that ends there is steeper than the one that goes on
// from b, and below the profile at from, left of which the profile is steeper.
func (a *atoms) addFirst(logSlope float64, from point, b, after knot) bool {
	if math.IsInf(b.ln, -1) || math.IsInf(logSlope, -1) {
		return false
	}
	rise := math.Exp(logSlope+from.eps) * math.Expm1(b.w-from.eps)
	if b.w > from.eps && math.Exp(b.ln)+rise*(1-1e-15) > math.Exp(from.low) {
		return false
	}
	left := math.Exp(logSlope + b.w - b.ln)
	right := 0.0
	if !math.IsInf(after.w, 1) {
		right = -math.Expm1(after.ln-b.ln) / math.Expm1(after.w-b.w)
	}
	slack := 1e-15 * (8 + math.Abs(logSlope) + math.Abs(b.w) + math.Abs(b.ln))
	p := left*(1-slack) - right*(1+slack)
	if !(p > 0) {
		return false
	}
	ln := b.ln + math.Log(p)
	a.w = append(a.w, b.w)
	a.lnp = append(a.lnp, ln-1e-15*math.Abs(ln))
	return true
}

// lowerEnds returns values of ln h at the left and right end of cell i such that the chord through them, or through
// anything lower, is below the profile.
//
// On each half of the cell the profile, convex, is above the two lines that continue its neighbouring chords; those go
// through an upper bound outside and a lower bound at the end of the half, the worst case. That bounds how far the
// profile sags below its chord. Where this is little both ends are lowered by it. Where it is much (a wide cell that
// spans orders of magnitude) one end keeps its value and the other goes down to the line that continues the chord
// beyond the first: the end that matters less under the tilt.
func (c *curve) lowerEnds(i int, theta float64) (lnLeft, lnRight float64) {
	a, m, b := c.knots[i], c.mids[i], c.knots[i+1]
	last := i == len(c.knots)-2
	bLow := b.low
	if last {
		bLow = c.infLow
	}
	if math.IsInf(a.low, -1) {
		return a.low, math.Inf(-1)
	}
	// Coordinates: x = α/α_a − 1, y = δ/δ_a − 1.
	y := func(ln float64) float64 { return math.Expm1(ln - a.low) }
	xm, xb := math.Expm1(m.eps-a.eps), math.Expm1(b.eps-a.eps)
	ym, yb := y(m.low), y(bLow)
	slope := yb / xb // of the chord

	xp, yp := -1.0, math.Expm1(-a.low) // the point (0, 1) of every profile
	if i > 0 {
		p := c.mids[i-1]
		xp, yp = math.Expm1(p.eps-a.eps), y(p.up)
	}
	s1 := yp / xp
	s2 := (y(b.up) - ym) / (xb - xm)
	s3 := (ym - y(a.up)) / xm
	s4, xq := 0.0, 0.0
	if !last {
		q := c.mids[i+1]
		xq = math.Expm1(q.eps - a.eps)
		s4 = (y(q.up) - yb) / (xq - xb)
	}
	sag := math.Max(0, slope*xm-ym)
	if x := (ym - s2*xm) / (s1 - s2); x > 0 && x < xm {
		sag = math.Max(sag, (slope-s1)*x)
	}
	if x := (yb - s4*xb - ym + s3*xm) / (s3 - s4); x > xm && x < xb {
		sag = math.Max(sag, slope*x-(ym+s3*(x-xm)))
	}
	sag += 2e-15 * (math.Abs(yb) + math.Abs(ym) + math.Abs(yp))
	sagRight := sag * math.Exp(a.low-bLow)
	onward := 1 + s1*xb*(1+1e-14) - 1e-15 // the chord from the left, at the right end
	floor := math.Exp(c.infLow - a.low)   // the limit of the profile
	switch {
	case last:
		return math.Min(a.low, c.infLow), c.infLow
	case sagRight <= 0.1 && b.low+math.Log1p(-sagRight) >= c.infLow:
		return a.low + math.Log1p(-sag), b.low + math.Log1p(-sagRight)
	case b.low+theta*b.eps >= a.low+theta*a.eps:
		fall := -math.Expm1(c.mids[i+1].up - b.low)
		return b.low + math.Log1p(math.Max(0, fall)*xb/(xq-xb)*(1-1e-14)), b.low
	case onward > floor:
		return a.low, a.low + math.Log(onward)
	}
	// The profile may reach its limit within the cell: the right end is put there, and the left one where the line from
	// there stays below. Along each piece of the bound the allowed value is monotone, so its ends suffice.
	most := 1.0
	allow := func(x, y float64) { most = math.Min(most, floor+(1+y-floor)*xb/(xb-x)) }
	allow(xm, ym)
	if x := (ym - s2*xm) / (s1 - s2); x > 0 && x < xm {
		allow(x, s1*x)
	}
	if x := (yb - s4*xb - ym + s3*xm) / (s3 - s4); x > xm && x < xb {
		allow(x, ym+s3*(x-xm))
	}
	if b.low <= c.infLow+1e-9 {
		most = math.Min(most, floor-s4*xb)
	}
	most -= 4e-15
	if !(most > floor) {
		return c.infLow, c.infLow
	}
	return a.low + math.Log(most), c.infLow
}
