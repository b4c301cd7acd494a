package objective

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/logspace"
	"github.com/dpnb/notebooks/dpnb/internal/recent"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Config says what was run and how it is to be accounted for.
type Config struct {
	// Curve of the loss, with its radius. KST12, RKW23 and DTZ24 do without one where Slope and Smoothness are stated.
	Curve Curve
	// Slope L and Smoothness s of one record's loss in θ, with its radius: bounds on the norm of its gradient and on
	// its curvature. Zero stands for those of Curve.
	Slope, Smoothness float64
	// Lambda is the ridge λ in (λ/2)‖θ‖² added to the *sum* of the losses. It must act on every coordinate, an
	// intercept included: without it the intercept's direction has w = 0 and no bound here holds.
	Lambda float64
	// Sigma is the standard deviation σ of each coordinate of b.
	Sigma float64
	// Bound is how to account.
	Bound Bound
}

// Validate returns a *ParamError for the first field that is out of range.
func (c Config) Validate() error {
	if c.Curve == nil && (c.Bound.computed() || c.Bound == GaussianLower || c.Slope == 0 || c.Smoothness == 0) {
		return &privacy.ParamError{Name: "Curve", Value: nil,
			Want: "a curve, for example that of the logistic loss (loss.CurveOf)"}
	}
	stated := func(name string, v float64) error { // zero is the curve's
		if v == 0 && c.Curve != nil {
			return nil
		}
		return privacy.Positive(name, v)
	}
	_, known := boundNames[c.Bound]
	if err := cmp.Or(stated("Slope", c.Slope), stated("Smoothness", c.Smoothness), privacy.Positive("Lambda", c.Lambda),
		privacy.Positive("Sigma", c.Sigma), privacy.Within(known, "Bound", int(c.Bound), "one of Bounds")); err != nil {
		return err
	}
	if c.Bound != RKW23 {
		return nil
	}
	s := c.smoothness()
	return privacy.Within(c.Lambda > s, "Lambda", c.Lambda,
		fmt.Sprintf("more than the smoothness s = %g for the bound rkw23; dtz24 and tight need no such thing", s))
}

func (c Config) slope() float64 {
	if c.Slope > 0 {
		return c.Slope
	}
	return Slope(c.Curve)
}

func (c Config) smoothness() float64 {
	if c.Smoothness > 0 {
		return c.Smoothness
	}
	return c.Curve.Max()
}

// Law returns the law of W = k + a²/2 + a|N|, a = L/σ, which bounds the privacy loss in both directions, its parameters
// rounded up: k = |ln(1 − s/λ)| by the bound RKW23 (rkw23, Theorem 3.1, corrected), else k = ln(1 + s/λ) (dtz24,
// Theorem 5.1), which the add direction does without (New with DTZ24). c is valid.
//
// Proof: docs/theory/objective_perturbation.md.
func (c Config) Law() privacy.HalfNormal {
	up := math.Inf(1)
	ratio := math.Nextafter(c.smoothness()/c.Lambda, up)
	k := math.Nextafter(math.Log1p(ratio), up)
	if c.Bound == RKW23 {
		k = math.Nextafter(-math.Log1p(-ratio), up)
	}
	return privacy.HalfNormal{K: k, A: math.Nextafter(c.slope()/c.Sigma, up)}
}

// Profile is the privacy profile of objective perturbation under add/remove-one. Its upper values bound δ(ε) for every
// dataset, dimension and convex data-independent r; its lower values bound from below the worst case over them, so that
// no accounting can be better than those. It is safe for concurrent use and remembers what it has computed.
type Profile struct {
	cfg   Config
	grids *grids
	// coarse is the same problem for a rough look, quickest for a quick one, bulk for that where δ is large.
	coarse, quickest, bulk *grids
	*answers
}

// answers are what was computed of a Config, which says all that they depend on: profiles of the same one share them.
type answers struct {
	bounds recent.All[key, enclosure]
	// roughly has the upper bounds of rough looks.
	roughly recent.All[key, float64]
	// quick has the upper bounds of both directions, of quick looks.
	quick recent.All[float64, float64]
	// epsilons are the bounds on ε by δ.
	epsilons recent.All[float64, [2]float64]
}

// answered are the answers of the configurations that were asked about last: a calibration tries the same ones again
// whenever a fit is repeated, or read back and looked at.
var answered = recent.Values[asked, *answers]{Kept: 4096}

// asked is a Config whose curve is known not to have changed, curve in its place.
type asked struct {
	Config
	curve any
}

