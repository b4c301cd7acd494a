package privacy

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/privacy/internal/elementary"
)

// Laplace is the event of adding independent Laplace noise of scale b to a value whose ℓ₁ sensitivity under
// add/remove-one is Sensitivity. Under replace-one two records move it, and the sensitivity doubles.
type Laplace struct {
	// Scale is b, positive and finite.
	Scale float64
	// Sensitivity is the add/remove-one ℓ₁ sensitivity, non-negative and finite.
	Sensitivity float64
}

// Validate returns a *ParamError if a field is out of range.
func (l Laplace) Validate() error { return validateLaplace(l.Scale, l.Sensitivity) }

func validateLaplace(scale, sensitivity float64) error {
	return cmp.Or(Positive("Scale", scale), NotNegative("Sensitivity", sensitivity),
		Within(!math.IsInf(sensitivity/scale, 1), "Scale", scale, "a scale at which sensitivity/scale is finite"))
}

// String implements Event.
func (l Laplace) String() string {
	return fmt.Sprintf("Laplace(b=%g, Δ₁=%g)", l.Scale, l.Sensitivity)
}

// Profile implements Event, with μ = sensitivity/b:
//
//	δ(ε) = 1 − e^{(ε−μ)/2} for |ε| ≤ μ,  0 for ε ≥ μ,  1 − e^ε for ε ≤ −μ.
//
// In one dimension this is exact; in more, a shift of ℓ₁ norm μb is a composition of one-dimensional ones that a single
// one of μ dominates.
//
// Errors: *ParamError if a field or adj is out of range.
func (l Laplace) Profile(adj Adjacency) (Profile, error) {
	if err := cmp.Or(l.Validate(), adj.Validate()); err != nil {
		return nil, err
	}
	return laplaceProfile{symmetric(adj), lossBound(l.Sensitivity, l.Scale, adj), l.Sensitivity > 0}, nil
}

// lossBound returns sensitivity/scale, twice that under replace-one.
func lossBound(sensitivity, scale float64, adj Adjacency) float64 {
	mu := sensitivity / scale
	if adj == ReplaceOne {
		mu *= 2
	}
	return mu
}

// RDP returns the curve
//
//	ε(α) = ln[α e^{(α−1)μ}/(2α−1) + (α−1)e^{−αμ}/(2α−1)]/(α−1), rounded up.
//
// Source: Mironov 2017, arXiv:1702.07476, Table II.
func (l Laplace) RDP(adj Adjacency) (RDPCurve, error) {
	if err := l.Validate(); err != nil {
		return RDPCurve{}, err
	}
	mu := lossBound(l.Sensitivity, l.Scale, adj)
	if l.Sensitivity > 0 {
		mu = math.Nextafter(mu, math.Inf(1))
	}
	return RDPCurve{Adj: adj, Epsilon: func(alpha float64) float64 {
		return math.Min(mu, laplaceRenyi(mu, alpha))
	}}, nil
}

// laplaceRenyi returns the curve of Laplace.RDP at α ≥ 1, rounded up. With g(x) = e^x − 1 − x what the logarithm is
// taken of is
//
//	1 + [α g((α−1)μ) + (α−1)g(−αμ)]/(2α−1),
//
// a sum of positive terms; g((α−1)μ)/(α−1) keeps its digits near α = 1.
func laplaceRenyi(mu, alpha float64) float64 {
	less := alpha - 1
	var v float64
	switch {
	case mu == 0:
		return 0
	case less == 0:
		v = expRest(-mu)
	case less*mu > 300:
		v = mu + math.Log(alpha/(2*alpha-1))/less // the other exponential is below 1e-130
	default:
		u := (alpha*(expRest(less*mu)/less) + expRest(-alpha*mu)) / (2*alpha - 1)
		v = u
		if x := u * less; x > 0 {
			v = u * (math.Log1p(x) / x)
		}
	}
	return math.Nextafter(v*(1+8e-15), math.Inf(1))
}

// expRest returns e^x − 1 − x ≥ 0, relative error below 4e-15.
func expRest(x float64) float64 {
	if math.Abs(x) > 0.5 {
		return math.Expm1(x) - x
	}
	sum, term := 0.5, 0.5
	for n := 3.0; math.Abs(term) > 1e-17; n++ {
		term *= x / n
		sum += term
	}
	return sum * x * x
}

type laplaceProfile struct {
	symmetric
	mu float64 // between its two neighbours
	// shifts: μ is not zero, though it may be below the smallest float64.
	shifts bool
}

func (p laplaceProfile) log(mu, eps float64) float64 {
	switch {
	case eps >= mu:
		return math.Inf(-1)
	case eps <= -mu:
		return elementary.Log(-math.Expm1(eps))
	}
	if mu-eps < 1e-290 {
		return elementary.Log(mu-eps) - math.Ln2
	}
	return math.Log(-math.Expm1(0.5 * (eps - mu)))
}

func (p laplaceProfile) LogDeltaUpper(_ Direction, eps float64) float64 {
	if p.mu == 0 && !p.shifts {
		return logDeltaGaussian(eps, 0) // nothing was moved
	}
	l := p.log(math.Nextafter(p.mu, math.Inf(1)), eps)
	return roundUp(l, approxSlack(l))
}

func (p laplaceProfile) LogDeltaLower(_ Direction, eps float64) float64 {
	l := p.log(math.Max(0, math.Nextafter(p.mu, 0)), eps)
	return roundDown(l, approxSlack(l))
}

// IsotropicLaplace is the event of adding noise of density proportional to exp(−‖x‖/b) (uniform direction, Gamma(d, b)
// norm) to a vector whose ℓ₂ sensitivity under add/remove-one is Sensitivity. It is pure ε-DP with ε = sensitivity/b in
// every dimension; nothing sharper is claimed.
type IsotropicLaplace struct {
	// Scale is b, positive and finite.
	Scale float64
	// Sensitivity is the add/remove-one ℓ₂ sensitivity, non-negative and finite.
	Sensitivity float64
}

// Validate returns a *ParamError if a field is out of range.
func (l IsotropicLaplace) Validate() error { return validateLaplace(l.Scale, l.Sensitivity) }

// String implements Event.
func (l IsotropicLaplace) String() string {
	return fmt.Sprintf("IsotropicLaplace(b=%g, Δ₂=%g)", l.Scale, l.Sensitivity)
}

// pure returns the guarantee under adj.
func (l IsotropicLaplace) pure(adj Adjacency) (Approx, error) {
	if err := l.Validate(); err != nil {
		return Approx{}, err
	}
	eps := lossBound(l.Sensitivity, l.Scale, adj)
	if l.Sensitivity > 0 {
		eps = math.Nextafter(eps, math.Inf(1))
	}
	return Pure(eps, adj), nil
}

// Profile implements Event: that of pure sensitivity/b-DP, twice that under replace-one by the triangle inequality of
// the norm.
//
// Errors: *ParamError if a field or adj is out of range.
func (l IsotropicLaplace) Profile(adj Adjacency) (Profile, error) {
	a, err := l.pure(adj)
	if err != nil {
		return nil, err
	}
	return a.Profile(adj)
}

// RDP returns the curve of pure DP.
func (l IsotropicLaplace) RDP(adj Adjacency) (RDPCurve, error) {
	a, err := l.pure(adj)
	if err != nil {
		return RDPCurve{}, err
	}
	return a.RDP(adj)
}
