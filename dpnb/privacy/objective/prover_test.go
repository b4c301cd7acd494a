package objective

import (
	"math"
	"sync/atomic"

	"github.com/dpnb/notebooks/dpnb/internal/parallel"
)

// ProveGaussianCase proves Theorem B for one ratio ℓ = λ/(κLσ) and all L/σ in [from, to], to = +Inf allowed, by
// interval arithmetic: then λ ≥ ℓκLσ makes objective perturbation exactly (L/σ)-GDP. It returns how many boxes were
// needed, and whether all of them were settled within maxBoxes; false proves nothing. Source of the inequality:
// docs/theory/gaussian_case.md.
//
// With a = L/σ, e = ε/a, q = γ/L and
//
//	c = e/q − aq/2,  m = ℓ/(1 − q),  k = e/q + aq/2 + ℓ logit q,  x = k − w,
//
// and q₁ the root of c = m, what is proved is, for all e > 0 with e + a/2 < 1/ℓ (beyond that Theorem A applies) and all
// real w,
//
//	∫₀^{q₁} sup_{0≤y≤x₊} [φ(c−y)(1−my)₊ − φ(c)] dq ≤ ∫_{q₁}^1 [φ(c) − φ(c−x₊)(1−mx₊)₊] dq.
func ProveGaussianCase(ratio, from, to float64, maxBoxes int) (boxes int, ok bool) {
	if !(ratio > 0.05 && ratio <= 1 && from >= 0 && from <= to) {
		return 0, false
	}
	pr := newProver(ratio)
	if !pr.farOK {
		return 0, false
	}
	limit := roundUp(1 / ratio)
	to = math.Min(to, 2*limit)
	if from >= to {
		return 0, true // Theorem A alone
	}
	all := proofBox{interval{Lo: 0, Hi: limit}, interval{Lo: from, Hi: to},
		interval{Lo: math.Inf(-1), Hi: pr.far}, 0}
	// Enough pieces to share; what is counted does not depend on who does them.
	pieces := []proofBox{all}
	for range 8 {
		var next []proofBox
		for _, b := range pieces {
			l, r := pr.halve(b)
			next = append(next, l, r)
		}
		pieces = next
	}
	var count atomic.Int64
	var failed atomic.Bool
	parallel.Each(len(pieces), 0, func(i int) {
		stack := []proofBox{pieces[i]}
		for len(stack) > 0 && !failed.Load() {
			b := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if roundDown(b.e.Lo+roundDown(b.a.Lo/2)) >= limit {
				continue // Theorem A
			}
			if count.Add(1) > int64(maxBoxes) {
				failed.Store(true)
			}
			if !pr.holds(b.e, b.a, b.w, b.fine) {
				l, r := pr.halve(b)
				stack = append(stack, l, r)
			}
		}
	})
	return int(count.Load()), !failed.Load()
}

// proofBox is a set of (e, a, w), and how fine a grid of q to use on it.
type proofBox struct {
	e, a, w interval
	fine    int
}

// halve cuts b where it helps most: a step of e matters about twice as much as one of w or of a/2.
func (pr *prover) halve(b proofBox) (l, r proofBox) {
	l, r = b, b
	we, wa := 2*(b.e.Hi-b.e.Lo), (b.a.Hi-b.a.Lo)/2
	ww := b.w.Hi - b.w.Lo
	unbounded := math.IsInf(b.w.Lo, -1)
	if unbounded && b.w.Hi <= -8 {
		ww = 0 // further down nothing changes
	}
	switch {
	case unbounded && ww > 0:
		l.w.Hi, r.w.Lo = -8, -8
	case ww >= we && ww >= wa:
		mid := 0.5 * (b.w.Lo + b.w.Hi)
		l.w.Hi, r.w.Lo = mid, mid
	case we >= wa:
		mid := 0.5 * (b.e.Lo + b.e.Hi)
		l.e.Hi, r.e.Lo = mid, mid
	default:
		mid := 0.5 * (b.a.Lo + b.a.Hi)
		l.a.Hi, r.a.Lo = mid, mid
	}
	fine := 0
	for s := 1.2; fine < len(pr.grids)-1 && max(we, wa, min(ww, 100)) < s; s /= 2 {
		fine++
	}
	l.fine, r.fine = fine, fine
	return l, r
}

