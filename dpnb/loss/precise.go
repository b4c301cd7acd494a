package loss

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
)

// Precise is the slope of a loss in double-double arithmetic.
type Precise struct {
	// Slope returns f′(t; y) to within Relative·|f′| + Absolute, for a label that the loss admits; NaN for NaN.
	Slope func(t dd.Number, y float64) dd.Number
	// Relative and Absolute bound its error.
	Relative, Absolute float64
}

// preciser is a Loss that computes its slope in double-double.
type preciser interface{ precise() Precise }

// PreciseSlope returns the slope of l in double-double, if l has one: every loss of this package has, Poisson when it
// is Clipped, but Convolved with a cosine or free kernel.
func PreciseSlope(l Loss) (Precise, bool) {
	p, ok := l.(preciser)
	if !ok {
		return Precise{}, false
	}
	s := p.precise()
	return s, s.Slope != nil
}

const (
	// preciseError pays for the operations of a slope, none of which takes more than 100u² = 2⁻⁹⁹·³ besides what dd.Exp
	// errs by, 2⁻⁹⁸.
	preciseError = 0x1p-96
	// preciseUnderflow is what is lost below the range of float64.
	preciseUnderflow = 2 * dd.ExpUnderflow
)

// below returns max(0, min(x, top)).
func below(x dd.Number, top float64) dd.Number {
	switch {
	case x.Hi < 0:
		return dd.Number{}
	case dd.From(top).Less(x):
		return dd.From(top)
	}
	return x
}

// within returns x cut to [−c, c].
func within(x dd.Number, c float64) dd.Number {
	switch {
	case dd.From(c).Less(x):
		return dd.From(c)
	case x.Less(dd.From(-c)):
		return dd.From(-c)
	}
	return x
}

// sigmoid returns 1/(1 + e^{−x}): with e = e^{−|x|} it is 1/(1+e) or e/(1+e), which err by what e does and by 18u².
func sigmoid(x dd.Number) dd.Number {
	if x.Hi < 0 {
		e := dd.Exp(x)
		return e.Div(e.AddFloat(1))
	}
	return dd.From(1).Div(dd.Exp(x.Neg()).AddFloat(1))
}

// residual returns 1 − yt for y = ±1, to 2u².
func residual(t dd.Number, y float64) dd.Number { return t.Scale(-y).AddFloat(1) }

func (Logistic) precise() Precise {
	return Precise{Relative: preciseError, Absolute: preciseUnderflow, Slope: func(t dd.Number, y float64) dd.Number {
		return sigmoid(t.Scale(-y)).Scale(-y)
	}}
}

// precise: the argument v of the sigmoid errs by 18u²|v|, which moves it by at most 18u²·|v|s(v)s(−v) ≤ 5u².
func (s Softplus) precise() Precise {
	return Precise{Relative: preciseError, Absolute: preciseError, Slope: func(t dd.Number, y float64) dd.Number {
		return sigmoid(t.Scale(-y).AddFloat(s.margin()).Div(dd.From(s.Width))).Scale(-y)
	}}
}

func (s SmoothedHinge) precise() Precise {
	return Precise{Relative: preciseError, Absolute: preciseUnderflow, Slope: func(t dd.Number, y float64) dd.Number {
		return below(residual(t, y).Div(dd.From(s.Width)), 1).Scale(-y)
	}}
}

func (SquaredHinge) precise() Precise {
	return Precise{Relative: preciseError, Absolute: preciseUnderflow, Slope: func(t dd.Number, y float64) dd.Number {
		return below(residual(t, y), math.Inf(1)).Scale(-y)
	}}
}

func (Squared) precise() Precise {
	return Precise{Relative: preciseError, Absolute: preciseUnderflow, Slope: func(t dd.Number, y float64) dd.Number {
		return t.AddFloat(-y)
	}}
}

func (h Huber) precise() Precise {
	return Precise{Relative: preciseError, Absolute: preciseUnderflow, Slope: func(t dd.Number, y float64) dd.Number {
		return within(t.AddFloat(-y), h.Threshold)
	}}
}

