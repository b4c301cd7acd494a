package privacy

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/logspace"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/privacy/internal/elementary"
)

// RDPCurve is a Rényi guarantee: for every order α > 1, D_α(P‖Q) ≤ Epsilon(α) in both directions.
type RDPCurve struct {
	// Adj is the adjacency under which it holds.
	Adj Adjacency
	// Epsilon maps α ≥ 1 to an upper bound, +Inf where there is none. It must be a pure function.
	Epsilon func(alpha float64) float64
}

// RDPEvent is implemented by events that have a Rényi curve.
type RDPEvent interface {
	Event
	// RDP returns the curve of one run under adj.
	RDP(adj Adjacency) (RDPCurve, error)
}

// Rho is a ρ-zCDP guarantee: ε(α) = ρα for every α > 1.
type Rho struct {
	Value float64
	Adj   Adjacency
}

// RhoOfGaussian returns the zCDP guarantee ρ = μ²/2 of μ-GDP's Gaussian mechanism, rounded up.
func RhoOfGaussian(mu float64, adj Adjacency) Rho {
	return Rho{Value: math.Nextafter(0.5*mu*mu, math.Inf(1)), Adj: adj}
}

// GaussianRDP returns the curve αμ²/2 of the μ-GDP Gaussian mechanism.
func GaussianRDP(mu float64, adj Adjacency) RDPCurve {
	rho := RhoOfGaussian(mu, adj)
	return RDPCurve{Adj: adj, Epsilon: func(alpha float64) float64 {
		return math.Nextafter(rho.Value*alpha, math.Inf(1))
	}}
}

// RDP returns the curve αμ²/2.
func (g Gaussian) RDP(adj Adjacency) (RDPCurve, error) {
	if err := g.Validate(); err != nil {
		return RDPCurve{}, err
	}
	_, mu := g.MuBounds(adj)
	return GaussianRDP(mu, adj), nil
}

// ComposeRDP returns the curve of running each curve its number of times: the orders' sums, rounded up.
//
// Errors: ErrAdjacency if the adjacencies differ, *ParamError if there is none.
func ComposeRDP(counts []int, curves ...RDPCurve) (RDPCurve, error) {
	if len(curves) == 0 || len(counts) != len(curves) {
		return RDPCurve{}, &ParamError{Name: "curves", Value: len(curves), Want: "at least one, and a count for each"}
	}
	for _, c := range curves {
		if c.Adj != curves[0].Adj {
			return RDPCurve{}, ErrAdjacency
		}
	}
	return RDPCurve{Adj: curves[0].Adj, Epsilon: func(alpha float64) float64 {
		var sum float64
		for i, c := range curves {
			if counts[i] > 0 {
				sum += float64(counts[i]) * c.Epsilon(alpha)
			}
		}
		return sum * (1 + 4e-16*float64(len(curves)+1))
	}}, nil
}

// LogDeltaUpper returns an upper bound on ln δ(ε), ε ≥ 0,
//
//	δ = inf_{α>1} exp((α−1)(ε(α)−ε)) (1−1/α)^α / (α−1).
//
// Bound: upper; any α is valid, so the search cannot break it.
// Source: Canonne, Kamath, Steinke 2020, arXiv:2004.00010, Proposition 12.
// Proof: docs/theory/composition.md.
func (c RDPCurve) LogDeltaUpper(eps float64) float64 {
	return math.Min(0, minOverOrders(func(alpha float64) float64 {
		e := c.Epsilon(alpha)
		less := alpha - 1
		return less*(e-eps) - orderCost(less) + 1e-15*(1+less*(math.Abs(e)+math.Abs(eps))+orderCost(less))
	}))
}

// orderCost returns −ln[(1−1/α)^α/(α−1)] = α ln α − (α−1)ln(α−1) as a sum of positive terms, less = α − 1. Relative
// error below 1e-15.
func orderCost(less float64) float64 { return less*math.Log1p(1/less) + math.Log1p(less) }

// EpsilonUpper returns an upper bound on ε at δ,
//
//	ε = inf_{α>1} ε(α) + ln(1−1/α) − ln(αδ)/(α−1), at least 0.
//
// Errors: *ParamError unless 0 < δ < 1.
// Source: Canonne, Kamath, Steinke 2020, arXiv:2004.00010, Proposition 12.
func (c RDPCurve) EpsilonUpper(delta float64) (float64, error) {
	if err := Fraction("Delta", delta); err != nil {
		return 0, err
	}
	ln := elementary.Log(delta)
	return math.Max(0, minOverOrders(func(alpha float64) float64 {
		less := alpha - 1
		// ln(1 − 1/α), which 1/α has not the digits for near α = 1.
		e, edge := c.Epsilon(alpha), -math.Log1p(1/less)
		t, size := -(math.Log(alpha)+ln)/less, (math.Log(alpha)-ln)/less
		return e + edge + t + 1e-15*(e-edge+size)
	})), nil
}

// minOverOrders returns the smallest value of f found over α − 1 ∈ [1e-6, 1e15]: a grid in the logarithm, then a
// golden-section search about its best point. NaN counts as +Inf.
func minOverOrders(f func(alpha float64) float64) float64 {
	g := func(x float64) float64 {
		v := f(1 + math.Exp(x))
		if math.IsNaN(v) {
			return math.Inf(1)
		}
		return v
	}
	return univariate.Minimum(g, math.Log(1e-6), math.Log(1e15), 168, 45)
}

// Profile returns the profile that the curve implies, the same in both directions; for ε < 0 by δ(ε) = 1 − e^ε + e^ε
// δ(−ε). The curve is read once, at 800 orders; any set of orders is valid.
func (c RDPCurve) Profile() Profile {
	const orders = 800
	p := rdpProfile{symmetric: symmetric(c.Adj)}
	lo, hi := math.Log(1e-5), math.Log(1e7)
	for i := 0; i <= orders; i++ {
		alpha := 1 + math.Exp(lo+(hi-lo)*float64(i)/orders)
		t := alpha - 1 // what the rounding of 1 + … left of it
		e := c.Epsilon(alpha)
		at := t*e - orderCost(t)
		if math.IsNaN(at) || math.IsInf(at, 1) {
			continue
		}
		p.slope = append(p.slope, t)
		p.at = append(p.at, at+1e-15*(1+t*e+orderCost(t)))
	}
	return p
}

// rdpProfile bounds ln δ(ε) by the least of at[i] − slope[i]·ε.
type rdpProfile struct {
	symmetric
	slope, at []float64
}

func (p rdpProfile) LogDeltaUpper(_ Direction, eps float64) float64 {
	switch {
	case math.IsInf(eps, 1):
		if len(p.slope) == 0 {
			return 0
		}
		return math.Inf(-1)
	case math.IsInf(eps, -1):
		return 0
	case eps < 0:
		l := logspace.Add(math.Log(-math.Expm1(eps)), eps+p.LogDeltaUpper(Remove, -eps))
		return roundUp(l, 2e-15+4e-16*math.Abs(l))
	}
	best, slope := 0.0, 0.0
	for i, s := range p.slope {
		if v := p.at[i] - s*eps; v < best {
			best, slope = v, s
		}
	}
	return roundUp(best, 1e-15*(1+math.Abs(best)+slope*eps))
}
