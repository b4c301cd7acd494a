package multiclass

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/logspace"
	"github.com/dpnb/notebooks/dpnb/internal/normal"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/pld"
)

// shifted is a profile together with a Gaussian mechanism of μ, whose loss G is N(μ²/2, μ²): for every z,
//
//	δ(ε) ≤ E δ_obj(ε − G) ≤ δ_obj(ε − μ²/2 − μz) + P(N > z).
type shifted struct {
	objective privacy.Profile
	mu        float64
}

// Adjacency of the objective's part.
func (p shifted) Adjacency() privacy.Adjacency { return p.objective.Adjacency() }

// LogDeltaUpper returns an upper bound on ln δ(ε).
func (p shifted) LogDeltaUpper(d privacy.Direction, eps float64) float64 {
	if math.IsInf(eps, 0) || math.IsNaN(eps) {
		return p.objective.LogDeltaUpper(d, eps)
	}
	best := 0.0
	for _, z := range []float64{4, 5, 6, 7, 8, 10, 14, 20, 35} {
		own := p.objective.LogDeltaUpper(d, below(eps, p.mu*(0.5*p.mu+z)*(1+1e-15)))
		l := logspace.Add(own, math.Log(normal.Survival(z)))
		best = math.Min(best, l+1e-12)
	}
	return best
}

// composed is the profile of a composition: the larger of both directions.
type composed struct {
	c     *pld.Composition
	parts []pld.Component
}

// compose returns the profile of running every component.
func compose(s *pld.Settings, components ...pld.Component) (privacy.Profile, error) {
	c, err := pld.New(components, s)
	if err != nil {
		return nil, err
	}
	return composed{c, components}, nil
}

// Adjacency of the components.
func (p composed) Adjacency() privacy.Adjacency { return p.c.Adjacency() }

// Symmetric reports that both directions have the same profile.
func (p composed) Symmetric() bool { return true }

// LogDeltaUpper returns an upper bound on ln δ(ε); 0, which is always one, where the composition has none.
func (p composed) LogDeltaUpper(_ privacy.Direction, eps float64) float64 {
	b, err := p.c.DeltaBounds(eps)
	if err != nil {
		return 0
	}
	return b.Upper
}

var _ privacy.GaussianCost = composed{}

// AsGaussian implements privacy.GaussianCost by the parts, whose μ² and δ′ add up: the profile of the whole takes a
// second for each ε.
func (p composed) AsGaussian(tail float64) (mu, delta float64, err error) {
	runs := 0
	for _, c := range p.parts {
		runs += c.Count
	}
	for _, c := range p.parts {
		m, d, err := privacy.AsGaussian(c.Profile, tail/float64(runs))
		if err != nil {
			return 0, 0, err
		}
		mu = math.Hypot(mu, m*math.Sqrt(float64(c.Count))) * (1 + 1e-15)
		delta += float64(c.Count) * d * (1 + 1e-15)
	}
	return mu, delta, nil
}
