package pld

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// work is the composition in one direction, while a question is answered.
type work struct {
	c            *Composition
	scale        float64 // all lattice steps are scale times a power of two
	curves       []*curve
	upper, lower terms
}

// start evaluates every component coarsely. What is cut off at the ends is below e^{lnDelta} by eight orders of
// magnitude.
func (c *Composition) start(d privacy.Direction, lnDelta, scale float64) *work {
	w := &work{c: c, scale: scale, curves: make([]*curve, len(c.components))}
	logTail := lnDelta - math.Log(c.runs) - 18
	parallel.Each(len(w.curves), 0, func(i int) { w.curves[i] = newCurve(c.components[i].Profile, d, logTail, scale) })
	if scale == 1 {
		if aligned := w.aligned(); aligned != 1 {
			return c.start(d, lnDelta, aligned)
		}
	}
	w.discretise(0)
	return w
}

// aligned returns a scale at which the largest loss of the most frequent component that has one is a lattice point, or
// just above one: a lower law on the lattice cannot reach beyond the last point below it. Twenty binary digits leave
// the lattice exact. It returns 1 where there is no largest loss.
func (w *work) aligned() float64 {
	most, scale := 0.0, 1.0
	for i, c := range w.curves {
		top := c.largest()
		if weight := float64(w.c.components[i].Count) * top; top > 0 && !math.IsInf(top, 1) && weight > most {
			most = weight
			mantissa, _ := math.Frexp(top * (1 - 4e-15))
			scale = math.Floor(mantissa*(1<<20)) / (1 << 20)
		}
	}
	return scale
}

// discretise makes laws of the curves as they are; lower ones too if theta, the tilt under which they will be used, is
// positive.
func (w *work) discretise(theta float64) {
	w.upper, w.lower = make(terms, len(w.curves)), nil
	lower := make(terms, len(w.curves))
	var none atomic.Bool
	parallel.Each(len(w.curves), 0, func(i int) {
		c, count := w.curves[i], w.c.components[i].Count
		w.upper[i] = term{c.upperAtoms(), count}
		if theta <= 0 || none.Load() {
			return
		}
		a, ok := c.lowerAtoms(theta)
		if !ok {
			none.Store(true)
		}
		lower[i] = term{a, count}
	})
	if theta > 0 && !none.Load() {
		w.lower = lower
	}
}

// coarse refines until the tilt that answers the question is known well.
func (w *work) coarse(question func(terms) float64) (theta float64) {
	theta = question(w.upper)
	for range 4 {
		parallel.Each(len(w.curves), 0, func(i int) {
			_, _, v := w.upper[i].cumulant(theta)
			w.curves[i].refine(theta, 0, 0.02*v+0.01/(theta*theta), coarseKnots)
		})
		w.discretise(0)
		next := question(w.upper)
		if math.Abs(next-theta) < 0.02*theta {
			return next
		}
		theta = next
	}
	return theta
}

// step returns the lattice step that an ε error of tol asks for. Spreading the loss inside cells of width h adds a
// variance of about h²/6 to the upper law and 5h²/24 to the lower one; a variance v that keeps E e^{−W} moves ε by
// v(θ+1)/2.
func (w *work) step(theta, tol float64) float64 {
	h := math.Sqrt(2 * 0.5 * tol / ((theta + 1) * w.c.runs * 0.5))
	h = math.Min(h, 0.5/theta) / w.scale
	return w.scale * math.Exp2(math.Floor(math.Log2(h)))
}

// refine brings every curve to the step.
func (w *work) refine(theta, step float64) {
	n := float64(len(w.curves))
	parallel.Each(len(w.curves), 0, func(i int) {
		share := math.Max(1, w.c.runs/(float64(w.c.components[i].Count)*n))
		w.curves[i].coarsen(step)
		w.curves[i].refine(theta, step, 0.3*step*step*share, maxKnots)
	})
	w.discretise(theta)
}

