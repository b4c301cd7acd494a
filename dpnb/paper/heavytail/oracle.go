package heavytail

import "math"

// Jet is what a local oracle tells of a function of one variable at a point: value and slope; all higher derivatives
// are zero there.
type Jet struct{ Value, Slope float64 }

// Resisting answers T queries about a smooth convex function on [−1, 1] so that f_C(0) stays open: whatever is asked,
// two functions agree with all answers, to every derivative, and have different f_C(0) = min_y f(y) + C|y|.
//
// f is straight left of l, with a slope below −C, and right of r, with a slope above −C; the minimum of f(y) + Cy is
// between. A query in (l, r) is answered by a straight germ with a slope that is not −C, which moves l or r to it.
// Source: our own; the proof in the paper (Theorem B.1) lets the first answer show the direction that it hides.
type Resisting struct {
	C, Eta float64
	l, r   float64
	at     map[float64]Jet
}

// NewResisting returns the oracle for slopes within eta of −C.
func NewResisting(c, eta float64) *Resisting {
	o := &Resisting{C: c, Eta: eta, l: 0.25, r: 0.75, at: map[float64]Jet{}}
	// The two straight parts meet in the middle, half a unit of curvature above it.
	o.at[o.l] = Jet{-(c + eta) * o.l, -c - eta}
	o.at[o.r] = Jet{o.at[o.l].Value - (c+eta)*0.25 + (eta-c)*0.25 + 0.02*eta, -c + eta}
	return o
}

// line continues the germ at x to y.
func (o *Resisting) line(x, y float64) float64 { return o.at[x].Value + o.at[x].Slope*(y-x) }

// Ask answers a query at y.
func (o *Resisting) Ask(y float64) Jet {
	if y <= o.l {
		return Jet{o.line(o.l, y), o.at[o.l].Slope}
	}
	if y >= o.r {
		return Jet{o.line(o.r, y), o.at[o.r].Slope}
	}
	left, right := o.line(o.l, y), o.line(o.r, y)
	// A germ a little above both lines, with the slope of the side on which more is left.
	chord := (o.line(o.r, o.r)*(y-o.l) + o.line(o.l, o.l)*(o.r-y)) / (o.r - o.l)
	base := math.Max(left, right)
	value := base + 0.25*(chord-base)
	low := math.Max(o.at[o.l].Slope, (value-o.line(o.l, o.l))/(y-o.l)) // slope it must exceed
	high := math.Min(o.at[o.r].Slope, (o.line(o.r, o.r)-value)/(o.r-y))
	slope := low + 0.5*(high-low)
	if slope == -o.C {
		slope = low + 0.4*(high-low)
	}
	o.at[y] = Jet{value, slope}
	if slope < -o.C {
		o.l = y
	} else {
		o.r = y
	}
	return o.at[y]
}

// Extended returns f_C(0) of two functions that agree with every answer: between l and r their slopes rise by a smooth
// step about the same place, a narrow one and a wide one.
func (o *Resisting) Extended() (narrow, wide float64) {
	l, r := o.at[o.l], o.at[o.r]
	// The mean of the slope is given: that of a step about c is l + (r − l)(1 − c).
	mean := (r.Value - l.Value) / (o.r - o.l)
	c := 1 - (mean-l.Slope)/(r.Slope-l.Slope)
	most := math.Min(c, 1-c)
	least := func(width float64) float64 {
		const cells = 20000
		f, best := l.Value, l.Value+o.C*o.l
		for i := range cells {
			u := (float64(i) + 0.5) / cells
			s := smoothStep((u - c) / width)
			f += (l.Slope + (r.Slope-l.Slope)*s) * (o.r - o.l) / cells
			best = math.Min(best, f+o.C*(o.l+(o.r-o.l)*float64(i+1)/cells))
		}
		return best
	}
	return least(0.1 * most), least(0.9 * most)
}

// smoothStep rises from 0 at −1 to 1 at 1, with all derivatives zero at both, and s(−x) = 1 − s(x).
func smoothStep(x float64) float64 {
	switch {
	case x <= -1:
		return 0
	case x >= 1:
		return 1
	}
	a, b := math.Exp(-1/(1+x)), math.Exp(-1/(1-x))
	return a / (a + b)
}
