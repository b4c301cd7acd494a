package loss

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"github.com/dpnb/notebooks/dpnb/internal/recent"
)

// Curve is what the accounting of objective perturbation needs to know of a loss f and of the radius R ≥ ‖x‖: with γ =
// ‖x‖f′(t) and S = ‖x‖²f″(t),
//
//	S̄(γ) = sup of S over ‖x‖ ≤ R, labels and t that give γ,
//
// which rises up to a peak and falls after it. A loss whose slope has one sign for each label (logistic, hinges,
// probit) is reflected so that γ ≥ 0. A Curve does not change once it is made and is safe for concurrent use; it
// implements privacy/objective.Curve.
type Curve struct {
	// Name describes the loss, its parameters and R.
	Name string
	// Lo ≤ 0 ≤ Hi, both finite, are the bounds of γ; Peak is where S̄ is largest.
	Lo, Hi, Peak float64
	// Sup returns S̄(γ) for γ in [Lo, Hi].
	Sup func(gamma float64) float64
	// Antiderivative of 1/S̄, strictly increasing, ±Inf where the integral diverges, correct to 1e-13 relative or
	// absolute: t/R for the t that gives γ at ‖x‖ = R.
	Antiderivative func(gamma float64) float64
	// Quadratic is κ if S̄(γ) = κγ(Hi − γ) and Lo = 0; 0 if it is not so.
	Quadratic float64
	// Fall is κ if S̄(γ) ≤ κ(Hi − γ) and S̄(γ) ≤ κ(γ − Lo); 0 if that is not so.
	Fall float64
	// Symmetric says that S̄(−γ) = S̄(γ).
	Symmetric bool
	// cut is the norm at which gradients are clipped, 0 if they are not.
	cut float64
	// of is what CurveOf remembers, of which this is a copy; nil for a curve by other hands.
	of *Curve
}

// Same returns what the copies have in common that CurveOf returns for the same loss, radius and level, by which to
// remember what was computed of one; nil for any other curve, and for a copy that was changed.
func (c *Curve) Same() any {
	if c.of == nil {
		return nil
	}
	a, b := *c, *c.of
	if function(&a.Sup) != function(&b.Sup) || function(&a.Antiderivative) != function(&b.Antiderivative) {
		return nil
	}
	a.of, a.Sup, a.Antiderivative, b.Sup, b.Antiderivative = nil, nil, nil, nil, nil
	if reflect.DeepEqual(a, b) {
		return c.of
	}
	return nil
}

// function tells functions apart, which cannot be compared: two with what they refer to in one place are one function.
func function(f *func(float64) float64) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(f)) }

// Curved is a Loss that states its curve.
type Curved interface {
	Loss
	// Curve returns the curve for records of norm at most radius, the loss's slope being cut at level (+Inf: not at
	// all), or nil if the slope is unbounded or a parameter is out of range. The caller cuts Lo and Hi at
	// ∓radius·level.
	Curve(radius, level float64) *Curve
}

// ErrNoCurve says that a loss has no curve, or none for the parameters that it has.
var ErrNoCurve = errors.New("loss: the curvature at a given slope is not known")

// CurveOf returns the curve of l for records of norm at most radius, l as it is or
// Clipped: a loss clipped at c has the gradients of norm at most radius·c, and its records with smaller ones are some
// of those of the loss itself (all of them if ‖x‖ = radius), so that the curve of the loss, cut at radius·c, covers it.
//
// Errors: ErrNoCurve (wrapped).
// Proof: docs/theory/clipping.md.
func CurveOf(l Loss, radius float64) (*Curve, error) {
	of, level, isClipped := Unclip(l)
	curved, ok := of.(Curved)
	switch {
	case !ok:
		return nil, fmt.Errorf("%w: the %s loss does not state it", ErrNoCurve, l.Name())
	case !positive(radius):
		return nil, fmt.Errorf("%w: the radius is %v, want a positive finite number", ErrNoCurve, radius)
	case isClipped && !positive(level*radius) || math.IsNaN(of.Smoothness()):
		return nil, fmt.Errorf("%w: a parameter of the %s loss is out of range", ErrNoCurve, l.Name())
	}
	make := func() (*Curve, error) {
		c := curved.Curve(radius, level)
		switch {
		case c == nil:
			return nil, fmt.Errorf("%w: the slope of the %s loss has no bound, or one beyond float64: clip it; or it "+
				"is weighted and not among those for which Weighted.Curve knows it", ErrNoCurve, l.Name())
		case isClipped:
			return c.Clip(level * radius), nil
		}
		return c, nil
	}
	if !fixed(reflect.ValueOf(of)) {
		return make()
	}
	made, err := curves.Of(curveKey{of, radius, level}, make)
	if err != nil {
		return nil, err
	}
	c := *made
	c.of = made
	return &c, nil
}

// curveKey is what a curve is made of.
type curveKey struct {
	of            Loss
	radius, level float64
}

