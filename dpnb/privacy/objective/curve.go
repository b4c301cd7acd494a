package objective

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Curve is all that the accounting needs to know of a loss f and of the radius
// R ≥ ‖x‖: with γ = ‖x‖f′(t) and S = ‖x‖²f″(t),
//
//	S̄(γ) = sup of S over ‖x‖ ≤ R, labels and t that give γ.
//
// One record's γ runs through Range; a loss whose slope has one sign for each
// label (logistic, hinges, probit) is reflected so that γ ≥ 0. Where S̄ jumps
// (a clip value), SBar is the limit from the side of γ = 0.
//
// Implementations are immutable and safe for concurrent use.
type Curve interface {
	// Range returns lo ≤ 0 ≤ hi, both finite, between which γ lies.
	Range() (lo, hi float64)
	// SBar returns S̄(γ) for γ in Range.
	SBar(gamma float64) float64
	// Bounds returns lower ≤ S̄(γ) ≤ upper for all γ in [g0, g1] ⊂ Range.
	Bounds(g0, g1 float64) (lower, upper float64)
	// Clock returns an antiderivative of 1/S̄ at γ, strictly increasing, ±Inf
	// where the integral diverges, correct to 1e-13 relative or absolute. For
	// a GLM whose supremum is at ‖x‖ = R it is t/R.
	Clock(gamma float64) float64
	// Max returns s = max S̄.
	Max() float64
	// String describes the loss and its parameters.
	String() string
}

// Slope returns L = max |γ|, the add/remove-one sensitivity of the gradient.
func Slope(c Curve) float64 {
	lo, hi := c.Range()
	return math.Max(-lo, hi)
}

// OneSigned reports that γ never changes sign.
func OneSigned(c Curve) bool {
	lo, hi := c.Range()
	return lo == 0 || hi == 0
}

// arch is a curve that rises up to a peak and falls after it, which every
// constructor here gives.
type arch struct {
	name   string
	lo, hi float64
	peak   float64
	sbar   func(float64) float64
	clock  func(float64) float64
	// kappa is the smallest κ with S̄(γ) ≤ κγ(hi − γ), lo = 0; 0 if there is none.
	kappa float64
}

func (a *arch) Range() (lo, hi float64)     { return a.lo, a.hi }
func (a *arch) SBar(gamma float64) float64  { return a.sbar(gamma) }
func (a *arch) Clock(gamma float64) float64 { return a.clock(gamma) }
func (a *arch) Max() float64                { return a.sbar(a.peak) }
func (a *arch) String() string              { return a.name }

// roundoff is the relative error allowed to a curve's own arithmetic.
const roundoff = 1e-13

func (a *arch) Bounds(g0, g1 float64) (lower, upper float64) {
	at0, at1 := a.sbar(g0), a.sbar(g1)
	lower, upper = math.Min(at0, at1), math.Max(at0, at1)
	if g0 < a.peak && a.peak < g1 {
		upper = a.sbar(a.peak)
	}
	return lower * (1 - roundoff), upper * (1 + roundoff)
}

// Kappa returns the smallest κ with S̄(γ) ≤ κγ(L − γ) on [0, L], for which
// Theorems A and B hold; 0 if there is none.
func (a *arch) Kappa() float64 { return a.kappa }

// Even reports that S̄(−γ) = S̄(γ) on a symmetric range.
func (a *arch) Even() bool { return a.lo == -a.hi && a.peak == 0 }

func positive(name string, v float64) error {
	if !(v > 0) || math.IsInf(v, 1) {
		return &privacy.ParamError{Name: name, Value: v, Want: "a positive finite number"}
	}
	return nil
}

// Logistic returns the curve of f(t; y) = ln(1 + e^{−yt}), y = ±1:
//
//	γ ∈ [0, R],  S̄(γ) = γ(R − γ).
//
// With |f′| = p, f″ = p(1 − p): S = ‖x‖²p(1 − p) = γ(‖x‖ − γ), largest at ‖x‖ = R.
//
// Errors: *ParamError unless radius is positive and finite.
func Logistic(radius float64) (Curve, error) { return softplus("logistic", 1, radius) }

// Softplus returns the curve of f(t; y) = h ln(1 + e^{(1−yt)/h}), the hinge
// smoothed at width h; also of h ln(1 + e^{−yt/h}), since a shift of t changes
// nothing:
//
//	γ ∈ [0, R],  S̄(γ) = γ(R − γ)/h.
//
// Errors: *ParamError unless both are positive and finite.
func Softplus(width, radius float64) (Curve, error) {
	return softplus(fmt.Sprintf("softplus(h=%g)", width), width, radius)
}

func softplus(name string, width, radius float64) (Curve, error) {
	if err := positive("Width", width); err != nil {
		return nil, err
	}
	if err := positive("Radius", radius); err != nil {
		return nil, err
	}
	return &arch{
		name: fmt.Sprintf("%s, R=%g", name, radius),
		hi:   radius,
		peak: radius / 2,
		sbar: func(g float64) float64 { return g * (radius - g) / width },
		clock: func(g float64) float64 {
			switch {
			case g <= 0:
				return math.Inf(-1)
			case g >= radius:
				return math.Inf(1)
			}
			return math.Log(g/(radius-g)) * width / radius
		},
		kappa: 1 / width,
	}, nil
}

