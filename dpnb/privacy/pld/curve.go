package pld

import (
	"math"
	"slices"
	"sync"

	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// point is a value of ε with bounds on ln δ(ε).
type point struct{ eps, low, up float64 }

// curve is what has been evaluated of one direction of a profile: knots at dyadic ε, rising, and between every two of
// them their midpoint. The knots are where the discretised loss may have mass; the midpoints tell how far the profile
// sags below its chords.
type curve struct {
	eval    func(eps float64) point
	knots   []point
	mids    []point // mids[i] lies between knots[i] and knots[i+1]
	infLow  float64 // lower bound on ln δ(+∞), the loss's mass at infinity
	scratch []float64
}

// bounder is the optional ability to give both bounds from one evaluation.
type bounder interface {
	LogDeltaBounds(d privacy.Direction, eps float64) (low, up float64)
}

// evaluator returns ε ↦ bounds on ln δ of direction d, NaN replaced by the bound that says nothing.
func evaluator(p privacy.Profile, d privacy.Direction) func(float64) point {
	lower, hasLower := p.(privacy.LowerProfile)
	both, hasBoth := p.(bounder)
	return func(eps float64) point {
		q := point{eps: eps, low: math.Inf(-1)}
		switch {
		case hasBoth:
			q.low, q.up = both.LogDeltaBounds(d, eps)
		case hasLower:
			q.up, q.low = p.LogDeltaUpper(d, eps), lower.LogDeltaLower(d, eps)
		default:
			q.up = p.LogDeltaUpper(d, eps)
		}
		if math.IsNaN(q.up) || q.up > 0 {
			q.up = 0
		}
		if math.IsNaN(q.low) {
			q.low = math.Inf(-1)
		}
		q.low = math.Min(q.low, q.up)
		return q
	}
}

const (
	startCells  = 32
	coarseKnots = 1 << 10
	maxKnots    = 1 << 16
	maxLoss     = 1 << 30 // the search for the range of a loss ends here
	minLoss     = 1.0 / (1 << 40)
)

// newCurve evaluates direction d of p coarsely over the range that matters: to the right until δ is below logTail, to
// the left until the loss has less than that much mass. Knots are at multiples of scale times a power of two; scale has
// few binary digits, so that they are exact.
func newCurve(p privacy.Profile, d privacy.Direction, logTail, scale float64) *curve {
	eval := evaluator(p, d)
	atInf := eval(math.Inf(1))
	floor := logTail
	if !math.IsInf(atInf.up, -1) && atInf.up < 0 {
		// Mass at infinity, which no range can exclude.
		floor = math.Max(floor, atInf.up) + math.Ln2*math.Exp(-math.Abs(floor-atInf.up)) + 1e-12
	}
	right := reach(func(w float64) bool { return eval(w).up <= floor })
	// P(W < −w − c) ≤ e^{−w−c}/(1−e^{−c}) δ_opposite(w); c = w/8.
	other := evaluator(p, d.Opposite())
	otherInf := other(math.Inf(1))
	left := reach(func(w float64) bool {
		up := other(w).up
		if otherInf.up > -700 && up <= otherInf.up+1e-9 {
			return true // what is left of P there lies at −∞
		}
		return up-w*1.125-math.Log(-math.Expm1(-w/8)) <= logTail
	}) * 1.125
	unit := scale * math.Exp2(math.Ceil(math.Log2((left+right)/startCells/scale)))
	from, to := -math.Ceil(left/unit), math.Ceil(right/unit)
	c := &curve{infLow: atInf.low}
	c.eval = func(eps float64) point {
		p := eval(eps)
		// The profile is never below its limit, and never below 1 − α; the slack also covers the rounding of sums of
		// values near one.
		p.low = math.Max(p.low, c.infLow)
		if eps < 0 && !math.IsInf(p.low, -1) {
			line := math.Log(-math.Expm1(eps))
			p.low = math.Min(p.up, math.Max(p.low, line-4e-15*(1+math.Abs(line))))
		}
		return p
	}
	for i := from; i <= to; i++ {
		c.knots = append(c.knots, c.eval(i*unit))
		if i < to {
			c.mids = append(c.mids, c.eval((i+0.5)*unit))
		}
	}
	return c
}

// largest returns the largest possible loss, rounded up; +Inf if there is none.
func (c *curve) largest() float64 {
	last := c.knots[len(c.knots)-1]
	if !math.IsInf(last.up, -1) {
		return math.Inf(1)
	}
	if math.IsInf(c.eval(0).up, -1) {
		return 0 // below that δ ≥ 1 − e^ε
	}
	hi := last.eps
	for i := len(c.knots) - 2; i > 0 && math.IsInf(c.knots[i].up, -1); i-- {
		hi = c.knots[i].eps
	}
	_, hi = univariate.Bisect(func(eps float64) bool { return math.IsInf(c.eval(eps).up, -1) }, 0, hi,
		univariate.Arithmetic, 0)
	return hi
}

// reach returns a w at which ok holds, within a factor 1.1 of the smallest if ok is monotone, between minLoss and
// maxLoss.
func reach(ok func(float64) bool) float64 {
	w, _ := univariate.Smallest{Start: 1, Factor: 2, Least: minLoss / 2, Most: maxLoss, Cut: univariate.Geometric,
		Tolerance: 0.1}.Find(func(w float64) (bool, error) { return ok(w), nil })
	return math.Min(w, maxLoss)
}

// refine halves cells wider than minWidth until the tilted mass of a cell times its squared width, summed over the
// cells that are wider, is at most budget, or there are most knots.
func (c *curve) refine(theta, minWidth, budget float64, most int) {
	// Tables grow in buffers that take turns, and are copied once at the end.
	buffers := growth.Get().(*[2]struct{ knots, mids []point })
	defer growth.Put(buffers)
	turn := 0
	for len(c.knots) < most {
		mass := c.cellMasses(theta)
		limit := budget / float64(len(mass))
		split := 0
		for i, m := range mass {
			width := c.knots[i+1].eps - c.knots[i].eps
			if width > minWidth && m*width*width > limit {
				mass[i] = -1 // to be halved
				split++
			}
		}
		if split == 0 {
			break
		}
		buffer := &buffers[turn%2]
		knots, mids := buffer.knots[:0], buffer.mids[:0]
		for i, m := range mass {
			a, b := c.knots[i], c.knots[i+1]
			knots = append(knots, a)
			if m >= 0 {
				mids = append(mids, c.mids[i])
				continue
			}
			mid := c.mids[i]
			knots = append(knots, mid)
			mids = append(mids, c.eval(0.5*(a.eps+mid.eps)), c.eval(0.5*(mid.eps+b.eps)))
		}
		buffer.knots, buffer.mids = append(knots, c.knots[len(c.knots)-1]), mids
		c.knots, c.mids = buffer.knots, buffer.mids
		turn++
	}
	if turn > 0 {
		c.knots, c.mids = slices.Clone(c.knots), slices.Clone(c.mids)
	}
}

// growth has the buffers of refine.
var growth = sync.Pool{New: func() any { return new([2]struct{ knots, mids []point }) }}

// coarsen drops what is not on the lattice of the step and moves the ends outwards onto it.
func (c *curve) coarsen(step float64) {
	on := func(x float64) bool { return math.Floor(x/step) == x/step }
	fine := false
	for _, k := range c.knots {
		fine = fine || !on(k.eps)
	}
	if !fine {
		return
	}
	var knots, mids []point
	n := len(c.knots)
	if first := c.knots[0].eps; !on(first) {
		knots = append(knots, c.eval(math.Floor(first/step)*step))
	}
	for i, k := range c.knots {
		if !on(k.eps) {
			continue
		}
		if m := len(knots); m > 0 {
			if i > 0 && c.knots[i-1].eps == knots[m-1].eps {
				mids = append(mids, c.mids[i-1])
			} else {
				mids = append(mids, c.eval(0.5*(knots[m-1].eps+k.eps)))
			}
		}
		knots = append(knots, k)
	}
	if last := c.knots[n-1].eps; !on(last) {
		end := math.Ceil(last/step) * step
		if m := len(knots); m > 0 {
			mids = append(mids, c.eval(0.5*(knots[m-1].eps+end)))
		}
		knots = append(knots, c.eval(end))
	}
	c.knots, c.mids = knots, mids
}

// cellMasses estimates how the law tilted by e^{θw} is spread over the cells, normalised to one: it only steers where
// to look closer.
func (c *curve) cellMasses(theta float64) []float64 {
	n := len(c.knots)
	if cap(c.scratch) < n {
		c.scratch = make([]float64, n+n/2)
	}
	mass := c.scratch[:n-1]
	// Scale by the largest tilted δ.
	shift := math.Inf(-1)
	for _, k := range c.knots {
		shift = math.Max(shift, k.up+theta*k.eps)
	}
	prev := 0.0 // slope term of the cell to the left, at its right end
	for i := 0; i < n; i++ {
		k := c.knots[i]
		scale := math.Exp(k.up + theta*k.eps - shift)
		var next, right float64
		if i < n-1 {
			d := c.knots[i+1].eps - k.eps
			fall := -math.Expm1(c.knots[i+1].up - k.up)
			if math.IsNaN(fall) {
				fall = 0
			}
			next = scale * fall / math.Expm1(d)
			right = next * math.Exp(math.Min(700, (theta+1)*d))
		}
		p := math.Abs(prev - next)
		prev = right
		if i > 0 {
			mass[i-1] += p
		}
		if i < n-1 {
			mass[i] = p
		}
	}
	var sum float64
	for _, m := range mass {
		sum += m
	}
	if sum > 0 {
		for i := range mass {
			mass[i] /= 0.5 * sum
		}
	}
	return mass
}