// curves are those that were asked for last, so that what was computed of one is found again.
var curves = recent.Values[curveKey, *Curve]{Kept: 256}

// fixed reports whether all that a value holds is in itself and cannot change: numbers, texts, and structures of them.
func fixed(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Interface:
		return fixed(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if !fixed(v.Field(i)) {
				return false
			}
		}
		return true
	}
	return !v.IsValid() || v.CanInt() || v.CanFloat() || v.Kind() == reflect.Bool || v.Kind() == reflect.String
}

// flat is the curve S̄ = s on [lo, hi].
func flat(name string, lo, hi, s float64) *Curve {
	return &Curve{
		Name: name, Lo: lo, Hi: hi,
		Sup:            func(float64) float64 { return s },
		Antiderivative: func(gamma float64) float64 { return gamma / s },
	}
}

// parabola is γ ∈ [lo, hi], S̄(γ) = (γ − lo)(hi − γ)/h, hi − lo = R: of f′ = s(·/h) but for a constant, s(v) = 1/(1 +
// e^{−v}).
func parabola(name string, lo, hi, width, radius float64) *Curve {
	return &Curve{
		Name: fmt.Sprintf("%s, R=%g", name, radius),
		Lo:   lo, Hi: hi, Peak: 0.5 * (lo + hi), Fall: radius / width,
		Sup: func(gamma float64) float64 { return (gamma - lo) * (hi - gamma) / width },
		Antiderivative: func(gamma float64) float64 {
			switch {
			case gamma <= lo:
				return math.Inf(-1)
			case gamma >= hi:
				return math.Inf(1)
			}
			return math.Log((gamma-lo)/(hi-gamma)) * width / radius
		},
	}
}

// logisticCurve is γ ∈ [0, R], S̄(γ) = γ(R − γ)/h. With |f′| = p, f″ = p(1 − p)/h: S = ‖x‖²p(1 − p)/h = γ(‖x‖ − γ)/h,
// largest at ‖x‖ = R.
func logisticCurve(name string, width, radius float64) *Curve {
	c := parabola(name, 0, radius, width, radius)
	c.Quadratic = 1 / width
	return c
}

// Clip returns the curve of c's loss with every record's gradient clipped at the norm limit > 0: for |γ| < limit
// nothing changes, at |γ| = limit the loss goes on linearly, so that S̄ jumps to 0 there; SBar gives the limit from the
// side of γ = 0.
//
// Source: Redberg, Koskela, Wang 2023, Appendix E.
func (c *Curve) Clip(limit float64) *Curve {
	if limit >= math.Max(-c.Lo, c.Hi) {
		return c
	}
	cut := *c
	cut.Lo, cut.Hi, cut.Quadratic, cut.Fall, cut.cut = math.Max(c.Lo, -limit), math.Min(c.Hi, limit), 0, 0, limit
	return &cut
}

// Range returns the bounds of γ.
func (c *Curve) Range() (lo, hi float64) { return c.Lo, c.Hi }

// SBar returns S̄(γ) for γ in Range.
func (c *Curve) SBar(gamma float64) float64 { return c.Sup(gamma) }

// Clock returns an antiderivative of 1/S̄ at γ.
func (c *Curve) Clock(gamma float64) float64 { return c.Antiderivative(gamma) }

// Max returns s = max S̄.
func (c *Curve) Max() float64 {
	if c.cut > 0 {
		_, most := c.Bounds(c.Lo, c.Hi)
		return most
	}
	return c.Sup(c.Peak)
}

// Bounds returns lower ≤ S̄(γ) ≤ upper for all γ in [g0, g1] ⊂ Range.
func (c *Curve) Bounds(g0, g1 float64) (lower, upper float64) {
	const roundoff = 1e-13 // the relative error allowed to S̄'s own arithmetic
	at0, at1 := c.Sup(g0), c.Sup(g1)
	lower, upper = math.Min(at0, at1), math.Max(at0, at1)
	if g0 < c.Peak && c.Peak < g1 {
		upper = c.Sup(c.Peak)
	}
	return lower * (1 - roundoff), upper * (1 + roundoff)
}

// Kappa returns κ if S̄(γ) = κγ(L − γ) on [0, L], and 0 if it is not so.
func (c *Curve) Kappa() float64 { return c.Quadratic }

// Falls returns κ if S̄(γ) ≤ κ(hi − γ) and ≤ κ(γ − lo) on [lo, hi], and 0 if it is not so.
func (c *Curve) Falls() float64 { return c.Fall }

// Even reports that S̄(−γ) = S̄(γ) on a symmetric range.
func (c *Curve) Even() bool { return c.Symmetric && c.Lo == -c.Hi }

// String describes the loss, its parameters and where it is cut.
func (c *Curve) String() string {
	if c.cut > 0 {
		return fmt.Sprintf("%s, C=%g", c.Name, c.cut)
	}
	return c.Name
}