// Huber returns the curve of the Huber loss of threshold T, f(t; y) = ψ(t − y),
// ψ(v) = v²/2 for |v| ≤ T and T|v| − T²/2 beyond:
//
//	γ ∈ [−TR, TR],  S̄(γ) = R².
//
// Errors: *ParamError unless both are positive and finite.
func Huber(threshold, radius float64) (Curve, error) {
	if err := positive("Threshold", threshold); err != nil {
		return nil, err
	}
	if err := positive("Radius", radius); err != nil {
		return nil, err
	}
	l := threshold * radius
	return flat(fmt.Sprintf("huber(T=%g), R=%g", threshold, radius), -l, l, radius*radius), nil
}

// SmoothedHinge returns the curve of the hinge smoothed by a parabola of width
// h: f′ = −1 for yt ≤ 1 − h, (yt − 1)/h up to yt = 1, 0 beyond:
//
//	γ ∈ [0, R],  S̄(γ) = R²/h.
//
// Errors: *ParamError unless both are positive and finite.
func SmoothedHinge(width, radius float64) (Curve, error) {
	if err := positive("Width", width); err != nil {
		return nil, err
	}
	if err := positive("Radius", radius); err != nil {
		return nil, err
	}
	return flat(fmt.Sprintf("smoothed-hinge(h=%g), R=%g", width, radius), 0, radius, radius*radius/width), nil
}

// ClippedSquaredHinge returns the curve of f(t; y) = ½(1 − yt)₊² with each
// record's gradient clipped at norm C; without clipping its slope is unbounded
// and objective perturbation protects nobody:
//
//	γ ∈ [0, C],  S̄(γ) = R².
//
// Errors: *ParamError unless both are positive and finite.
func ClippedSquaredHinge(clip, radius float64) (Curve, error) {
	if err := positive("Clip", clip); err != nil {
		return nil, err
	}
	if err := positive("Radius", radius); err != nil {
		return nil, err
	}
	return flat(fmt.Sprintf("squared-hinge, C=%g, R=%g", clip, radius), 0, clip, radius*radius), nil
}

// flat is the curve S̄ = s on [lo, hi].
func flat(name string, lo, hi, s float64) Curve {
	return &arch{
		name: name, lo: lo, hi: hi,
		sbar:  func(float64) float64 { return s },
		clock: func(g float64) float64 { return g / s },
	}
}

// PseudoHuber returns the curve of f(t; y) = T²(√(1 + ((t−y)/T)²) − 1):
//
//	γ ∈ [−TR, TR],  S̄(γ) = R²(1 − (γ/TR)²)^{3/2}.
//
// With v = (t−y)/T: f′ = Tv/√(1+v²), f″ = (1+v²)^{−3/2} = (1 − (f′/T)²)^{3/2},
// which falls in |f′|, so the supremum is at ‖x‖ = R.
//
// Errors: *ParamError unless both are positive and finite.
func PseudoHuber(threshold, radius float64) (Curve, error) {
	if err := positive("Threshold", threshold); err != nil {
		return nil, err
	}
	if err := positive("Radius", radius); err != nil {
		return nil, err
	}
	l := threshold * radius
	// 1 − (γ/L)² as a product, exact near the ends.
	gap := func(g float64) float64 { return math.Max(0, (1-g/l)*(1+g/l)) }
	return &arch{
		name: fmt.Sprintf("pseudo-huber(T=%g), R=%g", threshold, radius),
		lo:   -l, hi: l,
		sbar: func(g float64) float64 { return radius * radius * math.Pow(gap(g), 1.5) },
		clock: func(g float64) float64 {
			return threshold / radius * (g / l) / math.Sqrt(gap(g))
		},
	}, nil
}

// Clipped returns the curve of c's loss with every record's gradient clipped
// at norm C: for |γ| < C nothing changes, at |γ| = C the loss goes on linearly,
// so that S̄ jumps to 0 there (a path just below it still has S̄(C⁻), which is
// what SBar gives).
//
// Errors: *ParamError unless clip is positive and finite.
// Source: Redberg, Koskela, Wang 2023, Appendix E.
func Clipped(c Curve, clip float64) (Curve, error) {
	if err := positive("Clip", clip); err != nil {
		return nil, err
	}
	lo, hi := c.Range()
	if clip >= math.Max(-lo, hi) {
		return c, nil
	}
	return &clipped{Curve: c, lo: math.Max(lo, -clip), hi: math.Min(hi, clip), clip: clip}, nil
}

type clipped struct {
	Curve
	lo, hi, clip float64
}

func (c *clipped) Range() (lo, hi float64) { return c.lo, c.hi }

func (c *clipped) Max() float64 {
	_, up := c.Curve.Bounds(c.lo, c.hi)
	return up
}

func (c *clipped) Even() bool {
	e, ok := c.Curve.(interface{ Even() bool })
	return ok && e.Even()
}

func (c *clipped) String() string { return fmt.Sprintf("%v, C=%g", c.Curve, c.clip) }
