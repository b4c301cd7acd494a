package proportional

import (
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/internal/quadrature"
	"github.com/dpnb/notebooks/dpnb/loss"
)

// normalRange is where the standard normal law is cut off.
const normalRange = quadrature.NormalRange

// Prox writes to p the proximal operators p = prox_{γf(·;y)}(s), the roots of
//
//	p + γf′(p; y) = s,
//
// and to slope the slopes f′(p; y), for any convex loss. p, slope, s and y have equal lengths; p may be s. It panics
// unless γ > 0 is finite.
//
// Newton's method, kept inside a bracket: f′ rises, so that p lies between s and s − γf′(s; y).
func Prox(p, slope []float64, l loss.Loss, gamma float64, s, y []float64) {
	var w proxWork
	w.solve(p, slope, l, gamma, s, y)
}

// proxWork keeps the slices of Prox between calls.
type proxWork struct{ target, curv, lo, hi, last []float64 }

func (w *proxWork) solve(p, slope []float64, l loss.Loss, gamma float64, s, y []float64) {
	if !(gamma > 0) || math.IsInf(gamma, 1) {
		panic("proportional: γ must be positive and finite")
	}
	n := len(s)
	for _, v := range []*[]float64{&w.target, &w.curv, &w.lo, &w.hi, &w.last} {
		if cap(*v) < n {
			*v = make([]float64, n)
		}
		*v = (*v)[:n]
	}
	copy(w.target, s)
	target, curv, lo, hi, last := w.target, w.curv, w.lo, w.hi, w.last
	l.ValueSlope(slope, target, y)
	l.Curvature(curv, target, y)
	for i, t := range target {
		g := gamma * slope[i]
		lo[i], hi[i] = math.Min(t, t-g), math.Max(t, t-g)
		p[i] = t - g/(1+gamma*curv[i])
		last[i] = math.Inf(1)
	}
	// Each round halves a bracket or is a step of Newton's at most half as long as the one before: 1100 of each are
	// more than float64 has room for.
	for range 2200 {
		l.ValueSlope(slope, p, y)
		l.Curvature(curv, p, y)
		done := true
		for i, t := range target {
			if lo[i] == hi[i] {
				continue
			}
			g := gamma * slope[i]
			r := p[i] + g - t
			if r > 0 {
				hi[i] = p[i]
			} else {
				lo[i] = p[i]
			}
			next := p[i] - r/(1+gamma*curv[i])
			if math.Abs(next-p[i]) <= 4e-16*math.Abs(p[i]) || math.Abs(r) <= 4e-16*(math.Abs(t)+math.Abs(g)) {
				lo[i], hi[i] = p[i], p[i]
				continue
			}
			if !(next > lo[i] && next < hi[i]) || math.Abs(next-p[i]) > 0.5*last[i] {
				next = 0.5 * (lo[i] + hi[i])
				if next == lo[i] || next == hi[i] {
					lo[i], hi[i] = p[i], p[i]
					continue
				}
			}
			last[i] = math.Abs(next - p[i])
			p[i] = next
			done = false
		}
		if done {
			return
		}
	}
}

// scoreRule integrates functions of p = prox_{γf(·;y)}(s) over the score s, for one loss and one label.
type scoreRule struct {
	loss  loss.Loss
	label float64
	kinks []float64 // of f′(·; y)
	// At the nodes of a panel: p, f′(p), f″(p) and the label.
	p, slope, curv, labels []float64
	work                   proxWork
}

func newScoreRule(l loss.Loss, label float64) *scoreRule {
	vector := func() []float64 { return make([]float64, quadrature.Points) }
	r := &scoreRule{loss: l, label: label, p: vector(), slope: vector(), curv: vector(),
		labels: slices.Repeat([]float64{label}, quadrature.Points)}
	if _, ok := l.(loss.Logistic); !ok {
		r.kinks = kinks(l, label)
	}
	return r
}

// at solves for one score and returns p and f′(p).
func (r *scoreRule) at(gamma, s float64) (p, slope float64) {
	r.p[0] = s
	r.work.solve(r.p[:1], r.slope[:1], r.loss, gamma, r.p[:1], r.labels[:1])
	return r.p[0], r.slope[0]
}

// smooth reports that f′ has no kinks.
func (r *scoreRule) smooth() bool { return len(r.kinks) == 0 }

// integrate integrates over s, adaptively between the breaks. f, which is given the scores, finds p, f′(p) and, if the
// loss is smooth, f″(p) at each of them in r.
func (r *scoreRule) integrate(components int, gamma float64, breaks []float64, tol float64,
	f quadrature.Integrand) (v []float64, relErr float64) {
	return quadrature.Adaptive(components, func(s []float64, out [][]float64) {
		r.work.solve(r.p, r.slope, r.loss, gamma, s, r.labels)
		if r.smooth() {
			r.loss.Curvature(r.curv, r.p, r.labels)
		}
		f(s, out)
	}, breaks, tol)
}