// invert hands the composed tails for a tilt and a step, on a lattice that reaches eps, to read; the lower one is nil
// if there is none. fits is false if the lattice would be too large.
func (w *work) invert(theta, step, lnMass, eps float64, read func(up, low *tail)) (fits bool) {
	from, to := w.upper.window(theta, lnMass)
	if w.lower != nil {
		a, b := w.lower.window(theta, lnMass)
		from, to = math.Min(from, a), math.Max(to, b)
	}
	from = math.Min(from, eps-4*step)
	// High above eps the weight e^{−θ(s−ε)} makes up for the mass left out.
	top := math.Max(math.Min(to, eps+(1-lnMass)/theta), eps+4*step)
	// What lies beyond that must not wrap around to where the answer is, eps or a little below: n·step ≥ to − (eps −
	// (eps−from)/2).
	top = math.Max(top, from+to-0.5*(eps+from))
	// With tiny losses and a large ε the places have no integers.
	farthest := math.Abs(from)
	for _, ts := range []terms{w.upper, w.lower} {
		for _, t := range ts {
			if m := len(t.atoms.w); m > 0 {
				farthest = math.Max(farthest, math.Max(math.Abs(t.atoms.w[0]), math.Abs(t.atoms.w[m-1])))
			}
		}
	}
	if !((top-from)/step < float64(w.c.settings.maxPoints()) && farthest < math.MaxInt/8*step) {
		return false
	}
	lat := lattice{step: step, first: int(math.Floor(from/step)) - 2}
	lat.n = smooth(int(math.Ceil(top/step)) + 2 - lat.first)
	lat.reach = to
	if lat.n > w.c.settings.maxPoints() {
		return false
	}
	var up, low *tail
	var wg sync.WaitGroup
	if w.lower != nil {
		wg.Go(func() { low = compose(w.lower, theta, lat, lnMass, -1) })
	}
	up = compose(w.upper, theta, lat, lnMass, +1)
	wg.Wait()
	read(up, low)
	for _, t := range []*tail{up, low} {
		if t != nil && t.release != nil {
			t.release()
		}
	}
	return true
}

const attempts = 5

// root answers EpsilonBounds in one direction, more and more precisely.
type root struct {
	w        *work
	d        privacy.Direction
	lnDelta  float64
	theta    float64
	b        Bounds
	finished bool
	// known is the gap that a step has given, 0 if none has: where to begin next. Bounds are valid at any step.
	known struct{ step, gap float64 }
}

// newSearch evaluates direction d coarsely and finds the tilt.
func (c *Composition) newRoot(d privacy.Direction, lnDelta float64) *root {
	s := &root{w: c.start(d, lnDelta, 1), lnDelta: lnDelta}
	s.b = Bounds{Lower: 0, Upper: math.Inf(1), Method: Fourier}
	if s.w.upper.lnInfinity(+1) >= lnDelta {
		s.w.discretise(1)
		if s.w.lower != nil && s.w.lower.lnInfinity(-1) > lnDelta {
			s.b.Lower = math.Inf(1)
		}
		s.finished = true
		return s
	}
	s.theta = s.w.coarse(s.tilt)
	return s
}

func (s *root) tilt(ts terms) float64 {
	ln := logSub(s.lnDelta, ts.lnInfinity(+1))
	if math.IsInf(ln, -1) {
		ln = s.lnDelta
	}
	theta, _ := ts.tiltForDelta(ln)
	return theta
}