// known reports whether there is a key for a configuration.
func known(cfg Config) (asked, bool) {
	k := asked{Config: cfg}
	if k.Curve = nil; cfg.Curve != nil {
		c, ok := cfg.Curve.(interface{ Same() any })
		if !ok {
			return k, false
		}
		k.curve = c.Same()
	}
	return k, cfg.Curve == nil || k.curve != nil
}

type key struct {
	dir privacy.Direction
	eps float64
}

// enclosure holds the logarithms of a lower and an upper value of δ.
type enclosure struct{ lower, upper float64 }

var _ privacy.LowerProfile = (*Profile)(nil)

// New returns the profile of cfg.
//
// Bound: Upper as cfg.Bound says, except for GaussianLower, which is a lower bound in both roles and no guarantee.
// Lower from Tight's certified paths if Bound is Tight, from the Gaussian mechanism otherwise.
// Errors: *ParamError if a field is out of range.
// Proof: docs/theory/objective_perturbation.md.
func New(cfg Config) (*Profile, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	own := new(answers)
	if key, ok := known(cfg); ok {
		own, _ = answered.Of(key, func() (*answers, error) { return new(answers), nil })
	}
	p := &problem{curve: cfg.Curve, lambda: cfg.Lambda, sigma: cfg.Sigma}
	return &Profile{
		cfg:    cfg,
		grids:  &grids{problem: p},
		coarse: &grids{problem: p, tolerance: roughTolerance}, quickest: &grids{problem: p, tolerance: quickTolerance},
		bulk:    &grids{problem: p, tolerance: bulkTolerance},
		answers: own,
	}, nil
}

// Config returns what the profile was made from.
func (p *Profile) Config() Config { return p.cfg }

// Adjacency returns privacy.AddRemove.
func (p *Profile) Adjacency() privacy.Adjacency { return privacy.AddRemove }

// LogDeltaUpper returns an upper bound on ln δ_d(ε) for every real ε.
func (p *Profile) LogDeltaUpper(d privacy.Direction, eps float64) float64 {
	return p.at(d, eps).upper
}

// LogDeltaLower returns a lower bound on ln δ_d(ε) of the worst case.
func (p *Profile) LogDeltaLower(d privacy.Direction, eps float64) float64 {
	return p.at(d, eps).lower
}

func (p *Profile) at(d privacy.Direction, eps float64) enclosure {
	switch {
	case math.IsNaN(eps):
		return enclosure{math.Inf(-1), 0}
	case math.IsInf(eps, 1):
		return enclosure{math.Inf(-1), math.Inf(-1)}
	case math.IsInf(eps, -1):
		return enclosure{0, 0}
	}
	return p.bounds.Of(key{d, eps}, func() enclosure {
		v := p.compute(d, eps)
		// Nothing here should give NaN; if it does, say what is known without it.
		if math.IsNaN(v.upper) {
			v.upper = 0
		}
		if math.IsNaN(v.lower) {
			v.lower = math.Inf(-1)
		}
		return v
	})
}

// compute dispatches on the bound. Every bound is cut at the trivial one and never below the lower value.
func (p *Profile) compute(d privacy.Direction, eps float64) enclosure {
	if p.cfg.Bound == Tight {
		return p.tightAt(d, eps)
	}
	lower := p.gaussianLower(d, eps)
	var upper float64
	switch p.cfg.Bound {
	case KST12:
		upper = p.kst12(eps)
	case RKW23, DTZ24:
		w := p.cfg.Law()
		if p.cfg.Bound == DTZ24 && d == privacy.Add {
			w.K = 0
		}
		upper = halfNormal(w, d, eps)
	case Pointwise:
		upper = p.pointwise(d, eps)
	case Integral:
		upper = p.integralAt(d, eps)
	case GaussianLower:
		upper = lower
	}
	return enclosure{lower, upper}
}

// mirror turns bounds on ln δ of the opposite direction at −ε into bounds on ln δ at ε < 0: H_{e^ε}(P‖Q) = 1 − e^ε +
// e^ε·H_{e^{−ε}}(Q‖P), for every pair and hence for the suprema.
func mirror(eps float64, opposite enclosure) enclosure {
	base := math.Log(-math.Expm1(eps))
	slack := 1e-15 * (1 + math.Abs(base))
	return enclosure{
		lower: logspace.Add(base, eps+opposite.lower) - slack,
		upper: min(0, logspace.Add(base, eps+opposite.upper)+slack),
	}
}

