package privacy

import (
	"fmt"
	"math"
	"slices"
)

// BoundedRange is the event of exponential mechanisms and pure ones, one after the other, each chosen with knowledge of
// the results so far. That of range η draws a result with a probability whose logarithms, on any two neighbours, differ
// by numbers from an interval of the length η, whatever the result.
//
// Its profile is the smaller one of two bounds. The whole is pure, of the sum of all η and ε; and it is dominated by
// Gaussian mechanisms, each of which costs as much as pure η/2, or as pure ε, so that their μ² add up.
//
// Source: Dong, Durfee, Rogers 2020, arXiv:1909.13830, for ranges; the Gaussian is ours.
// Proof: docs/theory/statistics.md.
type BoundedRange struct {
	// Ranges are the η, Pure the ε, and Gaussian the μ of Gaussian mechanisms among them, with which the whole is not
	// pure: numbers in [0, 1000].
	Ranges, Pure, Gaussian []float64
}

// Validate returns a *ParamError if a field is out of range.
func (b BoundedRange) Validate() error {
	for _, v := range slices.Concat(b.Ranges, b.Pure, b.Gaussian) {
		if !(v >= 0 && v <= 1000) {
			return &ParamError{Name: "Ranges", Value: v, Want: "numbers in [0, 1000]"}
		}
	}
	return nil
}

// String implements Event.
func (b BoundedRange) String() string {
	return fmt.Sprintf("BoundedRange(η=%g, ε=%g, μ=%g)", b.Ranges, b.Pure, b.Gaussian)
}

// epsilon returns the pure ε of the whole, rounded up.
func (b BoundedRange) epsilon() float64 {
	var sum float64
	for _, v := range slices.Concat(b.Ranges, b.Pure) {
		sum = math.Nextafter(sum+v, math.Inf(1))
	}
	return sum
}

// Mu returns the μ of a Gaussian mechanism that dominates the whole, rounded up.
func (b BoundedRange) Mu() float64 {
	var square float64
	for _, v := range b.Ranges {
		mu := pureMu(0.5 * v)
		square += mu * mu
	}
	for _, v := range b.Pure {
		mu := pureMu(v)
		square += mu * mu
	}
	for _, mu := range b.Gaussian {
		square += mu * mu
	}
	return math.Sqrt(square) * (1 + float64(len(b.Ranges)+len(b.Pure)+len(b.Gaussian)+4)*0x1p-52)
}

// Profile implements Event, under replace-one by conversion.
//
// Bound: upper. Errors: *ParamError if a field or adj is out of range.
func (b BoundedRange) Profile(adj Adjacency) (Profile, error) {
	if err := b.Validate(); err != nil {
		return nil, err
	}
	gaussian := GaussianProfile(b.Mu(), AddRemove)
	if len(b.Gaussian) > 0 {
		return ConvertAdjacency(gaussian, adj)
	}
	pure, err := Pure(b.epsilon(), AddRemove).Profile(AddRemove)
	if err != nil {
		return nil, err
	}
	return ConvertAdjacency(boundedRangeProfile{symmetric(AddRemove), pure, gaussian}, adj)
}

type boundedRangeProfile struct {
	symmetric
	pure, gaussian Profile
}

func (p boundedRangeProfile) LogDeltaUpper(d Direction, eps float64) float64 {
	return math.Min(p.pure.LogDeltaUpper(d, eps), p.gaussian.LogDeltaUpper(d, eps))
}

// RDP returns the curve of the Gaussian bound, at most that of the pure one.
func (b BoundedRange) RDP(adj Adjacency) (RDPCurve, error) {
	if err := b.Validate(); err != nil {
		return RDPCurve{}, err
	}
	if adj != AddRemove {
		return RDPCurve{}, fmt.Errorf("%w: a Rényi curve of BoundedRange under %s", ErrUnsupported, adj.Words())
	}
	gaussian := GaussianRDP(b.Mu(), adj)
	if len(b.Gaussian) > 0 {
		return gaussian, nil
	}
	pure, err := Pure(b.epsilon(), adj).RDP(adj)
	if err != nil {
		return RDPCurve{}, err
	}
	return RDPCurve{Adj: adj, Epsilon: func(alpha float64) float64 {
		return math.Min(pure.Epsilon(alpha), gaussian.Epsilon(alpha))
	}}, nil
}
