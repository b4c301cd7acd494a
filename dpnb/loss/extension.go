package loss

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
)

// Convex is a convex scalar loss φ(t; y) that an Extension can be made of: LeastAbsolute, Pinball, Hinge, ReLU, Affine,
// Huber, Squared, Logistic and Softplus. It need have no bounded slope.
type Convex interface {
	Name() string
	ValidLabel(y float64) bool
	Labels() string
	// Lipschitz returns sup |φ′|, +Inf if there is none.
	Lipschitz() float64
}

// Extendable reports whether an Extension can be made of l.
func Extendable(l Convex) bool {
	switch l.(type) {
	case kinked, bowl:
		return l.ValidLabel(1)
	}
	return false
}

// kinked is a Convex of two straight parts.
type kinked interface {
	Convex
	kink(y float64) kink
}

// kink is lo·(t − at) for t < at and hi·(t − at) beyond.
type kink struct{ lo, hi, at float64 }

// bowl is a differentiable Convex. Its argument is ρ(m − a), the margin m of the direction x̂ = x/‖x‖ and the anchor a
// of the label in the same unit: a = y/ρ for losses of y − t.
type bowl interface {
	Convex
	anchor(y, norm float64) float64
	// curve returns value, slope and curvature at v = t − norm·anchor.
	curve(v, y float64) (value, slope, curvature float64)
	// preciseCurve returns the slope in double-double, and an approximate curvature.
	preciseCurve(v dd.Number, y float64) (slope dd.Number, curvature float64)
}

// The least and the largest ‖x‖ that an Extension tells from longer and shorter ones, and the largest |y|.
const (
	leastNorm, largestNorm = 0x1p-40, 0x1p40
	largestLabel           = 0x1p200
)

// Extension is the smooth Lipschitz extension of φ for records of any length,
//
//	f̃(w) = inf_u φ(⟨x,u⟩; y) + H(w − u) = ψ(⟨x̂,w⟩),  x̂ = x/ρ,  ρ = ‖x‖,  H of the Bend,
//
// as a loss of the margin m = ⟨x̂,w⟩, so that a record has a direction of norm 1 and nothing overflows. Its slope γ
// solves Γ(u) = ρφ′(ρ(m − u)), |γ| ≤ C, and its curvature is at most S̄(|γ|), for every φ, every x and every y. The
// "label" of a record is its number. A record of norm 0, or with a number that is not finite, counts as none: ψ = 0.
// Norms are cut to 2^±40, labels to ±2²⁰⁰: so is what the record is, privately or not. What an offset less the place of
// the kink or anchor rounds to is the record's, too: one rounding is left that depends on m, which is in proportion to
// the result.
//
// Proof: docs/theory/heavytail.md.
type Extension struct {
	of    Convex
	bend  Bend
	norms []float64
	// labels, and offsets that are added to the margins, nil for none.
	labels, offsets []float64
}

// The methods of Loss.

func (e *Extension) Name() string        { return fmt.Sprintf("%s, extended (%v)", e.of.Name(), e.bend) }
func (e *Extension) Lipschitz() float64  { return e.bend.c }
func (e *Extension) Smoothness() float64 { return e.bend.top }
func (e *Extension) Labels() string      { return "the number of the record" }

// Extend returns the extension of a loss, Extendable, over records with the given norms and labels, which it keeps.
// offsets, nil for none, are added to the margins: ⟨x̂ᵢ,w₀⟩ where the argument is w − w₀. It panics if l is not
// Extendable or lengths differ.
func Extend(l Convex, bend Bend, norms, labels, offsets []float64) *Extension {
	if !Extendable(l) || len(labels) != len(norms) || offsets != nil && len(offsets) != len(norms) {
		panic("loss: Extend wants an extendable loss, and a label for each norm")
	}
	return &Extension{l, bend, norms, labels, offsets}
}

// ValidLabel reports whether y is the number of a record.
func (e *Extension) ValidLabel(y float64) bool {
	return y >= 0 && y < float64(len(e.norms)) && y == math.Trunc(y)
}