func (p *Profile) tightAt(d privacy.Direction, eps float64) enclosure {
	if eps < 0 {
		return mirror(eps, p.at(d.Opposite(), -eps))
	}
	if p.gaussian(d, eps) {
		lo, hi := gaussBounds(eps)(Slope(p.cfg.Curve) / p.cfg.Sigma)
		return enclosure{lo, hi}
	}
	if d == privacy.Add || eps == 0 {
		// At ε = 0 both are the total variation distance.
		lo, hi := p.grids.addAt(eps)
		return enclosure{lo, hi}
	}
	lo, hi := p.grids.removeAt(eps)
	return enclosure{lo, hi}
}

// gaussian reports whether Tight is proved to be the Gaussian mechanism's δ at ε ≥ 0 in direction d.
func (p *Profile) gaussian(d privacy.Direction, eps float64) bool {
	return OneSigned(p.cfg.Curve) && (d == privacy.Add || eps == 0) ||
		IsGaussian(p.cfg.Curve, p.cfg.Lambda, p.cfg.Sigma) || p.grids.gaussianAt(eps)
}

// gaussianLower returns a lower bound on ln δ: that of the Gaussian mechanism of sensitivity L, to which γ ≡ L comes
// arbitrarily close; in the add direction of a two-signed loss, of the larger sign.
func (p *Profile) gaussianLower(_ privacy.Direction, eps float64) float64 {
	if p.cfg.Curve == nil {
		return math.Inf(-1) // whether L is reached is not known
	}
	lower, _ := gaussBounds(eps)(Slope(p.cfg.Curve) / p.cfg.Sigma)
	return lower
}

// halfNormal returns an upper bound on ln E(1 − e^{ε−W})₊.
func halfNormal(w privacy.HalfNormal, d privacy.Direction, eps float64) float64 {
	prof, err := w.Profile(privacy.AddRemove)
	if err != nil {
		return 0 // k or a overflowed: δ ≤ 1 is all that is known
	}
	up := prof.LogDeltaUpper(d, eps)
	if math.IsNaN(up) {
		return 0
	}
	return up
}

// kst12 returns the smallest δ the theorem gives: λ ≥ 2s/ε and σ ≥ L√(8 ln(2/δ) + 4ε)/ε; it says nothing for ε < 0.
func (p *Profile) kst12(eps float64) float64 {
	if p.cfg.Lambda*eps < 2*p.cfg.smoothness()*(1-1e-15) {
		return 0
	}
	r := eps * p.cfg.Sigma / p.cfg.slope()
	return min(0, math.Ln2-(r*r-4*eps)/8+1e-14+1e-15*(r*r+eps))
}

func (p *Profile) pointwise(d privacy.Direction, eps float64) float64 {
	if d == privacy.Add {
		return p.pointwiseAdd(eps)
	}
	if p.grids.gaussianAt(eps) && eps >= 0 {
		_, hi := gaussBounds(eps)(Slope(p.cfg.Curve) / p.cfg.Sigma)
		return hi
	}
	return p.grids.pointwiseRemove(eps)
}

// pointwiseAdd: W = max over γ ∈ {lo, 0, hi} of γ²/2 − γN. For ε ≥ 0 the two signs contribute on disjoint sets if their
// edges do not cross, and at most the sum otherwise; for ε < 0 the remove direction's mirror is the better one.
func (p *Profile) pointwiseAdd(eps float64) float64 {
	if eps < 0 {
		return mirror(eps, enclosure{math.Inf(-1), p.pointwise(privacy.Remove, -eps)}).upper
	}
	lo, hi := p.cfg.Curve.Range()
	gauss := gaussBounds(eps)
	total := math.Inf(-1)
	for _, L := range []float64{hi, -lo} {
		if L > 0 {
			_, up := gauss(L / p.cfg.Sigma)
			total = logspace.Add(total, up)
		}
	}
	// W is at most a²/2 + a|N| with the larger slope.
	return min(min(0, total+1e-15), halfNormal(privacy.HalfNormal{A: p.cfg.Law().A}, privacy.Add, eps))
}

func (p *Profile) integralAt(d privacy.Direction, eps float64) float64 {
	switch {
	case eps < 0:
		return mirror(eps, enclosure{math.Inf(-1), p.integralAt(d.Opposite(), -eps)}).upper
	case d == privacy.Add:
		return p.pointwiseAdd(eps)
	case p.grids.gaussianAt(eps):
		_, hi := gaussBounds(eps)(Slope(p.cfg.Curve) / p.cfg.Sigma)
		return hi
	}
	up := min(0, p.grids.integral(eps, 1e-4, 20000).logUpper)
	if !OneSigned(p.cfg.Curve) {
		// The integral counts both signs of γ, Pointwise the better one.
		up = min(up, p.grids.pointwiseRemove(eps))
	}
	return up
}
