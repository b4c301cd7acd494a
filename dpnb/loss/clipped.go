package loss

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/univariate"
)

// clipping is what Clipped must know of a loss at a level c < sup|f′|.
type clipping struct {
	// points returns lo ≤ hi with |f′(t; y)| ≤ c exactly for lo ≤ t ≤ hi; ±Inf where f′ does not reach ∓c.
	points func(y float64) (lo, hi float64)
	// smoothness is sup f″ where |f′| ≤ c.
	smoothness float64
	// slopeError as in SlopeError.
	slopeError float64
}

// clipper is a Loss that knows its clip points in closed form. Others are searched.
type clipper interface{ clip(c float64) clipping }

// marginClip is that of a loss of m = yt whose slope in m rises to 0 and is −c at m0.
func marginClip(m0, smoothness float64) clipping {
	return clipping{smoothness: smoothness, points: func(y float64) (lo, hi float64) {
		if y > 0 {
			return m0, math.Inf(1)
		}
		return math.Inf(-1), -m0
	}}
}

// residualClip is that of a loss of v = t − y whose slope is −c at v0 and c at v1.
func residualClip(v0, v1, smoothness float64) clipping {
	return clipping{smoothness: smoothness, points: func(y float64) (lo, hi float64) { return y + v0, y + v1 }}
}

// Clipped returns the clipped-gradient loss f_c of l: with t₋ ≤ t₊ the points where f′ reaches −c and c (±∞ where it
// does not),
//
//	f_c(t) = f(t₋) − c(t − t₋)  for t < t₋,
//	f_c(t) = f(t)               for t₋ ≤ t ≤ t₊,
//	f_c(t) = f(t₊) + c(t − t₊)  for t > t₊,
//
// so that f_c′ is f′ cut to [−c, c]: convex, |f_c′| ≤ c, and as smooth as f, or smoother if f's curvature is at slopes
// that are cut off. t± depend on the label.
//
// c bounds the slope in t = xᵀθ: for rows of norm at most R the gradients have norm at most R·c. Cutting ‖∇ℓ‖ at C
// wants the level C/‖x‖ of each record; the level c = C/R is the one that serves all (docs/theory/clipping.md).
//
// A level that l never exceeds returns l itself. A level that is not positive and finite gives a loss that nothing
// accepts. A loss of another package is searched for t± by bisection, record by record: right, but slow.
//
// Source: Song, Thakkar, Thakurta 2020, Lemma 5.1; Redberg, Koskela, Wang 2023 (rkw23), Theorems E.2 and E.3.
func Clipped(l Loss, c float64) Loss {
	if positive(c) && c >= l.Lipschitz() {
		return l
	}
	if w, ok := l.(Weighted); ok {
		return Weighted{Clipped(w.Of, c)} // a weight is at most 1
	}
	if f, ok := l.(clipped); ok && positive(c) {
		return Clipped(f.of, c) // cutting twice is cutting at the lower level
	}
	f := clipped{of: l, level: c}
	switch k, ok := l.(clipper); {
	case !positive(c) || math.IsNaN(l.Smoothness()):
		f.clipping = clipping{
			points:     func(float64) (lo, hi float64) { return math.NaN(), math.NaN() },
			smoothness: math.NaN(),
		}
		f.level = math.NaN()
	case ok:
		f.clipping = k.clip(c)
	default:
		f.clipping = clipping{
			points:     func(y float64) (lo, hi float64) { return searchPoints(l, c, y) },
			smoothness: l.Smoothness(),
			slopeError: SlopeError(l),
		}
	}
	return f
}

// ClippedAt returns the loss whose gradients are clipped at norm C for rows of norm at most rowNorm: Clipped at the
// level C/rowNorm. For rows of norm rowNorm it is rkw23's clipping of ‖∇ℓ‖ at C; shorter rows are clipped earlier than
// there (docs/theory/clipping.md says why).
func ClippedAt(l Loss, c, rowNorm float64) Loss { return Clipped(l, c/rowNorm) }