// run narrows the bounds to factor times the tolerance.
func (s *root) run(factor float64) {
	if s.finished {
		return
	}
	w := s.w
	tol := factor * w.c.tolerance(w, s.theta)
	step, last := w.step(s.theta, tol), math.Inf(1)
	if _, _, v := w.upper.cumulant(s.theta); w.scale == 1 && 10*math.Sqrt(v)/step > 1<<17 {
		w = s.rescale(tol)
		step = w.step(s.theta, tol)
	}
	if k := s.known; k.gap > tol { // gaps shrink with a power of the step near 1.6
		next := k.step * math.Exp2(-math.Log2(k.gap/tol)/1.6) / w.scale
		step = math.Min(step, w.scale*math.Exp2(math.Floor(math.Log2(next)))) // the lattices of w, and no others
	}
	for i := range attempts {
		step = w.affordable(s.theta, step)
		w.refine(s.theta, step)
		_, mean, variance := w.upper.cumulant(s.theta)
		ok := w.invert(s.theta, step, lnWrap(s.theta, variance, tol), mean, func(up, low *tail) {
			if eps, above, _ := up.epsilon(s.lnDelta, math.Inf(1)); !above && eps < s.b.Upper {
				s.b.Upper, s.b.Method = math.Max(0, eps), Fourier
			}
			if low == nil {
				return
			}
			if eps, above, ok := low.epsilon(s.lnDelta, s.b.Upper); ok || above {
				s.b.Lower = math.Max(s.b.Lower, eps)
			}
		})
		if !ok {
			step *= 2
			continue
		}
		if w.lower == nil {
			if factor > 8 && i < 2 && w.c.hasLower() { // too coarse for one, and for which direction decides
				step /= 2
				continue
			}
			break
		}
		s.known.step, s.known.gap = step, s.b.Upper-s.b.Lower
		if step, ok = w.finer(s.theta, step, s.b.Upper-s.b.Lower, &last, tol); !ok {
			break
		}
	}
	if s.b.Upper-s.b.Lower > tol {
		if e := w.upper.chernoffEpsilon(s.lnDelta); e < s.b.Upper {
			s.b.Upper, s.b.Method = e, Chernoff
		}
	}
	if e := w.largest(); e < s.b.Upper {
		s.b.Upper, s.b.Method = e, Basic
	}
	s.b.Lower = math.Min(s.b.Lower, s.b.Upper)
}

// hasLower reports whether every profile states lower bounds.
func (c *Composition) hasLower() bool {
	for _, p := range c.components {
		if _, ok := p.Profile.(privacy.LowerProfile); !ok {
			return false
		}
	}
	return true
}

// rescale starts again on lattices of which one has nearly the step that tol asks for: on a large lattice a step up to
// twice too small is dear.
func (s *root) rescale(tol float64) *work {
	current := s.w.scale
	best, most := current, 0.0
	for _, scale := range []float64{1, 1.125, 1.25, 1.375, 1.5, 1.625, 1.75, 1.875} {
		s.w.scale = scale
		if step := s.w.step(s.theta, tol); step > most {
			best, most = scale, step
		}
	}
	s.w.scale = current
	if best != current {
		s.w = s.w.c.start(s.d, s.lnDelta, best)
		s.theta = s.w.coarse(s.tilt)
	}
	return s.w
}

// lnWrap returns ln of the mass that may wrap around the lattice: small against what an ε error of tol changes in
// E_θ[e^{−θ(S−ε)}(1 − e^{ε−S})₊].
func lnWrap(theta, variance, tol float64) float64 {
	return math.Log(1e-4 * math.Min(1, tol*theta) / (1 + theta*math.Sqrt(variance)) / (1 + theta))
}

// tolerance returns the ε error asked for.
func (c *Composition) tolerance(w *work, theta float64) float64 {
	if c.settings != nil && c.settings.Tolerance > 0 {
		return c.settings.Tolerance
	}
	_, eps, _ := w.upper.cumulant(theta)
	return 5e-4 * math.Max(math.Abs(eps), 1e-9)
}

// largest returns the largest possible loss, rounded up; +Inf unless every component has one.
func (w *work) largest() float64 {
	var sum float64
	for i, c := range w.curves {
		sum += float64(w.c.components[i].Count) * c.largest()
	}
	return math.Max(0, sum+1e-15*float64(len(w.curves)+2)*math.Abs(sum))
}

