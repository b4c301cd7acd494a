package objective

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Event is one release by objective perturbation, for every accountant: of the exact minimiser, or of an approximate
// one with Gaussian noise that hides how far off it is (rkw23, Algorithm 1). It implements privacy.RDPEvent.
//
// The zero Bound is the one for most uses: the Gaussian mechanism's profile where λ is so large that it is exact
// (IsGaussian), DTZ24 elsewhere.
type Event struct {
	Config
	// Tolerance τ bounds the norm of the gradient at the point that is released, and OutputSigma σ_out is the standard
	// deviation of each coordinate of its noise. Both are zero where the exact minimiser is released.
	Tolerance, OutputSigma float64
}

var _ privacy.RDPEvent = Event{}

// Validate returns a *privacy.ParamError for the first field that is out of range, or an error that wraps
// privacy.ErrUnsupported for output noise with a bound that is no supremum of profiles.
func (e Event) Validate() error {
	cfg := e.Config
	if cfg.Bound == 0 {
		cfg.Bound = DTZ24
	}
	if err := cfg.Validate(); err != nil {
		return err
	}
	if e.Tolerance == 0 && e.OutputSigma == 0 {
		return nil
	}
	if e.Bound == KST12 || e.Bound == GaussianLower {
		return fmt.Errorf("%w: the bound %v with output noise", privacy.ErrUnsupported, e.Bound)
	}
	return e.output().Validate()
}

// output is the event of the output noise.
func (e Event) output() privacy.ApproximateMinimum {
	return privacy.ApproximateMinimum{Tolerance: e.Tolerance, Lambda: e.Lambda, SigmaOut: e.OutputSigma}
}

// IsGaussian reports whether the objective's part is accounted for as the Gaussian mechanism that it is proved to be
// (Theorem B).
func (e Event) IsGaussian() bool {
	return (e.Bound == 0 || e.Bound == Tight) && e.Curve != nil && IsGaussian(e.Curve, e.Lambda, e.Sigma)
}

// computed reports whether the bound is one that is computed from the curve.
func (b Bound) computed() bool { return b == Pointwise || b == Integral || b == Tight }

// Profile implements privacy.Event. Under replace-one it is what follows from add/remove-one, a replacement being a
// removal and an addition: the (2L/σ)-GDP profile in the Gaussian case.
//
// With output noise, μ = 2τ/(λσ_out) and a = L/σ, it is √(a² + μ²)-GDP in the Gaussian case, that of W + G by RKW23 and
// DTZ24 (HalfNormalGaussian), and E δ(ε − G) by the bounds that are computed (WithGaussian).
//
// Bound: upper. Errors: as Validate, and *privacy.ParamError for adj.
// Source: rkw23, Theorem 3.1 and Section 4; dtz24, Theorem 5.1.
// Proof: docs/theory/objective_perturbation.md, gaussian_case.md and clipping.md, section 5.
func (e Event) Profile(adj privacy.Adjacency) (privacy.Profile, error) {
	if err := cmp.Or(e.Validate(), adj.Validate()); err != nil {
		return nil, err
	}
	p, err := e.addRemove()
	if err != nil {
		return nil, err
	}
	if own, ok := p.(*Profile); ok && adj == privacy.ReplaceOne && own.cfg.Bound == Tight && e.IsGaussian() {
		p = privacy.GaussianProfile(e.Law().A, privacy.AddRemove)
	}
	return privacy.ConvertAdjacency(p, adj)
}

// addRemove is Profile under add/remove-one, of a valid event.
func (e Event) addRemove() (privacy.Profile, error) {
	var mu float64
	if e.Tolerance > 0 {
		_, mu = e.output().MuBounds()
	}
	w := e.Law()
	switch {
	case e.IsGaussian() && (e.Bound == 0 || mu > 0):
		return privacy.GaussianProfile(math.Hypot(w.A, mu)*(1+0x1p-50), privacy.AddRemove), nil
	case mu == 0 || e.Bound.computed():
		cfg := e.Config
		if cfg.Bound == 0 {
			cfg.Bound = DTZ24
		}
		p, err := New(cfg)
		if err != nil || mu == 0 {
			return p, err
		}
		return privacy.WithGaussian(p, mu, w.A), nil
	}
	return privacy.HalfNormalGaussian{HalfNormal: w, Mu: mu}.Profile(privacy.AddRemove)
}

// RDP returns the Rényi curve of both directions under add/remove-one: that of the Gaussian mechanism where IsGaussian,
// and of DTZ24 elsewhere, whatever the bound, with αμ²/2 for the output noise.
//
// Errors: as Profile; privacy.ErrUnsupported under replace-one.
func (e Event) RDP(adj privacy.Adjacency) (privacy.RDPCurve, error) {
	if err := e.Validate(); err != nil {
		return privacy.RDPCurve{}, err
	}
	if adj != privacy.AddRemove {
		return privacy.RDPCurve{}, fmt.Errorf("%w: the Rényi curve of objective perturbation is known under "+
			"add/remove-one only", privacy.ErrUnsupported)
	}
	output := func(float64) float64 { return 0 }
	if e.Tolerance > 0 {
		c, err := e.output().RDP(adj)
		if err != nil {
			return privacy.RDPCurve{}, err
		}
		output = c.Epsilon
	}
	return privacy.RDPCurve{Adj: adj, Epsilon: func(alpha float64) float64 {
		v, err := RDP(e.Config, alpha)
		if err != nil {
			return math.Inf(1)
		}
		return (v + output(alpha)) * (1 + 4e-16)
	}}, nil
}

// Caveat says what the event's figures are where they are no guarantee.
func (e Event) Caveat() string {
	if e.Bound == GaussianLower {
		return "gaussian-lower is a LOWER bound of what the mechanism costs, no guarantee"
	}
	return ""
}

// String describes the event.
func (e Event) String() string {
	loss, bound := "", e.Bound.String()
	if e.Curve != nil {
		loss = fmt.Sprint(e.Curve)
	} else {
		loss = fmt.Sprintf("L=%g, s=%g", e.Slope, e.Smoothness)
	}
	if e.Bound == 0 {
		bound = "closed form"
	}
	if e.Tolerance == 0 && e.OutputSigma == 0 {
		return fmt.Sprintf("ObjectivePerturbation(%v, λ=%g, σ=%g, %v)", loss, e.Lambda, e.Sigma, bound)
	}
	return fmt.Sprintf("ObjectivePerturbation(%v, λ=%g, σ=%g, τ=%g, σ_out=%g, %v)", loss, e.Lambda, e.Sigma,
		e.Tolerance, e.OutputSigma, bound)
}
