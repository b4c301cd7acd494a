package privacy

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/logspace"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
)

// SelectionPoissonProfile returns a profile of running a base mechanism a Poisson(mean)-distributed number of times and
// publishing only the best run by a score that each run publishes with its output, and something fixed if there was
// none. With δ₊ the base's profile in the direction asked for and δ₋ the other, for every ε₁ > 0,
//
//	δ(ε) ≤ μ·E δ₊(ε − μδ₋(ε₁) + ε₁ − (e^{ε₁} − 1)·X),  X ~ Exp(1).
//
// It needs no Rényi curve, and where the base's profile is sharper than what its curve implies, so is this than
// SelectionPoisson. Equal scores must be ordered at random or by the order of the runs.
//
// Bound: upper; every ε₁ is valid, so the search cannot break it.
// Errors: *ParamError.
// Proof: docs/theory/sgd.md.
func SelectionPoissonProfile(base Profile, mean float64) (Profile, error) {
	if err := cmp.Or(Within(base != nil, "Base", nil, "a profile"),
		Within(mean > 0 && mean <= 1e9, "Mean", mean, "a positive number, at most 1e9")); err != nil {
		return nil, err
	}
	return selectionProfile{base, mean}, nil
}

type selectionProfile struct {
	base Profile
	mean float64
}

func (p selectionProfile) Adjacency() Adjacency { return p.base.Adjacency() }

// Symmetric is that of the base.
func (p selectionProfile) Symmetric() bool { return IsSymmetric(p.base) }

// String describes the profile.
func (p selectionProfile) String() string {
	return fmt.Sprintf("the best of Poisson(%g) runs", p.mean)
}

func (p selectionProfile) LogDeltaUpper(d Direction, eps float64) float64 {
	switch {
	case math.IsNaN(eps) || math.IsInf(eps, -1):
		return 0
	case math.IsInf(eps, 1):
		return roundUp(math.Log(p.mean)+p.base.LogDeltaUpper(d, eps), 1e-14)
	case eps < 0:
		l := logspace.Add(math.Log(-math.Expm1(eps)), eps+p.LogDeltaUpper(d.Opposite(), -eps))
		return roundUp(l, 2e-15+4e-16*math.Abs(l))
	}
	// ε₁ from 1e-4 to 20.
	f := func(x float64) float64 { return p.with(d, eps, math.Exp(x)) }
	return math.Min(0, univariate.Minimum(f, math.Log(1e-4), math.Log(1e-4)+math.Log(2e5), 24, 10))
}

// with returns the logarithm of the bound for one ε₁. On a cell of X the mean of δ₊ is at most the chord's at the mean
// of e^{−(e^{ε₁}−1)X}, δ₊ being convex in e^ε.
func (p selectionProfile) with(d Direction, eps, eps1 float64) float64 {
	spread := math.Expm1(eps1) * (1 + 1e-15)
	start := eps - p.mean*ExpUp(p.base.LogDeltaUpper(d.Opposite(), eps1)) + eps1
	start -= 1e-15 * (eps + p.mean + eps1)
	const most = 2000
	width := math.Max(1e-6, (eps+eps1)/48)
	step := math.Max(width/spread, 60.0/most)
	shrink := math.Exp(-spread * step)
	mean := math.Expm1(-(1+spread)*step) / math.Expm1(-step) / (1 + spread)
	// Rounded up: a larger share of the lower end's δ is a larger bound.
	share := (1-mean)/(1-shrink) + 4e-15/(1-shrink)
	if !(share >= 0 && share < 1) {
		share = 1
	}
	if start < -4 {
		return 0
	}
	// All in logarithms: δ may be far below the smallest number, and zero it is not.
	sum, logMass := math.Inf(-1), 0.0
	logCell, keep, move := math.Log(-math.Expm1(-step)), math.Log1p(-share), math.Log(share)
	left := math.Min(0, p.base.LogDeltaUpper(d, start))
	for i := 1; ; i++ {
		right := 0.0 // which it is nearly, where e^ε is small
		if at := start - spread*step*float64(i); at > -4 {
			right = math.Max(left, math.Min(0, p.base.LogDeltaUpper(d, at)))
		}
		sum = logspace.Add(sum, logMass+logCell+logspace.Add(keep+left, move+right))
		logMass = -step * float64(i)
		left = right
		if logMass <= sum+math.Log(1e-4) || i >= most || left >= 0 {
			break
		}
	}
	l := math.Max(-math.MaxFloat64/4, math.Log(p.mean)+logspace.Add(sum, logMass))
	// The room for as many roundings as there are cells.
	return l + 1e-11 + 1e-12*math.Abs(l)
}
