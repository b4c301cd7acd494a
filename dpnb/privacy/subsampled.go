package privacy

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/logspace"
	"github.com/dpnb/notebooks/dpnb/internal/recent"
	"github.com/dpnb/notebooks/dpnb/privacy/internal/elementary"
)

// SubsampledGaussian is the event of one step of Poisson sampling (every record independently with probability Rate)
// followed by a Gaussian mechanism on the sample, as in DP-SGD.
type SubsampledGaussian struct {
	// Sigma is the standard deviation of the noise, positive and finite.
	Sigma float64
	// Sensitivity is the add/remove-one ℓ₂ sensitivity without sampling.
	Sensitivity float64
	// Rate is the sampling probability q in [0, 1].
	Rate float64
}

// Validate returns a *ParamError if a field is out of range.
func (s SubsampledGaussian) Validate() error {
	return cmp.Or(Within(s.Rate >= 0 && s.Rate <= 1, "Rate", s.Rate, "a number in [0, 1]"), s.gaussian().Validate())
}

func (s SubsampledGaussian) gaussian() Gaussian { return Gaussian{s.Sigma, s.Sensitivity} }

// String implements Event.
func (s SubsampledGaussian) String() string {
	return fmt.Sprintf("SubsampledGaussian(σ=%g, Δ₂=%g, q=%g)", s.Sigma, s.Sensitivity, s.Rate)
}

// Profile implements Event. With q the rate, μ = sensitivity/σ and δ_G the Gaussian's profile,
//
//	remove: δ(ε) = q δ_G(ln(1 + (e^ε−1)/q); μ)        for e^ε > 1 − q, else 1 − e^ε;
//	add:    δ(ε) = (1 − (1−q)e^ε) δ_G(−ln(1 + (e^{−ε}−1)/q); μ) for e^ε < 1/(1−q), else 0,
//
// exact in both directions. Under replace-one it is what follows from these.
//
// Errors: *ParamError if a field or adj is out of range.
// Source: Zhu, Dong, Wang 2022, arXiv:2106.08567. Proof: docs/theory/gaussian.md.
func (s SubsampledGaussian) Profile(adj Adjacency) (Profile, error) {
	if err := cmp.Or(s.Validate(), adj.Validate()); err != nil {
		return nil, err
	}
	if s.Rate == 1 {
		return s.gaussian().Profile(adj)
	}
	low, high := s.gaussian().MuBounds(AddRemove)
	if s.Rate == 0 {
		low, high = 0, 0
	}
	return ConvertAdjacency(subsampledProfile{q: s.Rate, muLow: low, muHigh: high}, adj)
}

type subsampledProfile struct{ q, muLow, muHigh float64 }

func (p subsampledProfile) Adjacency() Adjacency { return AddRemove }

func (p subsampledProfile) LogDeltaUpper(d Direction, eps float64) float64 {
	l, slack := p.log(d, eps, p.muHigh)
	if math.IsInf(slack, 1) {
		slack = gaussianSlack(l)
	}
	return roundUp(l, slack)
}

func (p subsampledProfile) LogDeltaLower(d Direction, eps float64) float64 {
	l, slack := p.log(d, eps, p.muLow)
	return roundDown(l, slack)
}

// log returns ln δ and a bound on its rounding error.
func (p subsampledProfile) log(d Direction, eps, mu float64) (l, slack float64) {
	switch {
	case math.IsInf(eps, -1):
		return 0, 0
	case math.IsInf(eps, 1):
		return math.Inf(-1), 0
	case mu == 0:
		l = logDeltaGaussian(eps, 0)
		return l, gaussianSlack(l)
	case d == Remove:
		return p.logRemove(eps, mu)
	case eps < 0:
		r, s := p.logRemove(-eps, mu)
		own := math.Log(-math.Expm1(eps))
		l = logspace.Add(own, eps+r)
		// The sum is convex in r: what r's error adds upwards is more than downwards.
		return l, logspace.Add(own, eps+r+s) - l + gaussianSlack(l)
	}
	return p.logAdd(eps, mu)
}

func (p subsampledProfile) logRemove(eps, mu float64) (l, slack float64) {
	grow := math.Expm1(eps)
	if eps > 30 || grow > 1e300*p.q {
		t := eps - elementary.Log(p.q) + math.Log1p(-(1-p.q)*math.Exp(-eps))
		if eps <= 30 { // e^ε − 1 + q is e^ε − 1 to 300 digits, and near 0 known only so
			t = math.Log(grow) - elementary.Log(p.q)
		}
		l = elementary.Log(p.q) + logDeltaGaussian(t, mu)
		return l, gaussianSlack(l) + 8e-16*t*gaussianSlope(t, mu)
	}
	x := grow / p.q
	if x <= -1 {
		// 1 − e^ε, also where the rounding of x hides that it is above −1: q·δ_G(t) is larger by less than e^t = 1 + x
		// times q.
		l = math.Log(-grow)
		return l, 2e-15 + gaussianSlack(l)
	}
	t := math.Log1p(x)
	l = elementary.Log(p.q) + logDeltaGaussian(t, mu)
	if t < 0 {
		// x is known to a relative 4e-16. δ_G falls in e^t = 1 + x with a slope of at most 1, so that it errs by
		// 4e-16·|x| + |t|e^t·3e-16, and it is at least −x.
		return l, gaussianSlack(l) + 1e-15
	}
	return l, gaussianSlack(l) + 1e-15*(math.Min(1, x)+t)*gaussianSlope(t, mu)
}

