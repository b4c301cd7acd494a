package pld

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/internal/elementary"
)

// Component is a profile and how often it is composed.
type Component struct {
	Profile privacy.Profile
	Count   int
}

// Settings control the accuracy. The zero value and nil are right for most.
type Settings struct {
	// Tolerance is the distance wanted between the upper and the lower ε; 0 means 5e-4·ε.
	Tolerance float64
	// MaxPoints bounds the lattice; 0 means 2²¹. Where it is too small for the tolerance the bounds stay valid and are
	// further apart.
	MaxPoints int
}

func (s *Settings) maxPoints() int {
	if s == nil || s.MaxPoints <= 0 {
		return 1 << 21
	}
	return s.MaxPoints
}

// Method says how a bound was obtained.
type Method string

const (
	// Closed: the profile in closed form, of which the lower bound says how near it is.
	Closed Method = "closed form"
	// Fourier: privacy-loss distribution, tilted Fourier inversion.
	Fourier Method = "privacy-loss distribution"
	// Basic: the sum of the largest losses.
	Basic Method = "sum of the largest losses"
	// Chernoff: the Rényi bound of the privacy-loss distribution, where the lattice that the Fourier inversion would
	// need is too large.
	Chernoff Method = "privacy-loss distribution, Rényi bound (looser)"
)

// Bounds enclose an exact value.
type Bounds struct {
	Lower, Upper float64
	// Method of the upper bound.
	Method Method
}

// Composition is the adaptive composition of its components. It is immutable and safe for concurrent use.
type Composition struct {
	adj        privacy.Adjacency
	components []Component
	runs       float64
	settings   *Settings
}

// New returns the composition of components. Those with a Gaussian profile are joined into one, exactly.
//
// Errors: *privacy.ParamError for no component, a nil profile or a count below one; privacy.ErrAdjacency if the
// adjacencies differ.
func New(components []Component, s *Settings) (*Composition, error) {
	if len(components) == 0 {
		return nil, &privacy.ParamError{Name: "components", Value: 0, Want: "at least one"}
	}
	c := &Composition{settings: s}
	var muLow, muHigh float64 // of all Gaussian ones; their squares may be out of range
	gaussian := 0
	for i, p := range components {
		if p.Profile == nil || p.Count < 1 {
			return nil, &privacy.ParamError{Name: fmt.Sprintf("components[%d]", i), Value: p.Count,
				Want: "a profile and a count of at least one"}
		}
		if i == 0 {
			c.adj = p.Profile.Adjacency()
		} else if p.Profile.Adjacency() != c.adj {
			return nil, privacy.ErrAdjacency
		}
		if low, high, ok := privacy.GaussianMu(p.Profile); ok {
			root := math.Sqrt(float64(p.Count))
			muLow, muHigh = math.Hypot(muLow, root*low), math.Hypot(muHigh, root*high)
			gaussian++
			continue
		}
		c.components = append(c.components, p)
	}
	if gaussian > 0 {
		// √Σμ², with room for the rounding of each step.
		room := 4e-16 * float64(gaussian+4)
		if muHigh > 0 {
			muHigh = math.Nextafter(muHigh*(1+room), math.Inf(1))
		}
		g := privacy.GaussianProfileBetween(math.Max(0, math.Nextafter(muLow*(1-room), 0)), muHigh, c.adj)
		c.components = append(c.components, Component{g, 1})
	}
	for _, p := range c.components {
		c.runs += float64(p.Count)
	}
	return c, nil
}

// Adjacency of the composition.
func (c *Composition) Adjacency() privacy.Adjacency { return c.adj }

// directions are those that have to be looked at: one where all agree.
func (c *Composition) directions() []privacy.Direction {
	for _, p := range c.components {
		if !privacy.IsSymmetric(p.Profile) {
			return privacy.Directions[:]
		}
	}
	return privacy.Directions[:1]
}

// EpsilonBounds returns bounds on the smallest ε ≥ 0 with δ(ε) ≤ delta, the larger of both directions, +Inf if there is
// none.
//
// Bound: lower ≤ exact ≤ upper, rounding errors and truncation included; the lower one is 0 if a component knows no
// lower bounds. Upper − lower is within the tolerance where the lattice suffices.
// Errors: *privacy.ParamError unless 0 < δ < 1.
// Proof: docs/theory/composition.md.
func (c *Composition) EpsilonBounds(delta float64) (Bounds, error) {
	if err := privacy.Fraction("Delta", delta); err != nil {
		return Bounds{}, err
	}
	if c.runs == 1 {
		p := c.components[0].Profile
		up, err := privacy.EpsilonUpper(p, delta)
		if err != nil {
			return Bounds{}, err
		}
		return Bounds{privacy.EpsilonLower(p, delta), up, Closed}, nil
	}
	ln := elementary.Log(delta)
	ds := c.directions()
	searches := make([]*root, len(ds))
	parallel.Each(len(ds), 0, func(i int) {
		searches[i] = c.newRoot(ds[i], ln)
		if len(ds) > 1 {
			searches[i].run(64) // enough to see which direction decides
		}
	})
	// The direction with the larger ε first; the other only as far as it takes to see that it is not the larger one.
	slices.SortStableFunc(searches, func(a, b *root) int { return cmp.Compare(b.b.Upper, a.b.Upper) })
	known := 0.0
	for i, s := range searches {
		factors := []float64{1}
		if i > 0 {
			factors = []float64{8, 1}
		}
		for _, f := range factors {
			if s.b.Upper > known {
				s.run(f)
			}
		}
		known = math.Max(known, s.b.Lower)
		s.w = nil
	}
	var found []Bounds
	for _, s := range searches {
		found = append(found, s.b)
	}
	return widest(found), nil
}

// DeltaBounds returns bounds on ln δ(eps), the larger of both directions.
//
// Bound: as EpsilonBounds.
// Errors: *privacy.ParamError if eps is NaN or infinite.
func (c *Composition) DeltaBounds(eps float64) (Bounds, error) {
	if math.IsNaN(eps) || math.IsInf(eps, 0) {
		return Bounds{}, &privacy.ParamError{Name: "Epsilon", Value: eps, Want: "a finite number"}
	}
	return widest(c.deltas(eps)), nil
}

// deltas returns the bounds on ln δ(eps) in each of the directions, eps finite.
func (c *Composition) deltas(eps float64) []Bounds {
	ds := c.directions()
	found := make([]Bounds, len(ds))
	if c.runs == 1 {
		p := c.components[0].Profile
		for i, d := range ds {
			found[i] = Bounds{math.Inf(-1), p.LogDeltaUpper(d, eps), Closed}
			if l, ok := p.(privacy.LowerProfile); ok {
				found[i].Lower = l.LogDeltaLower(d, eps)
			}
		}
		return found
	}
	parallel.Each(len(ds), 0, func(i int) { found[i] = c.deltaIn(ds[i], eps) })
	return found
}

// widest returns the larger of each bound.
func widest(all []Bounds) Bounds {
	b := all[0]
	for _, x := range all[1:] {
		b.Lower = math.Max(b.Lower, x.Lower)
		if x.Upper > b.Upper {
			b.Upper, b.Method = x.Upper, x.Method
		}
	}
	return b
}
