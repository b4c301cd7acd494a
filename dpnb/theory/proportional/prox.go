package proportional

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/loss"
)

// Prox writes to p the proximal operators p = prox_{γf(·;y)}(s), the roots of
//
//	p + γf′(p; y) = s,
//
// and to slope the slopes f′(p; y), for any convex loss. p, slope, s and y have
// equal lengths; p may be s. It panics unless γ > 0 is finite.
//
// Newton's method, kept inside a bracket: f′ rises, so that p lies between s
// and s − γf′(s; y).
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
	// Each round halves a bracket or is a step of Newton's at most half as long as
	// the one before: 1100 of each are more than float64 has room for.
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

// inverseProx returns s = p + γf′(p; y) for each p: where prox takes the value p.
func inverseProx(l loss.Loss, gamma, y float64, p []float64) []float64 {
	s, labels := make([]float64, len(p)), make([]float64, len(p))
	for i := range labels {
		labels[i] = y
	}
	l.ValueSlope(s, p, labels)
	for i := range s {
		s[i] = p[i] + gamma*s[i]
	}
	return s
}

// kinks returns where f′(·; y) has kinks. A cell is cut if the curvatures at its
// ends differ much, or if their trapezoid is not the difference of the slopes (a
// bend within it), until there is nothing left to cut. Where a loss is all but
// straight nothing is looked for. A kink too many would do no harm.
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
		bend := width > 1e-9*(1+math.Abs(a)) && math.Abs(sb-sa-0.5*width*(ca+cb)) > 1e-2*(math.Abs(sb-sa)+width*most) && math.Abs(sb-sa) > floor
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