// Unclip returns the loss and the level that Clipped was given, if l is Clipped; it stays Weighted if it is.
func Unclip(l Loss) (of Loss, level float64, ok bool) {
	if w, weighted := l.(Weighted); weighted {
		of, level, ok = Unclip(w.Of)
		return Weighted{of}, level, ok
	}
	f, ok := l.(clipped)
	if !ok {
		return l, math.Inf(1), false
	}
	return f.of, f.level, true
}

type clipped struct {
	of    Loss
	level float64
	clipping
}

// The methods of Loss.

func (f clipped) Name() string              { return fmt.Sprintf("%s, |f′| ≤ %g", f.of.Name(), f.level) }
func (f clipped) Lipschitz() float64        { return f.level }
func (f clipped) Smoothness() float64       { return f.smoothness }
func (f clipped) ValidLabel(y float64) bool { return positive(f.level) && f.of.ValidLabel(y) }
func (f clipped) Labels() string            { return labelsOr(f.of.Labels(), "clip level", f.level) }

// ValueSlope implements Loss: the loss itself at t moved into [t₋, t₊], and the lines from there.
func (f clipped) ValueSlope(slope, t, y []float64) float64 {
	var lines float64
	slope, y = slope[:len(t)], y[:len(t)]
	moved := slope
	if len(t) > 0 && &slope[0] == &t[0] {
		moved = make([]float64, len(t)) // t is read again below
	}
	for i, ti := range t {
		lo, hi := f.points(y[i])
		switch {
		case ti < lo:
			lines += f.level * (lo - ti)
			moved[i] = lo
		case ti > hi:
			lines += f.level * (ti - hi)
			moved[i] = hi
		default:
			moved[i] = ti
		}
	}
	sum := f.of.ValueSlope(moved, moved, y)
	for i, ti := range t {
		lo, hi := f.points(y[i])
		switch {
		case ti < lo:
			moved[i] = -f.level
		case ti > hi:
			moved[i] = f.level
		default:
			moved[i] = math.Max(-f.level, math.Min(f.level, moved[i]))
		}
	}
	copy(slope, moved)
	return sum + lines
}

// Curvature implements Loss: that of the loss within [t₋, t₊], 0 outside.
func (f clipped) Curvature(curv, t, y []float64) {
	curv, y = curv[:len(t)], y[:len(t)]
	keep := t
	if len(t) > 0 && &curv[0] == &t[0] {
		keep = append([]float64(nil), t...)
	}
	f.of.Curvature(curv, t, y)
	for i, ti := range keep {
		if lo, hi := f.points(y[i]); ti < lo || ti > hi {
			curv[i] = 0
		}
	}
}

func (f clipped) slopeError() float64 { return f.clipping.slopeError }

// searchPoints finds the clip points of any loss for the label y. Where the slope reaches ±c only beyond |t| = 1e300 it
// is taken not to.
func searchPoints(l Loss, c, y float64) (lo, hi float64) {
	labels, slope := []float64{y}, make([]float64, 1)
	at := func(t float64) float64 {
		slope[0] = t
		l.ValueSlope(slope, slope, labels)
		return slope[0]
	}
	hi = firstTrue(func(t float64) bool { return at(t) >= c })
	lo = -firstTrue(func(t float64) bool { return at(-t) <= -c })
	return lo, hi
}

// firstTrue returns where ok, false and then true along the line, turns true, to the last bit from above; +Inf if it
// does not.
func firstTrue(ok func(float64) bool) float64 {
	low, high := -1.0, 1.0
	for !ok(high) {
		if high > 1e300 {
			return math.Inf(1)
		}
		low, high = high, high*8
	}
	for low < 0 && ok(low) {
		if low < -1e300 {
			return math.Inf(-1)
		}
		low, high = low*8, low
	}
	_, high = univariate.Bisect(ok, low, high, univariate.Arithmetic, 0)
	return high
}
