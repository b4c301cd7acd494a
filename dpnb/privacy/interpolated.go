package privacy

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/logspace"
	"github.com/dpnb/notebooks/dpnb/internal/recent"
)

// Interpolated returns a profile that asks p at a few points, each once, and is bounded between them by chords: for
// profiles that cost milliseconds and are asked thousands of times. δ is convex in e^ε, being a supremum of
// hockey-stick divergences, so that a chord between two upper bounds is an upper bound.
//
// The points are ±m·2^e for m from perOctave to twice that, multiples of 8/perOctave beyond 16, and zero. perOctave is
// a power of two; with 32, ln δ is some percent above that of p.
func Interpolated(p Profile, perOctave int) Profile {
	if perOctave < 1 || perOctave&(perOctave-1) != 0 {
		panic("privacy: Interpolated: perOctave must be a power of two")
	}
	return &interpolated{of: p, perOctave: float64(perOctave)}
}

type interpolated struct {
	of        Profile
	perOctave float64
	known     [2]recent.All[float64, float64] // by direction: ε → ln δ
}

func (p *interpolated) Adjacency() Adjacency { return p.of.Adjacency() }

// Symmetric is that of the profile below.
func (p *interpolated) Symmetric() bool { return IsSymmetric(p.of) }

func (p *interpolated) at(d Direction, eps float64) float64 {
	if p.Symmetric() {
		d = Remove
	}
	return p.known[d].Of(eps, func() float64 {
		v := p.of.LogDeltaUpper(d, eps)
		if math.IsNaN(v) {
			v = 0
		}
		return v
	})
}

// knots returns the points around x ≥ 0, low ≤ x < high.
func (p *interpolated) knots(x float64) (low, high float64) {
	const least = 0x1p-20
	switch {
	case x < least:
		return 0, least
	case x >= 16:
		width := 8 / p.perOctave
		low = math.Floor(x/width) * width
		return low, low + width
	}
	f, e := math.Frexp(x)
	unit := math.Ldexp(0.5/p.perOctave, e)
	m := math.Floor(f * 2 * p.perOctave)
	return m * unit, (m + 1) * unit
}

func (p *interpolated) LogDeltaUpper(d Direction, eps float64) float64 {
	if math.IsNaN(eps) || math.Abs(eps) > 1e9 {
		return p.of.LogDeltaUpper(d, eps)
	}
	low, high := p.knots(math.Abs(eps))
	if eps < 0 {
		low, high = -high, -low
	}
	left := p.at(d, low)
	if low == eps || math.IsInf(left, -1) {
		return left
	}
	right := math.Min(left, p.at(d, high))
	if math.IsInf(right, -1) { // a chord would hide where δ is 0, which is all that pure ε is about
		return p.of.LogDeltaUpper(d, eps)
	}
	share := math.Expm1(eps-low) / math.Expm1(high-low) * (1 - 1e-14)
	return roundUp(logspace.Add(math.Log1p(-share)+left, math.Log(share)+right), 1e-14*(1+math.Abs(left)))
}
