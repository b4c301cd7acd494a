package objective

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/logspace"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Free is curvature that costs nothing at one ε. With slopes in [−L₁, L₂] and
//
//	S̄(γ) ≤ λ(exp[(Lᵢ − |γ|)(ε/Lᵢ + |γ|/(2σ²))] − 1),  i the side that γ is on,
//
// both directions have δ(ε) ≤ δ_G(ε; L₁/σ) + δ_G(ε; L₂/σ), a side without slopes counting nothing: σ comes from a
// closed form, and λ from the largest ratio of the two sides, with no search over paths. It wants a curvature that
// vanishes where the slope is largest. What it says is of this ε alone: it does not compose.
//
// Statement: dpnb/free-curvature; proof: docs/theory/smoothing.md#dpnb-free-curvature.
type Free struct {
	Curve Curve
	// Epsilon > 0.
	Epsilon float64
}

// sides returns L₁ and L₂, 0 for a side without slopes.
func (f Free) sides() [2]float64 {
	lo, hi := f.Curve.Range()
	return [2]float64{-lo, hi}
}

// validate returns a *privacy.ParamError unless ε is positive and finite.
func (f Free) validate() error { return privacy.Positive("Epsilon", f.Epsilon) }

// LogDelta returns ln(δ_G(ε; L₁/σ) + δ_G(ε; L₂/σ)), rounded up.
//
// Errors: *privacy.ParamError.
func (f Free) LogDelta(sigma float64) (float64, error) {
	if err := cmp.Or(f.validate(), privacy.Positive("Sigma", sigma)); err != nil {
		return 0, err
	}
	sum := math.Inf(-1)
	for _, l := range f.sides() {
		if l == 0 {
			continue
		}
		g := privacy.LogDeltaUpper(privacy.GaussianProfile(math.Nextafter(l/sigma, math.Inf(1)), privacy.AddRemove),
			f.Epsilon)
		sum = logspace.Add(sum, g)
	}
	return math.Min(0, sum+4e-16*(1+math.Abs(sum))), nil
}

// Sigma returns the least σ, to a part in 10¹², at which LogDelta is at most ln δ.
//
// Errors: *privacy.ParamError.
func (f Free) Sigma(delta float64) (float64, error) {
	if err := privacy.Fraction("Delta", delta); err != nil {
		return 0, err
	}
	target := math.Nextafter(math.Log(delta), math.Inf(-1))
	return privacy.Calibrate(func(sigma float64) (bool, error) {
		l, err := f.LogDelta(sigma)
		return l <= target, err
	}, 1e-12)
}

// falling is a Curve with S̄(γ) ≤ κ·(hi − γ) and S̄(γ) ≤ κ·(γ − lo).
type falling interface{ Falls() float64 }

// Lambda returns a λ, the least up to a few thousandths, at which the condition holds with noise σ.
//
// Errors: *privacy.ParamError; one that wraps privacy.ErrUnsupported for a curve of which it is not known that it falls
// to 0 at the largest slope as a line does: Huber's does not, nor does that of any kernel whose tail is lighter than
// exponential.
func (f Free) Lambda(sigma float64) (float64, error) {
	if err := cmp.Or(f.validate(), privacy.Positive("Sigma", sigma)); err != nil {
		return 0, err
	}
	fall := 0.0
	if c, ok := f.Curve.(falling); ok {
		fall = c.Falls()
	}
	if !(fall > 0) {
		return 0, fmt.Errorf("%w: %v has curvature at its largest slope, or may have", privacy.ErrUnsupported, f.Curve)
	}
	worst := 0.0
	for side, l := range f.sides() {
		if l == 0 {
			continue
		}
		worst = math.Max(worst, f.side(l, float64(2*side-1), fall, sigma))
	}
	return worst * (1 + 1e-12), nil
}

// side returns sup S̄(γ)/(e^{x(γ)} − 1), x = (l − |γ|)(ε/l + |γ|/(2σ²)), over the side with the given sign. x is
// concave in |γ|, so that over a cell it is least at an end. Cells become smaller towards l; in what is left, S̄ ≤
// fall·(l − |γ|) and e^x − 1 ≥ x.
func (f Free) side(l, sign, fall, sigma float64) float64 {
	rate := func(g float64) float64 { return f.Epsilon/l + g/(2*sigma*sigma) }
	worst, at, left := 0.0, 0.0, l
	for left > l*0x1p-20 {
		next := left * (1 - 0x1p-10)
		g0, g1 := sign*at, sign*(l-next)
		_, most := f.Curve.Bounds(math.Min(g0, g1), math.Max(g0, g1))
		least := math.Min(math.Expm1(left*rate(at)), math.Expm1(next*rate(l-next)))
		worst = math.Max(worst, most/least)
		at, left = l-next, next
	}
	return math.Max(worst, fall/rate(at))
}

// FreeRelease is the event of a release whose curvature is free from ε = From on: there its profile is the closed form
// of Free, and below that what Pointwise says.
//
// Statement: dpnb/free-curvature; proof: docs/theory/smoothing.md#dpnb-free-curvature.
type FreeRelease struct {
	Curve Curve
	// Lambda and Sigma as in Config.
	Lambda, Sigma float64
	// From > 0 is the least ε at which the condition holds: it is refused at others.
	From float64
}

// Profile implements privacy.Event. The condition weakens as ε rises, so that it holds from From on if it holds there.
//
// Bound: upper, for every ε, in both directions.
// Errors: *privacy.ParamError if a field is out of range or λ too small for From; one that wraps privacy.ErrUnsupported
// as Free.Lambda, and for any adjacency but add/remove-one.
func (f FreeRelease) Profile(adj privacy.Adjacency) (privacy.Profile, error) {
	if err := addRemoveOnly("free curvature", adj); err != nil {
		return nil, err
	}
	below, err := New(Config{Curve: f.Curve, Lambda: f.Lambda, Sigma: f.Sigma, Bound: Pointwise})
	if err != nil {
		return nil, err
	}
	least, err := Free{f.Curve, f.From}.Lambda(f.Sigma)
	if err != nil {
		return nil, err
	}
	if !(f.Lambda >= least) {
		return nil, &privacy.ParamError{Name: "Lambda", Value: f.Lambda,
			Want: fmt.Sprintf("at least %.6g, for the curvature to be free at ε = %g", least, f.From)}
	}
	return freeProfile{f, below}, nil
}

// String describes the event.
func (f FreeRelease) String() string {
	return fmt.Sprintf("ObjectivePerturbation(%v, λ=%g, σ=%g, curvature free from ε=%g)", f.Curve, f.Lambda, f.Sigma,
		f.From)
}

type freeProfile struct {
	FreeRelease
	below *Profile
}

func (p freeProfile) Adjacency() privacy.Adjacency { return privacy.AddRemove }

func (p freeProfile) LogDeltaUpper(d privacy.Direction, eps float64) float64 {
	if eps >= p.From && !math.IsInf(eps, 1) {
		if v, err := (Free{p.Curve, eps}).LogDelta(p.Sigma); err == nil {
			return v
		}
	}
	return p.below.LogDeltaUpper(d, eps)
}
