package pld

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Profile returns the composition as a profile: at each ε the upper bound of DeltaBounds, that of the larger direction
// for either, and each direction's own lower bound. Each call costs what DeltaBounds costs, some milliseconds; for
// many, see privacy.Interpolated.
func (c *Composition) Profile() privacy.LowerProfile { return compositionProfile{c} }

type compositionProfile struct{ c *Composition }

// Adjacency of the composition.
func (p compositionProfile) Adjacency() privacy.Adjacency { return p.c.adj }

// Symmetric reports that both directions have the same upper bound.
func (p compositionProfile) Symmetric() bool { return true }

// LogDeltaBounds returns both bounds from one evaluation.
func (p compositionProfile) LogDeltaBounds(d privacy.Direction, eps float64) (low, up float64) {
	switch {
	case math.IsInf(eps, 1):
		// All mass at infinity: at most that of the parts together.
		var sum float64
		for _, k := range p.c.components {
			sum += float64(k.Count) * privacy.DeltaUpper(k.Profile, eps)
		}
		if sum == 0 {
			return math.Inf(-1), math.Inf(-1)
		}
		return math.Inf(-1), math.Min(0, math.Log(sum)+1e-15*(1+math.Abs(math.Log(sum))))
	case math.IsNaN(eps) || math.IsInf(eps, -1):
		return math.Inf(-1), 0
	}
	low, up = math.Inf(-1), math.Inf(-1)
	for e, b := range p.c.deltas(eps) {
		if len(p.c.directions()) == 1 || privacy.Directions[e] == d {
			low = b.Lower
		}
		if up = math.Max(up, b.Upper); math.IsNaN(up) {
			return math.Inf(-1), 0
		}
	}
	return low, math.Min(0, up)
}

func (p compositionProfile) LogDeltaUpper(d privacy.Direction, eps float64) float64 {
	_, up := p.LogDeltaBounds(d, eps)
	return up
}

func (p compositionProfile) LogDeltaLower(d privacy.Direction, eps float64) float64 {
	low, _ := p.LogDeltaBounds(d, eps)
	return low
}
