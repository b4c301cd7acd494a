package privacy

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/logspace"
	"github.com/dpnb/notebooks/dpnb/privacy/internal/elementary"
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
	if !(s.Mean > 0) || math.IsInf(s.Mean, 1) {
		return RDPCurve{}, &ParamError{Name: "Mean", Value: s.Mean, Want: "a positive finite number"}
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

// SelectionNegativeBinomial is SelectionPoisson with a number of runs from the truncated negative binomial law of shape
// Eta and parameter Gamma: Eta = 1 is the geometric law, Eta = 0 the logarithmic one.
type SelectionNegativeBinomial struct {
	// Base is one run; it must have a Rényi curve.
	Base RDPEvent
	// Eta η > −1.
	Eta float64
	// Gamma γ in (0, 1); smaller means more runs.
	Gamma float64
}

// String implements Event.
func (s SelectionNegativeBinomial) String() string {
	return fmt.Sprintf("SelectionNegativeBinomial(η=%g, γ=%g, %v)", s.Eta, s.Gamma, s.Base)
}

// Mean returns the mean number of runs,
//
//	η(1−γ)/(γ(1−γ^η)), for η = 0: (1−γ)/(γ ln(1/γ)).
func (s SelectionNegativeBinomial) Mean() float64 {
	l := -math.Log(s.Gamma) // 1/γ would lose the digits of a γ near 1
	mean := (1 - s.Gamma) / (s.Gamma * l)
	if x := s.Eta * l; x != 0 {
		mean *= x / -math.Expm1(-x)
	}
	return mean
}

// RDP returns the curve, for every order α̂ ≥ 1 of the base,
//
//	ε'(α) = ε(α) + (1+η)(1−1/α̂)ε(α̂) + (1+η)ln(1/γ)/α̂ + ln E[K]/(α−1),
//
// minimised over α̂.
//
// Bound: upper; any α̂ is valid, so the search cannot break it.
// Errors: *ParamError; whatever Base returns.
// Source: Papernot, Steinke 2022, arXiv:2110.03620, Theorem 2.
func (s SelectionNegativeBinomial) RDP(adj Adjacency) (RDPCurve, error) {
	switch {
	case s.Base == nil:
		return RDPCurve{}, &ParamError{Name: "Base", Value: nil, Want: "an event with a Rényi curve"}
	case !(s.Eta > -1) || math.IsInf(s.Eta, 1):
		return RDPCurve{}, &ParamError{Name: "Eta", Value: s.Eta, Want: "a finite number > −1"}
	case !(s.Gamma > 0 && s.Gamma < 1):
		return RDPCurve{}, &ParamError{Name: "Gamma", Value: s.Gamma, Want: "a number in (0, 1)"}
	}
	base, err := s.Base.RDP(adj)
	if err != nil {
		return RDPCurve{}, err
	}
	l := -elementary.Log(s.Gamma)
	extra := (1 + s.Eta) * minOverOrders(func(order float64) float64 {
		return ((order-1)*base.Epsilon(order) + l) / order
	}) * (1 + 1e-14)
	// The mean is known to a relative 2e-15, its logarithm absolutely.
	lnMean := math.Log(s.Mean())
	lnMean += 3e-15 + 1e-15*math.Abs(lnMean)
	return RDPCurve{Adj: adj, Epsilon: func(alpha float64) float64 {
		if !(alpha > 1) {
			return math.Inf(1)
		}
		return (base.Epsilon(alpha) + extra + math.Max(0, lnMean)/(alpha-1)) * (1 + 1e-14)
	}}, nil
}

// Profile implements Event by the Rényi curve: sound, but composing several is tighter by their curves.
func (s SelectionNegativeBinomial) Profile(adj Adjacency) (Profile, error) {
	c, err := s.RDP(adj)
	if err != nil {
		return nil, err
	}
	return c.Profile(), nil
}