// record returns ρ and y of a record as cut, the offset, and false if it counts as none.
func (e *Extension) record(number float64) (norm, y, offset float64, ok bool) {
	i := int(number)
	norm, y = e.norms[i], e.labels[i]
	if e.offsets != nil {
		offset = e.offsets[i]
	}
	if !(norm > 0 && e.of.ValidLabel(y) && finite(norm) && finite(offset)) {
		return 0, 0, 0, false
	}
	return min(max(norm, leastNorm), largestNorm), min(max(y, -largestLabel), largestLabel), offset, true
}

// ValueSlope implements Loss: f̃ but for a constant of each record, and γ.
func (e *Extension) ValueSlope(slope, t, y []float64) float64 {
	var sum float64
	k, angled := e.of.(kinked)
	b, _ := e.of.(bowl)
	for i, m := range t {
		slope[i] = 0
		norm, y, offset, ok := e.record(y[i])
		if !ok {
			continue
		}
		var v, u float64
		if angled {
			at := k.kink(y)
			at.at = offset - at.at/norm
			r := m + at.at
			u, slope[i] = e.bend.meetKink(r, norm*at.lo, norm*at.hi)
			if r -= u; r > 0 {
				v = norm * at.hi * r
			} else {
				v = norm * at.lo * r
			}
			if math.IsInf(u, 0) { // no slope of φ is as flat as C: H alone, cut there
				u, v = 0, slope[i]*(m+at.at)
			}
		} else {
			r := m + (offset - b.anchor(y, norm))
			u, slope[i] = e.bend.meetBowl(b, r, norm, y)
			v, _, _ = b.curve(norm*(r-u), y)
		}
		sum += v + e.bend.Integral(math.Abs(u))
	}
	return sum
}

// Curvature implements Loss: 1/(1/(ρ²φ″) + 1/Γ′), 0 where φ is straight.
func (e *Extension) Curvature(curv, t, y []float64) {
	k, angled := e.of.(kinked)
	b, _ := e.of.(bowl)
	for i, m := range t {
		curv[i] = 0
		norm, y, offset, ok := e.record(y[i])
		switch {
		case !ok:
		case angled:
			at := k.kink(y)
			r := m + (offset - at.at/norm)
			if u, _ := e.bend.meetKink(r, norm*at.lo, norm*at.hi); u == r {
				_, curv[i] = e.bend.At(math.Abs(u))
			}
		default:
			r := m + (offset - b.anchor(y, norm))
			u, _ := e.bend.meetBowl(b, r, norm, y)
			_, _, of := b.curve(norm*(r-u), y)
			if _, h := e.bend.At(math.Abs(u)); of > 0 && h > 0 {
				curv[i] = 1 / (1/h + 1/norm/norm/of)
			}
		}
	}
}

// meetKink returns u with γ = Γ(u) in ∂[lo·(r−u)₋ + hi·(r−u)₊], and γ, Γ taken odd: Γ(r) cut to [lo, hi]. If that is
// not within (−C, C), u is infinite and γ = ±C.
func (b Bend) meetKink(r, lo, hi float64) (u, gamma float64) {
	gamma, _ = b.At(math.Abs(r))
	switch gamma = math.Copysign(gamma, r); {
	case gamma > hi:
		gamma = max(hi, -b.c)
	case gamma < lo:
		gamma = min(lo, b.c)
	default:
		return r, gamma
	}
	return math.Copysign(b.Inverse(math.Abs(gamma)), gamma), gamma
}

