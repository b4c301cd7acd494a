package privacy

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/logspace"
)

// SelectionPoisson is the event of running Base a Poisson(Mean)-distributed number of times and publishing only the
// best run, by a score that each run publishes with its output (hyperparameter tuning).
type SelectionPoisson struct {
	// Base is one run; it must have a Rényi curve.
	Base RDPEvent
	// Mean μ > 0 of the number of runs.
	Mean float64
}

// String implements Event.
func (s SelectionPoisson) String() string {
	return fmt.Sprintf("SelectionPoisson(μ=%g, %v)", s.Mean, s.Base)
}

// RDP returns the curve
//
//	ε'(α) = ln(1 + μ e^{(α−1)μδ̂}·(e^{(α−1)ε(α)} − 1))/(α−1),  δ̂ = δ_base(ε̂),  e^ε̂ = 1 + 1/(α−1).
//
// Where μe^{(α−1)μδ̂} ≥ 1, so for every μ ≥ 1, it is no more than ε(α) + μδ̂ + ln μ/(α−1), which is Theorem 6 of
// Papernot and Steinke; for smaller μ that may be too small, as it leaves out that there may be no run.
//
// Errors: *ParamError; whatever Base returns.
// Source: the theorem: Papernot, Steinke 2022, arXiv:2110.03620.
// Proof: docs/theory/sgd.md, section 4.
func (s SelectionPoisson) RDP(adj Adjacency) (RDPCurve, error) {
	if err := Positive("Mean", s.Mean); err != nil {
		return RDPCurve{}, err
	}
	base, profile, err := s.base(adj)
	if err != nil {
		return RDPCurve{}, err
	}
	return RDPCurve{Adj: adj, Epsilon: func(alpha float64) float64 {
		if !(alpha > 1) {
			return math.Inf(1)
		}
		// ε̂ rounded down, so that f of the proof is not negative.
		eps := math.Log1p(1/(alpha-1)) * (1 - 1e-15)
		own, shift := base.Epsilon(alpha), s.Mean*DeltaUpper(profile, eps)
		switch {
		case math.IsNaN(own) || math.IsNaN(shift):
			return math.Inf(1) // nothing is known
		case own <= 0:
			return 0 // one law only
		case math.IsInf(alpha, 1):
			return (own + shift) * (1 + 1e-15)
		}
		x := math.Max((alpha-1)*own, math.SmallestNonzeroFloat64)
		// ln of what is added to 1, and room for its rounding.
		l := math.Log(s.Mean) + (alpha-1)*shift + x + math.Log(-math.Expm1(-x))
		l += 1e-14 * (1 + math.Abs(math.Log(s.Mean)) + (alpha-1)*shift + x + math.Abs(math.Log(x)))
		if l < -40 {
			return math.Nextafter(math.Exp(l-math.Log(alpha-1))*(1+1e-14), math.Inf(1)) // ln(1 + y) ≤ y
		}
		return math.Nextafter(logspace.Add(0, l)/(alpha-1)*(1+1e-14), math.Inf(1))
	}}, nil
}

func (s SelectionPoisson) base(adj Adjacency) (RDPCurve, Profile, error) {
	if s.Base == nil {
		return RDPCurve{}, nil, &ParamError{Name: "Base", Value: nil, Want: "an event with a Rényi curve"}
	}
	curve, err := s.Base.RDP(adj)
	if err != nil {
		return RDPCurve{}, nil, err
	}
	profile, err := s.Base.Profile(adj)
	return curve, profile, err
}

// Profile implements Event by the Rényi curve: sound, but composing several is tighter by their curves.
func (s SelectionPoisson) Profile(adj Adjacency) (Profile, error) {
	c, err := s.RDP(adj)
	if err != nil {
		return nil, err
	}
	return c.Profile(), nil
}