// prover holds what does not depend on the box.
type prover struct {
	ratio float64
	// far is a w beyond which the inequality holds by estimates; farOK that those estimates were checked.
	far   float64
	farOK bool
	grids [][]strip
}

// strip is a piece of the range of q: t = logit q, p = 1 − q, and its width.
type strip struct {
	q, p, t, width, m interval
}

func newProver(ratio float64) *prover {
	pr := &prover{ratio: ratio}
	pr.far, pr.farOK = farEnough(ratio)
	reach := pr.far/ratio + 12
	for _, per := range []float64{4, 8, 16, 32, 64, 128} {
		var g []strip
		// Fine where paths of moderate w gain and lose; the loss of one with a given w begins near t = w/ℓ.
		knee := 4 / ratio
		t := -40.0
		prev := math.Inf(-1)
		for {
			g = append(g, newStrip(ratio, prev, t))
			if t >= reach {
				break
			}
			prev = t
			t += 1/per + max(0, -t-6, t-knee)/4
		}
		g = append(g, newStrip(ratio, t, math.Inf(1)))
		pr.grids = append(pr.grids, g)
	}
	return pr
}

// sigmoid returns bounds on 1/(1 + e^{−t}).
func sigmoid(t float64) interval {
	switch {
	case math.IsInf(t, -1):
		return point(0)
	case math.IsInf(t, 1):
		return point(1)
	}
	return point(1).Div(point(1).Add(point(-t).Exp()))
}

func newStrip(ratio, t0, t1 float64) strip {
	q0, q1 := sigmoid(t0), sigmoid(t1)
	p0, p1 := sigmoid(-t0), sigmoid(-t1)
	s := strip{
		q: interval{Lo: q0.Lo, Hi: q1.Hi},
		p: interval{Lo: p1.Lo, Hi: p0.Hi},
		t: interval{Lo: t0, Hi: t1},
	}
	// The width without cancellation: from whichever of q, p is small.
	if t1 <= 0 {
		s.width = q1.Sub(q0)
	} else {
		s.width = p0.Sub(p1)
	}
	s.width = s.width.Max0()
	if s.p.Lo > 0 {
		s.m = point(ratio).Div(s.p)
	} else {
		s.m = interval{Lo: roundDown(ratio / s.p.Hi), Hi: math.Inf(1)}
	}
	return s
}

// holds reports whether the inequality is proved on the box.
func (pr *prover) holds(e, a, w interval, fine int) bool {
	half := point(0.5)
	ratio := point(pr.ratio)
	gain, loss := 0.0, 0.0
	g := pr.grids[fine]
	for i := range g {
		s := &g[i]
		var ratioEQ interval // e/q
		if s.q.Lo > 0 {
			ratioEQ = e.Div(s.q)
		} else {
			ratioEQ = interval{Lo: roundDown(e.Lo / s.q.Hi), Hi: math.Inf(1)}
		}
		aq := a.Mul(s.q)
		halfAQ := aq.Mul(half)
		c := ratioEQ.Sub(halfAQ)
		lt := ratio.Mul(s.t)
		x := ratioEQ.Add(halfAQ).Add(lt).Sub(w)
		switch {
		case c.Hi > s.m.Lo && x.Hi > 0:
			gain = roundUp(gain + roundUp(s.width.Hi*gainBound(c, s.m.Lo, x.Hi, w.Sub(aq).Sub(lt).Lo)))
		case c.Hi < s.m.Lo && x.Lo > 0:
			loss = roundDown(loss + roundDown(s.width.Lo*lossBound(c, s.m.Lo, x.Lo)))
		}
	}
	return gain < loss || gain == 0
}

