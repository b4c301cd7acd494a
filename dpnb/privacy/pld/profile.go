package pld

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Profile returns the composition as a profile: at each ε the bounds of
// DeltaBounds, the larger of both directions for either. Each call costs what
// DeltaBounds costs, some milliseconds; for many, see privacy.Interpolated.
func (c *Composition) Profile() privacy.LowerProfile { return compositionProfile{c} }

type compositionProfile struct{ c *Composition }

// Adjacency of the composition.
func (p compositionProfile) Adjacency() privacy.Adjacency { return p.c.adj }

// Symmetric reports that both directions have the same bound.
func (p compositionProfile) Symmetric() bool { return true }

// LogDeltaBounds returns both bounds from one evaluation.
func (p compositionProfile) LogDeltaBounds(_ privacy.Direction, eps float64) (low, up float64) {
	switch {
	case math.IsInf(eps, 1):
		// All mass at infinity: at most that of the parts together.
		var sum float64
		for _, k := range p.c.components {
			sum += float64(k.Count) * privacy.DeltaUpper(k.Profile, eps)
		}
		return math.Inf(-1), math.Min(0, math.Log(sum)+1e-15*(1+math.Abs(math.Log(sum))))
	case math.IsNaN(eps) || math.IsInf(eps, -1):
		return math.Inf(-1), 0
	}
	b, err := p.c.DeltaBounds(eps)
	if err != nil || math.IsNaN(b.Upper) {
		return math.Inf(-1), 0
	}
	return b.Lower, math.Min(0, b.Upper)
}

// LogDeltaUpper implements privacy.Profile.
func (p compositionProfile) LogDeltaUpper(d privacy.Direction, eps float64) float64 {
	_, up := p.LogDeltaBounds(d, eps)
	return up
}

// LogDeltaLower implements privacy.LowerProfile.
func (p compositionProfile) LogDeltaLower(d privacy.Direction, eps float64) float64 {
	low, _ := p.LogDeltaBounds(d, eps)
	return low
}