// precise: q/√(1 + q²) with q = (t − y)/T, by 19 + 19 + 20u² relatively; beyond 2⁶⁰ it is 1 to 2⁻¹²¹.
func (p PseudoHuber) precise() Precise {
	return Precise{Relative: preciseError, Absolute: preciseUnderflow * (1 + p.Threshold),
		Slope: func(t dd.Number, y float64) dd.Number {
			q := t.AddFloat(-y).Div(dd.From(p.Threshold))
			if math.Abs(q.Hi) > 0x1p60 {
				return dd.From(math.Copysign(p.Threshold, q.Hi))
			}
			return q.Div(q.Mul(q).AddFloat(1).Sqrt()).MulFloat(p.Threshold)
		}}
}

// precise has no bound for large t; clipped's knows one.
func (p Poisson) precise() Precise { return Precise{} }

// preciseSlope is e^t − y. Above t = log(MaxCount + c) + 1 its being more than c is all that matters.
func (p Poisson) preciseSlope(c float64) Precise {
	largest := p.MaxCount + c
	top := math.Log(largest) + 1
	return Precise{Relative: preciseError, Absolute: preciseError * largest,
		Slope: func(t dd.Number, y float64) dd.Number {
			if t.Hi > top {
				t = dd.From(top)
			}
			return dd.Exp(t).AddFloat(-y)
		}}
}

func (Probit) precise() Precise {
	return Precise{Relative: 0x1p-78, Absolute: 4 * preciseUnderflow, Slope: func(t dd.Number, y float64) dd.Number {
		return preciseHazard(t.Scale(-y)).Scale(-y)
	}}
}

// preciseHazard returns φ(v)/(1 − Φ(v)), relatively to 2⁻⁷⁸.
//
// From 4 on it is the continued fraction of depth 100, which lacks less than 2⁻¹⁰² at 4 (by 400 bits) and less above;
// its terms are positive and err by 18u² each, 2⁻⁹⁵ in all. Within ±4, Q = 1 − Φ = ½ − φ(v)Σ v^{2k+1}/(2k+1)!!: the
// k-th term errs by 20ku², k < 80, the product by 2⁻⁹⁵ of at most ½ and Q(4) = 2⁻¹⁴·⁹ by 2⁻⁸¹ of itself. Below, Q = 1 −
// φ(v)/h(−v).
func preciseHazard(v dd.Number) dd.Number {
	switch {
	case v.Hi >= hazardSwitch:
		return hazardFraction(v)
	case v.Hi <= -hazardSwitch:
		density := preciseDensity(v)
		return density.Div(density.Div(hazardFraction(v.Neg())).Neg().AddFloat(1))
	}
	square := v.Mul(v)
	term, sum := v, v
	for k := 1; k < 80 && math.Abs(term.Hi) > 0x1p-120*math.Abs(sum.Hi); k++ {
		term = term.Mul(square).Div(dd.From(float64(2*k + 1)))
		sum = sum.Add(term)
	}
	density := preciseDensity(v)
	return density.Div(density.Mul(sum).Neg().AddFloat(0.5))
}

// hazardFraction is v + 1/(v + 2/(v + 3/(v + …))). Far out the tail is 1/v to 2⁻¹²⁰ of v.
func hazardFraction(v dd.Number) dd.Number {
	if v.Hi > 0x1p60 {
		return v
	}
	var tail dd.Number
	for k := 100; k >= 1; k-- {
		tail = dd.From(float64(k)).Div(v.Add(tail))
	}
	return v.Add(tail)
}

// preciseDensity returns φ(v): the square errs by 5u²v²/2, at most 2⁻⁹⁵ for v² < 1416.
func preciseDensity(v dd.Number) dd.Number {
	return dd.Exp(v.Mul(v).Scale(-0.5)).Mul(dd.Number{Hi: 0x1.9884533d43651p-2, Lo: -0x1.cbc0d30ebfd15p-56})
}

// precise cuts the slope of the loss, which is what clipping is. Where |f′| ≤ 2c the error is at most doubled in units
// of the cut slope; beyond, the cut is right.
func (f clipped) precise() Precise {
	var inner Precise
	if p, ok := f.of.(Poisson); ok {
		inner = p.preciseSlope(f.level)
	} else if s, ok := PreciseSlope(f.of); ok {
		inner = s
	} else {
		return Precise{}
	}
	return Precise{Relative: 2 * inner.Relative, Absolute: inner.Absolute,
		Slope: func(t dd.Number, y float64) dd.Number {
			return within(inner.Slope(t, y), f.level)
		}}
}