// meetBowl returns u with Γ(u) = ρφ′(ρ(r − u)) and γ = Γ(u). The left side less the right rises in u: Newton's method
// within a bracket, until u is known to 2⁻⁵⁰ of itself, and so is γ, as Γ(u)/u falls.
func (b Bend) meetBowl(of bowl, r, norm, y float64) (u, gamma float64) {
	_, slope, _ := of.curve(norm*r, y)
	if slope == 0 {
		return 0, 0
	}
	sign := math.Copysign(1, slope)
	lo, hi := 0.0, b.Inverse(norm*math.Abs(slope))
	if _, least, _ := of.curve(0, y); least == 0 {
		hi = min(hi, math.Abs(r))
	}
	u = min(hi, norm*math.Abs(slope)/b.top)
	for range 400 {
		if math.IsInf(hi, 1) && u == lo {
			u = 2*lo + b.c/b.top
		}
		g, dg := b.At(u)
		_, s, ds := of.curve(norm*(r-sign*u), y)
		f := g - norm*s*sign
		if f < 0 {
			lo = u
		} else {
			hi = u
		}
		step := f / (dg + norm*norm*ds)
		next := u - step
		if math.IsInf(hi, 1) { // both laws may be flat here, and a step says nothing of where they bend
			next = min(next, 2*u+math.Abs(r)+b.c/b.top)
		}
		if !(next > lo && next < hi) {
			if next = 0.5 * (lo + hi); math.IsInf(hi, 1) {
				next = 2*u + b.c/b.top
			} else if math.Abs(step) <= 0x1p-50*u || !(next > lo && next < hi) {
				break
			}
		}
		done := math.Abs(next-u) <= 0x1p-50*next
		if u = next; done {
			break
		}
	}
	gamma, _ = b.At(u)
	return sign * u, sign * gamma
}

// slopeError: a slope errs by what Γ does and by 2⁻⁵⁰ of itself, u being known to that.
func (e *Extension) slopeError() float64 { return 0x1p-47 * e.bend.c }

// precise: Γ errs by 2⁻⁸⁵C, u by 2⁻⁹⁰ of itself.
func (e *Extension) precise() Precise {
	k, angled := e.of.(kinked)
	b, _ := e.of.(bowl)
	return Precise{Relative: 0x1p-80, Absolute: 0x1p-80 * e.bend.c, Slope: func(m dd.Number, number float64) dd.Number {
		norm, y, offset, ok := e.record(number)
		if !ok {
			return dd.Number{}
		}
		if !angled {
			return e.bend.preciseBowl(b, m.AddFloat(offset-b.anchor(y, norm)), norm, y)
		}
		at := k.kink(y)
		r := m.AddFloat(offset - at.at/norm)
		sign := math.Copysign(1, r.Hi)
		g, _ := e.bend.preciseAt(r.Scale(sign))
		g = g.Scale(sign)
		lo, hi := max(min(norm*at.lo, e.bend.c), -e.bend.c), max(min(norm*at.hi, e.bend.c), -e.bend.c)
		switch {
		case dd.From(hi).Less(g):
			g = dd.From(hi)
		case g.Less(dd.From(lo)):
			g = dd.From(lo)
		}
		return g
	}}
}

// preciseBowl is meetBowl in double-double, from where that ends.
func (b Bend) preciseBowl(of bowl, r dd.Number, norm, y float64) dd.Number {
	start, gamma := b.meetBowl(of, r.Hi, norm, y)
	if gamma == 0 {
		s, _ := of.preciseCurve(r.MulFloat(norm), y)
		if s.Hi == 0 {
			return s
		}
		start = s.Hi * norm / (b.top + norm*norm)
	}
	sign := math.Copysign(1, start)
	lo, hi, u := dd.Number{}, dd.From(math.Inf(1)), dd.From(math.Abs(start))
	for range 400 {
		g, dg := b.preciseAt(u)
		v := r.Add(u.Scale(-sign)).MulFloat(norm)
		s, ds := of.preciseCurve(v, y)
		f := g.Add(s.MulFloat(-sign * norm))
		if f.Hi < 0 {
			lo = u
		} else {
			hi = u
		}
		step := f.Div(dd.From(dg + norm*norm*ds))
		if math.Abs(step.Hi) <= 0x1p-92*u.Hi {
			break
		}
		next := u.Add(step.Neg())
		if !(lo.Less(next) && next.Less(hi)) {
			if next = lo.Add(hi).Scale(0.5); math.IsInf(hi.Hi, 1) {
				next = u.Scale(2).AddFloat(b.c / b.top)
			}
		}
		u = next
	}
	g, _ := b.preciseAt(u)
	return g.Scale(sign)
}
