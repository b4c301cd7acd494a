package privacy

import (
	"fmt"
	"math"
)

// Approx is the guarantee (ε, δ)-DP, pure ε-DP where Delta is zero, and the
// event of running something of which no more is known.
type Approx struct {
	// Epsilon ≥ 0, finite.
	Epsilon float64
	// Delta is in [0, 1].
	Delta float64
	// Adj is the adjacency under which the guarantee was proved.
	Adj Adjacency
}

// Pure returns the guarantee ε-DP under adj.
func Pure(eps float64, adj Adjacency) Approx { return Approx{Epsilon: eps, Adj: adj} }

// Validate returns a *ParamError if a field is out of range.
func (a Approx) Validate() error {
	if !(a.Epsilon >= 0) || math.IsInf(a.Epsilon, 1) {
		return &ParamError{Name: "Epsilon", Value: a.Epsilon, Want: "a finite number ≥ 0"}
	}
	if !(a.Delta >= 0 && a.Delta <= 1) {
		return &ParamError{Name: "Delta", Value: a.Delta, Want: "a number in [0, 1]"}
	}
	return a.Adj.Validate()
}

// String implements Event.
func (a Approx) String() string {
	if a.Delta == 0 {
		return fmt.Sprintf("ε-DP(ε=%g, %v)", a.Epsilon, a.Adj)
	}
	return fmt.Sprintf("(ε,δ)-DP(ε=%g, δ=%g, %v)", a.Epsilon, a.Delta, a.Adj)
}

// Profile implements Event. The profile is that of the pair which dominates
// every (ε, δ)-DP mechanism: with probability δ it tells all, otherwise it is
// randomised response,
//
//	δ(t) = δ + (1−δ)(e^ε − e^t)/(e^ε + 1) for |t| ≤ ε,  δ for t ≥ ε,
//	1 − (1−δ)e^t for t ≤ −ε.
//
// An add/remove guarantee is converted when replace-one is asked for; the
// other way is not possible.
//
// Errors: *ParamError if a field is out of range, ErrAdjacency.
// Source: Kairouz, Oh, Viswanath 2015, arXiv:1311.0776, Theorem 3.4.
func (a Approx) Profile(adj Adjacency) (Profile, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	return ConvertAdjacency(approxProfile{a}, adj)
}

// RDP returns the curve of the dominating pair,
//
//	ε(α) = ln[p^α q^{1−α} + q^α p^{1−α}]/(α−1), p = e^ε/(1+e^ε), q = 1 − p,
//
// rounded up. Errors: ErrUnsupported if δ > 0, which has no finite curve.
func (a Approx) RDP(adj Adjacency) (RDPCurve, error) {
	if err := a.Validate(); err != nil {
		return RDPCurve{}, err
	}
	if a.Delta > 0 {
		return RDPCurve{}, fmt.Errorf("%w: (ε, δ)-DP with δ > 0 has no Rényi guarantee; compose by its profile", ErrUnsupported)
	}
	eps := a.Epsilon
	switch {
	case a.Adj == adj:
	case a.Adj == AddRemove && adj == ReplaceOne:
		eps *= 2
	default:
		return RDPCurve{}, ErrAdjacency
	}
	lp, lq := -math.Log1p(math.Exp(-eps)), -eps-math.Log1p(math.Exp(-eps))
	return RDPCurve{Adj: adj, Epsilon: func(alpha float64) float64 {
		if alpha == 1 {
			return eps * math.Tanh(eps/2) * (1 + 1e-14)
		}
		v := logAddExp(alpha*lp+(1-alpha)*lq, alpha*lq+(1-alpha)*lp)
		return math.Min(eps, math.Max(0, v)/(alpha-1)+4e-16*(1+alpha*eps)/(alpha-1))
	}}, nil
}

type approxProfile struct{ a Approx }

func (p approxProfile) Adjacency() Adjacency { return p.a.Adj }

// Symmetric reports that both directions have the same profile.
func (p approxProfile) Symmetric() bool { return true }

func (p approxProfile) log(t float64) float64 {
	eps, delta := p.a.Epsilon, p.a.Delta
	switch {
	case t >= eps:
		return math.Log(delta)
	case t <= -eps:
		return math.Log1p(-(1 - delta) * math.Exp(t))
	}
	// (e^ε − e^t)/(e^ε + 1) = −expm1(t − ε)/(1 + e^{−ε})
	return math.Log(delta + (1-delta)*-math.Expm1(t-eps)/(1+math.Exp(-eps)))
}

func (p approxProfile) LogDeltaUpper(_ Direction, t float64) float64 {
	l := p.log(nudge(t, -1))
	return roundUp(l, 2e-15+4e-16*math.Abs(l))
}

func (p approxProfile) LogDeltaLower(_ Direction, t float64) float64 {
	l := p.log(nudge(t, +1))
	return roundDown(l, 2e-15+4e-16*math.Abs(l))
}
