package sgd

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/pld"
)

// thrifty is a composition that is asked hundreds of times: on a small lattice, and on a larger one where the bounds of
// the small one are not close together.
type thrifty struct {
	adj          privacy.Adjacency
	small, large *pld.Composition
}

// cheaply is the profile of one run for tables.
func (c Cost) cheaply(adj privacy.Adjacency) (privacy.Profile, error) {
	small, err := c.composition(adj, 1, &pld.Settings{MaxPoints: 1 << 14})
	if err != nil {
		return nil, err
	}
	large, err := c.composition(adj, 1, &pld.Settings{MaxPoints: 1 << 17})
	return thrifty{adj, small, large}, err
}

// Adjacency of the composition.
func (p thrifty) Adjacency() privacy.Adjacency { return p.adj }

// Symmetric reports that both directions have the same bound.
func (p thrifty) Symmetric() bool { return true }

// LogDeltaUpper implements privacy.Profile.
func (p thrifty) LogDeltaUpper(d privacy.Direction, eps float64) float64 {
	if math.IsInf(eps, 0) || math.IsNaN(eps) {
		return p.large.Profile().LogDeltaUpper(d, eps)
	}
	b, err := p.small.DeltaBounds(eps)
	if err != nil {
		return 0
	}
	if b.Upper-b.Lower > 5e-3 && b.Upper > -50 {
		if sharp, err := p.large.DeltaBounds(eps); err == nil {
			b.Upper = math.Min(b.Upper, sharp.Upper)
		}
	}
	return math.Min(0, b.Upper)
}

// selectable is one run as the base of a selection: its δ̂ is asked for at hundreds of ε̂ of which few matter.
type selectable struct{ Cost }

// Profile is an upper bound that is cheap to ask for often.
func (s selectable) Profile(adj privacy.Adjacency) (privacy.Profile, error) {
	if s.Accounting == Renyi {
		return s.Cost.Profile(adj)
	}
	p, err := s.cheaply(adj)
	if err != nil {
		return nil, err
	}
	return clamped{privacy.Interpolated(p, 4)}, nil
}

// clamped asks a profile between its limits only: δ does not rise with ε.
type clamped struct{ privacy.Profile }

// LogDeltaUpper implements privacy.Profile.
func (p clamped) LogDeltaUpper(d privacy.Direction, eps float64) float64 {
	const low, high = 0x1p-10, 2
	switch {
	case eps < 0:
		return 0
	case eps < low:
		eps = 0
	case eps > high:
		eps = high
	}
	return p.Profile.LogDeltaUpper(d, eps)
}

// smaller is the smaller of two upper bounds.
type smaller struct{ a, b privacy.Profile }

// Adjacency of both.
func (p smaller) Adjacency() privacy.Adjacency { return p.a.Adjacency() }

// LogDeltaUpper implements privacy.Profile.
func (p smaller) LogDeltaUpper(d privacy.Direction, eps float64) float64 {
	return math.Min(p.a.LogDeltaUpper(d, eps), p.b.LogDeltaUpper(d, eps))
}