// logAdd uses that 1 − (1−q)e^ε = q e^ε(1 + x), x = (e^{−ε} − 1)/q: with t = −ln(1 + x) the logarithm is ln q + ε − t +
// ln δ_G(t; μ), and only x is rounded before it.
func (p subsampledProfile) logAdd(eps, mu float64) (l, slack float64) {
	x := math.Expm1(-eps) / p.q
	if x <= -1+4e-16 {
		return p.logAddAtEdge(eps, mu)
	}
	t := -math.Log1p(x)
	l = elementary.Log(p.q) + eps - t + logDeltaGaussian(t, mu)
	dt := 1e-15 * (-x/(1+x) + t)
	return l, gaussianSlack(l) + 6e-16*(eps+t) + dt*(1+gaussianSlope(t, mu))
}

// logAddAtEdge answers where rounding hides which side of 1/(1−q) e^ε is on: δ is then at most that at the last ε that
// is surely inside.
func (p subsampledProfile) logAddAtEdge(eps, mu float64) (l, slack float64) {
	limit := -math.Log1p(-p.q)
	if eps > limit*(1+1e-15) {
		return math.Inf(-1), 0
	}
	inside := limit * (1 - 1e-6)
	if math.Expm1(-inside)/p.q <= -1+1e-9 {
		return 0, math.Inf(1) // q next to 1: the limit is too steep for a point inside
	}
	l, slack = p.logAdd(inside, mu)
	return math.Min(0, l+slack), math.Inf(1) // as a lower bound nothing is known here
}

// gaussianSlope bounds |d ln δ_G/dε| at t ≥ 0: the hazard t/μ² of the Gaussian tail, and 1 + 2/μ near its middle.
func gaussianSlope(t, mu float64) float64 { return 1 + 2*t/(mu*mu) + 4/mu }

// maxIntegerOrder bounds the length of the binomial sum of RDP.
const maxIntegerOrder = 1024

// RDP returns the curve of the remove direction, which dominates the other: at an integer order α
//
//	(α−1)ε(α) = ln Σ_k C(α,k)(1−q)^{α−k} q^k e^{k(k−1)μ²/2},
//
// between integers the chord of this function, which is convex in α; beyond order 1024 the curve without sampling.
// Add/remove-one only.
//
// Errors: ErrUnsupported under ReplaceOne.
// Source: Mironov, Talwar, Zhang 2019, arXiv:1908.10530, Section 3.
func (s SubsampledGaussian) RDP(adj Adjacency) (RDPCurve, error) {
	if err := s.Validate(); err != nil {
		return RDPCurve{}, err
	}
	if adj != AddRemove {
		return RDPCurve{}, fmt.Errorf("%w: the Rényi curve of a subsampled Gaussian is known only under "+
			"add/remove-one", ErrUnsupported)
	}
	_, mu := s.gaussian().MuBounds(AddRemove)
	q := s.Rate
	var table recent.All[int, float64]
	moment := func(n int) float64 {
		return table.Of(n, func() float64 { return logBinomialMoment(n, q, mu) })
	}
	return RDPCurve{Adj: adj, Epsilon: func(alpha float64) float64 {
		switch {
		case q == 0 || mu == 0:
			return 0
		case alpha >= maxIntegerOrder || q == 1:
			return math.Nextafter(0.5*alpha*mu*mu*(1+8e-16), math.Inf(1))
		}
		n := math.Floor(alpha)
		share := alpha - n
		v := (1-share)*moment(int(n)) + share*moment(int(n)+1)
		if alpha == 1 {
			return moment(2)
		}
		return math.Nextafter(v/(alpha-1)*(1+1e-15), math.Inf(1))
	}}, nil
}

// logBinomialMoment returns ln E_Q (p/q)ⁿ of the remove direction, rounded up: as the masses of the binomial law sum to
// one it is ln(1 + E),
//
//	E = Σ_k C(n,k)(1−q)^{n−k} q^k (e^{k(k−1)μ²/2} − 1),
//
// all terms positive, so that a small E keeps its digits. Each term is widened by the error of its own logarithm, which
// that of its largest part bounds.
func logBinomialMoment(n int, q, mu float64) float64 {
	if n <= 1 {
		return 0
	}
	lq, l1 := elementary.Log(q), math.Log1p(-q)
	terms := make([]float64, n+1)
	top := math.Inf(-1)
	choose := float64(n) // C(n, k), below 1e308 for n ≤ 1024; k roundings
	for k := 2; k <= n; k++ {
		fk := float64(k)
		choose *= float64(n-k+1) / fk
		// Not zero where float64 has no smaller number.
		growth := math.Max(0.5*fk*(fk-1)*mu*mu, math.SmallestNonzeroFloat64)
		lc, miss, grow := math.Log(choose), float64(n-k)*l1, logExpm1(growth)
		slack := 4.5e-16*fk + 1e-15*(2+math.Abs(lc)-miss-fk*lq+math.Abs(grow))
		terms[k] = lc + miss + fk*lq + grow + slack
		top = math.Max(top, terms[k])
	}
	if math.IsInf(top, 1) {
		return top
	}
	var sum float64
	for _, t := range terms[2:] {
		sum += math.Exp(t - top)
	}
	l := top + math.Log(sum)
	l += 1e-15*(2+math.Abs(top)) + 3e-16*float64(n)
	switch {
	case l > 40:
		return l // ln(1 + eˡ) is e⁻ˡ < 5·10⁻¹⁸ more, which the line above has added many times
	case l < -40:
		return elementary.ExpUp(l)
	}
	return math.Log1p(elementary.ExpUp(l)) * (1 + 4e-16)
}

// logExpm1 returns ln(e^y − 1), y ≥ 0.
func logExpm1(y float64) float64 {
	if y > 40 {
		return y
	}
	return elementary.Log(math.Expm1(y))
}