// finer returns the step with which to try again for a gap of tol, and whether that is worth it: not if the last
// refinement did not narrow the gap.
func (w *work) finer(theta, step, gap float64, last *float64, tol float64) (float64, bool) {
	if gap <= tol || gap > 0.7**last || math.IsInf(gap, 1) && math.IsNaN(*last) {
		return step, false
	}
	previous := *last
	*last = gap
	if math.IsInf(gap, 1) {
		*last = math.NaN() // try once more
	}
	order := 1.0 // where a loss has a last atom off the lattice the error is of first order
	if math.IsInf(previous, 1) {
		order = 0.5
	}
	next := step * math.Exp2(math.Floor(order*math.Log2(math.Max(tol/gap, 0x1p-8))))
	return next, next < step && w.affordable(theta, next) < step
}

// affordable returns step, doubled until the lattice is small enough.
func (w *work) affordable(theta, step float64) float64 {
	_, _, v := w.upper.cumulant(theta)
	width := 14 * math.Sqrt(v)
	for width/step > 0.8*float64(w.c.settings.maxPoints()) {
		step *= 2
	}
	return step
}

// startAt evaluates every component far enough into its tail that what is cut off does not decide δ(eps), and returns
// the tilt that answers for eps.
func (c *Composition) startAt(d privacy.Direction, eps float64) (*work, float64) {
	question := func(ts terms) float64 {
		theta, _ := ts.tiltForEpsilon(eps)
		return theta
	}
	lnTail, last := -40.0, math.Inf(1)
	for {
		w := c.start(d, lnTail, 1)
		_, ln := w.upper.tiltForEpsilon(eps)
		inf := w.upper.lnInfinity(+1)
		deep := inf > last-1 || lnTail < -1e5 || eps >= w.largest()
		if deep {
			return w, question(w.upper)
		}
		if inf < ln-10 { // as far as the coarse law, which overstates δ, can tell
			theta := w.coarse(question)
			if _, ln = w.upper.tiltForEpsilon(eps); inf < ln-10 {
				return w, theta
			}
		}
		last = inf
		lnTail *= 2.5
	}
}

// beyondUse is the ln δ below which a bound need not be near the least: a lattice so far out is as fine as the loss is
// small, and takes minutes.
const beyondUse = -1e4

// deltaIn answers DeltaBounds in one direction, in logarithms.
func (c *Composition) deltaIn(d privacy.Direction, eps float64) Bounds {
	w, theta := c.startAt(d, eps)
	b := Bounds{Lower: math.Inf(-1), Upper: 0, Method: Fourier}
	if k, _, _ := w.upper.cumulant(0); math.IsInf(k, -1) {
		return b // nothing is known of a component
	}
	if eps >= w.largest() {
		return Bounds{Lower: math.Inf(-1), Upper: math.Inf(-1), Method: Basic}
	}
	if l := w.upper.chernoffDelta(eps); l < beyondUse {
		return Bounds{Lower: math.Inf(-1), Upper: l, Method: Chernoff}
	}
	tol := math.Min(c.tolerance(w, theta), 5e-3/theta)
	step, last := w.step(theta, tol), math.Inf(1)
	for range attempts {
		step = w.affordable(theta, step)
		w.refine(theta, step)
		_, _, variance := w.upper.cumulant(theta)
		ok := w.invert(theta, step, lnWrap(theta, variance, tol), eps, func(up, low *tail) {
			if l, ok := up.deltaAt(eps); ok {
				b.Upper = math.Min(b.Upper, l)
			}
			if low == nil {
				return
			}
			if l, ok := low.deltaAt(eps); ok {
				b.Lower = math.Max(b.Lower, l)
			}
		})
		if !ok {
			step *= 2
			continue
		}
		if w.lower == nil {
			break
		}
		if step, ok = w.finer(theta, step, (b.Upper-b.Lower)/theta, &last, tol); !ok {
			break
		}
	}
	if l := w.upper.chernoffDelta(eps); l < b.Upper {
		b.Upper, b.Method = l, Chernoff
	}
	b.Lower = math.Min(b.Lower, b.Upper)
	return b
}
