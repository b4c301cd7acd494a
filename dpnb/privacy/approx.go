package privacy

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/logspace"
	"github.com/dpnb/notebooks/dpnb/privacy/internal/elementary"
)

// Approx is the guarantee (ε, δ)-DP, pure ε-DP where Delta is zero, and the event of running something about which no
// more is known.
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
	if err := cmp.Or(NotNegative("Epsilon", a.Epsilon),
		Within(a.Delta >= 0 && a.Delta <= 1, "Delta", a.Delta, "a number in [0, 1]")); err != nil {
		return err
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

// Profile implements Event. The profile is that of the pair which dominates every (ε, δ)-DP mechanism: with probability
// δ it tells all, otherwise it is randomised response,
//
//	δ(t) = δ + (1−δ)(e^ε − e^t)/(e^ε + 1) for |t| ≤ ε,  δ for t ≥ ε,
//	1 − (1−δ)e^t for t ≤ −ε.
//
// An add/remove guarantee is converted when replace-one is asked for; the other way is not possible.
//
// Errors: *ParamError if a field is out of range, ErrAdjacency.
// Source: Kairouz, Oh, Viswanath 2015, arXiv:1311.0776, Theorem 3.4.
func (a Approx) Profile(adj Adjacency) (Profile, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	return ConvertAdjacency(approxProfile{symmetric(a.Adj), a}, adj)
}

// RDP returns the curve of the dominating pair,
//
//	ε(α) = ln[p^α q^{1−α} + q^α p^{1−α}]/(α−1), p = e^ε/(1+e^ε), q = 1 − p,
//	     = ln[1 + 2 sinh(αε/2) sinh((α−1)ε/2)/cosh(ε/2)]/(α−1),
//
// rounded up; the second form has no cancellation. Relative error below 1e-14.
// Errors: ErrUnsupported if δ > 0, which has no finite curve.
func (a Approx) RDP(adj Adjacency) (RDPCurve, error) {
	if err := a.Validate(); err != nil {
		return RDPCurve{}, err
	}
	if a.Delta > 0 {
		return RDPCurve{}, fmt.Errorf("%w: (ε, δ)-DP with δ > 0 has no Rényi guarantee; compose by its profile",
			ErrUnsupported)
	}
	eps := a.Epsilon
	switch {
	case a.Adj == adj:
	case a.Adj == AddRemove && adj == ReplaceOne:
		eps *= 2
	default:
		return RDPCurve{}, ErrAdjacency
	}
	return RDPCurve{Adj: adj, Epsilon: func(alpha float64) float64 {
		return math.Min(eps, pureRenyi(eps, alpha))
	}}, nil
}

// pureRenyi returns the curve of Approx.RDP at α ≥ 1, rounded up.
func pureRenyi(eps, alpha float64) float64 {
	less := alpha - 1
	var v float64
	switch {
	case eps == 0:
		return 0
	case less == 0:
		v = eps * math.Tanh(eps/2)
	case alpha*eps > 300:
		// (α−1)ε + log1p(e^{−(2α−1)ε}) − log1p(e^{−ε}), where the first is the largest.
		v = eps + (math.Log1p(math.Exp(-(2*alpha-1)*eps))-math.Log1p(math.Exp(-eps)))/less
	default:
		// x/(α−1) first: it keeps its digits where x has none left.
		u := 2 * math.Sinh(alpha*eps/2) * (math.Sinh(less*eps/2) / less) / math.Cosh(eps/2)
		v = u
		if x := u * less; x > 0 {
			v = u * (math.Log1p(x) / x)
		}
	}
	return math.Nextafter(v*(1+8e-15), math.Inf(1))
}

type approxProfile struct {
	symmetric
	a Approx
}

// log returns ln δ(t); error at most approxSlack of it. All terms of every sum are positive, so that a relative error
// of each is one of the sum.
func (p approxProfile) log(t float64) float64 {
	eps, delta := p.a.Epsilon, p.a.Delta
	switch {
	case t >= eps:
		return elementary.Log(delta)
	case t <= -eps:
		// 1 − (1−δ)e^t
		return elementary.Log(-math.Expm1(t) + delta*math.Exp(t))
	}
	// (e^ε − e^t)/(e^ε + 1) = −expm1(t − ε)/(1 + e^{−ε}), in logarithms where it is next to the smallest numbers.
	part := -math.Expm1(t - eps)
	if delta < 1e-290 && part < 1e-290 {
		return logspace.Add(elementary.Log(delta), elementary.Log(part)-math.Log1p(math.Exp(-eps)))
	}
	return elementary.Log(delta + (1-delta)*(part/(1+math.Exp(-eps))))
}

// approxSlack bounds the error of approxProfile.log: that of some correctly rounded factors, and of the logarithm
// itself.
func approxSlack(l float64) float64 { return 2e-15 + 6e-16*math.Abs(l) }

func (p approxProfile) LogDeltaUpper(_ Direction, t float64) float64 {
	l := p.log(t)
	return roundUp(l, approxSlack(l))
}

func (p approxProfile) LogDeltaLower(_ Direction, t float64) float64 {
	l := p.log(t)
	return roundDown(l, approxSlack(l))
}