// gainBound returns an upper bound on sup over 0 ≤ y ≤ x and the c of the interval of φ(c−y)(1−my)₊ − φ(c), given u = c
// − y ≥ u0.
func gainBound(c interval, m, x, u0 float64) float64 {
	// The supremum is at some u ≥ max(u0, m): φ there bounds it.
	floor := max(u0, m)
	best := point(floor).PDF().Hi
	if math.IsInf(c.Hi, 1) || math.IsInf(best, 1) {
		return best
	}
	// ln[e^{cy − y²/2}(1 − my)] is concave in y and rises with c: a tangent.
	s := 1 + m*c.Hi
	root := 2 * (c.Hi - m) / (s + math.Sqrt(max(0, s*s-4*m*(c.Hi-m))))
	y := min(root, x)
	if !(y > 0) || !(1-m*y > 0) {
		return best
	}
	Y, M, C := point(y), point(m), point(c.Hi)
	rest := point(1).Sub(M.Mul(Y))
	if !(rest.Lo > 0) {
		return best
	}
	expo := C.Mul(Y).Sub(Y.Sqr().Mul(point(0.5)))
	// The supremum over y is at most the value at y times this factor: the slope of the logarithm, times how far y can
	// move.
	slope := C.Sub(Y).Sub(M.Div(rest))
	factor := 1.0
	if y < x {
		factor = expUp(roundUp(max(math.Abs(slope.Lo), math.Abs(slope.Hi)) * roundUp(1/m)))
	} else if slope.Lo < 0 {
		factor = expUp(roundUp(-slope.Lo * y))
	}
	rest.Hi = roundUp(rest.Hi * factor)
	low := point(max(0, c.Lo))
	if low.Hi > 8 {
		// e^{cy} alone would overflow; φ(c) is nothing here.
		joint := expo.Sub(low.Sqr().Mul(point(0.5))).Exp().Mul(rest)
		return min(best, roundUp(joint.Hi*0.3990))
	}
	value := expo.Exp().Mul(rest)
	over := roundUp(value.Hi - 1)
	if over <= 0 {
		return 0
	}
	return min(best, roundUp(over*low.PDF().Hi))
}

// lossBound returns a lower bound on φ(c) − φ(c−y)(1−my)₊ over y ≥ x > 0 and the c of the interval, all below m: the
// second term falls in y and rises with c.
func lossBound(c interval, m, x float64) float64 {
	low := min(point(c.Lo).PDF().Lo, point(c.Hi).PDF().Lo)
	X := point(x)
	rest := point(1).Sub(point(m).Mul(X)).Hi
	if math.IsInf(x, 1) || rest <= 0 {
		return low
	}
	r := roundUp(point(c.Hi).Mul(X).Sub(X.Sqr().Mul(point(0.5))).Exp().Hi * rest)
	return max(0, roundDown(low*roundDown(1-r)))
}

// farEnough returns a w from which on the inequality holds, and whether its conditions were checked: for w ≥ far,
//
//	gain ≤ φ(w − C),  C = 1/ℓ + 2ℓ ln(1/ℓ),
//	loss ≥ ½φ(1.01/ℓ)e^{−(w + 1/100)/ℓ},
//
// and the logarithm of the ratio of the two falls in w.
func farEnough(ratio float64) (far float64, ok bool) {
	l := point(ratio)
	inv := point(1).Div(l)
	// ln(1/ℓ) ≤ 3 is not needed sharply: bound it by its value rounded up.
	logInv := roundUp(math.Log(inv.Hi) + 1e-12)
	C := inv.Add(point(2).Mul(l).Mul(point(max(0, logInv))))
	for far = 2; far < 400; far++ {
		// Needed: (w−C)²/2 − (1.01/ℓ)²/2 − (w+0.01)/ℓ − ln 2 > 0, w − C > 1/ℓ, and (1−q)/ℓ ≤ 1/100, q ≥ 0.999 at logit
		// q = w/ℓ.
		w := point(far)
		gap := w.Sub(C)
		cmax := point(1.01).Mul(inv)
		lhs := gap.Sqr().Mul(point(0.5)).Sub(cmax.Sqr().Mul(point(0.5))).
			Sub(w.Add(point(0.01)).Mul(inv)).Sub(point(0.6931471805599454))
		p := sigmoid(-far / ratio)
		if gap.Lo > inv.Hi && lhs.Lo > 0 && p.Hi < 0.001 && roundUp(p.Hi*inv.Hi) < 0.01 {
			return far, true
		}
	}
	return 0, false
}