// inverse returns s = p + γf′(p; y) for each p: where prox takes the value p.
func (r *scoreRule) inverse(gamma float64, p []float64) []float64 {
	s := make([]float64, len(p))
	r.loss.ValueSlope(s, p, slices.Repeat([]float64{r.label}, len(p)))
	for i := range s {
		s[i] = p[i] + gamma*s[i]
	}
	return s
}

// breaks returns the points between which a function of prox(s), s ~ mean + sd·N, is integrated: multiples of sd around
// the mean; the images s = p + γf′(p) of a geometric grid of p, so that wherever the proximal operator bends, at
// whatever scale, a panel boundary is near; and exactly those of the kinks of f′, which a panel might not see if they
// lie between its end and its first node.
func (r *scoreRule) breaks(mean, sd, gamma float64) []float64 {
	var p []float64
	for e := -3; e <= 60; e += 2 {
		v := math.Ldexp(1, e)
		if v > 4*(math.Abs(mean)+normalRange*sd) {
			break
		}
		p = append(p, v, -v)
	}
	p = append(p, 0)
	lo, hi := mean-normalRange*sd, mean+normalRange*sd
	breaks := []float64{lo, mean - 4*sd, mean - 1.5*sd, mean, mean + 1.5*sd, mean + 4*sd, hi}
	breaks = appendBetween(breaks, lo, hi, r.inverse(gamma, p)...)
	slices.Sort(breaks)
	kept := breaks[:1]
	for _, b := range breaks[1:] {
		if b-kept[len(kept)-1] > 1e-3*sd*math.Min(1, 1/(1+math.Abs(b-mean)/sd)) || b == hi {
			kept = append(kept, b)
		}
	}
	kept = appendBetween(kept, lo, hi, r.inverse(gamma, r.kinks)...)
	slices.Sort(kept)
	return kept
}

// appendBetween appends those of x that lie inside (lo, hi).
func appendBetween(dst []float64, lo, hi float64, x ...float64) []float64 {
	for _, v := range x {
		if v > lo && v < hi {
			dst = append(dst, v)
		}
	}
	return dst
}

// around returns the multiples of sd about each centre at which a normal law is cut.
func around(sd float64, centres ...float64) (x []float64) {
	for _, c := range centres {
		for _, k := range []float64{-8, -4, -1.5, 0, 1.5, 4, 8} {
			x = append(x, c+k*sd)
		}
	}
	return x
}

// kinks returns where f′(·; y) has kinks. A cell is cut if the curvatures at its ends differ much, or if their
// trapezoid is not the difference of the slopes (a bend within it), until there is nothing left to cut. Where a loss is
// all but straight nothing is looked for. A kink too many would do no harm.
func kinks(l loss.Loss, y float64) []float64 {
	at := func(p float64) (slope, curv float64) {
		var s, c [1]float64
		l.ValueSlope(s[:], []float64{p}, []float64{y})
		l.Curvature(c[:], []float64{p}, []float64{y})
		return s[0], c[0]
	}
	floor := 1e-9 * l.Smoothness()
	if !finite(floor) {
		floor = 1e-9
	}
	var found []float64
	budget := 20_000
	var search func(a, b, sa, sb, ca, cb float64)
	search = func(a, b, sa, sb, ca, cb float64) {
		budget--
		most, width := math.Max(ca, cb), b-a
		jump := most > floor && math.Abs(cb-ca) > 0.1*most
		bend := width > 1e-9*(1+math.Abs(a)) && math.Abs(sb-sa-0.5*width*(ca+cb)) > 1e-2*(math.Abs(sb-sa)+width*most) &&
			math.Abs(sb-sa) > floor
		if budget < 0 || !jump && !bend {
			return
		}
		mid := 0.5 * (a + b)
		if mid == a || mid == b {
			found = append(found, mid)
			return
		}
		sm, cm := at(mid)
		search(a, mid, sa, sm, ca, cm)
		search(mid, b, sm, sb, cm, cb)
	}
	const cells = 300
	place := func(k int) float64 { return 0.05 * math.Sinh(18*(float64(2*k)/cells-1)) }
	p := place(0)
	s, c := at(p)
	for k := 1; k <= cells; k++ {
		q := place(k)
		t, d := at(q)
		search(p, q, s, t, c, d)
		p, s, c = q, t, d
	}
	return found
}
