package privacy

import (
	"fmt"
	"math"
)

// SubsampledGaussian is the event of one step of Poisson sampling (every
// record independently with probability Rate) followed by a Gaussian mechanism
// on the sample, as in DP-SGD.
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
	if !(s.Rate >= 0 && s.Rate <= 1) {
		return &ParamError{Name: "Rate", Value: s.Rate, Want: "a number in [0, 1]"}
	}
	return s.gaussian().Validate()
}

func (s SubsampledGaussian) gaussian() Gaussian { return Gaussian{s.Sigma, s.Sensitivity} }

// String implements Event.
func (s SubsampledGaussian) String() string {
	return fmt.Sprintf("SubsampledGaussian(σ=%g, Δ₂=%g, q=%g)", s.Sigma, s.Sensitivity, s.Rate)
}

// Profile implements Event. With q the rate, μ = sensitivity/σ and δ_G the
// Gaussian's profile,
//
//	remove: δ(ε) = q δ_G(ln(1 + (e^ε−1)/q); μ)        for e^ε > 1 − q, else 1 − e^ε;
//	add:    δ(ε) = (1 − (1−q)e^ε) δ_G(−ln(1 + (e^{−ε}−1)/q); μ) for e^ε < 1/(1−q), else 0,
//
// exact in both directions. Under replace-one it is what follows from these.
//
// Errors: *ParamError if a field or adj is out of range.
// Source: Zhu, Dong, Wang 2022, arXiv:2106.08567. Proof: docs/theory/gaussian.md.
func (s SubsampledGaussian) Profile(adj Adjacency) (Profile, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if err := adj.Validate(); err != nil {
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
		l = logAddExp(math.Log(-math.Expm1(eps)), eps+r)
		return l, s + gaussianSlack(l)
	}
	return p.logAdd(eps, mu)
}

func (p subsampledProfile) logRemove(eps, mu float64) (l, slack float64) {
	if eps > 30 || math.Expm1(eps) > 1e300*p.q {
		t := eps - math.Log(p.q) + math.Log1p(-(1-p.q)*math.Exp(-eps))
		l = math.Log(p.q) + logDeltaGaussian(t, mu)
		return l, gaussianSlack(l) + 8e-16*t*gaussianSlope(t, mu)
	}
	x := math.Expm1(eps) / p.q
	if x <= -1 {
		l = math.Log(-math.Expm1(eps))
		return l, 1e-15 * (1 + 1/-math.Expm1(eps))
	}
	t := math.Log1p(x)
	l = math.Log(p.q) + logDeltaGaussian(t, mu)
	if t < 0 {
		// δ_G ≥ δ_G(0); its slope times the error of t is at most 1e-15.
		return l, gaussianSlack(l) + 1e-15*(2+4/mu)
	}
	return l, gaussianSlack(l) + 1e-15*(math.Min(1, x)+t)*gaussianSlope(t, mu)
}

func (p subsampledProfile) logAdd(eps, mu float64) (l, slack float64) {
	edge := -math.Expm1(eps + math.Log1p(-p.q)) // 1 − (1−q)e^ε
	x := math.Expm1(-eps) / p.q
	if edge <= 0 || x <= -1 {
		return p.logAddAtEdge(eps, mu)
	}
	t := -math.Log1p(x)
	l = math.Log(edge) + logDeltaGaussian(t, mu)
	dt := 1e-15 * (-x/(1+x) + t)
	return l, gaussianSlack(l) + 2e-15/edge + dt*gaussianSlope(t, mu)
}

// logAddAtEdge answers where rounding hides which side of 1/(1−q) e^ε is on: δ
// is then at most that at the last ε that is surely inside.
func (p subsampledProfile) logAddAtEdge(eps, mu float64) (l, slack float64) {
	limit := -math.Log1p(-p.q)
	if eps > limit*(1+1e-15) {
		return math.Inf(-1), 0
	}
	inside := limit * (1 - 1e-6)
	l, _ = p.logAdd(inside, mu)
	return l, math.Inf(1) // as a lower bound nothing is known here
}

// gaussianSlope bounds |d ln δ_G/dε| at t ≥ 0: the hazard t/μ² of the Gaussian
// tail, and 1 + 2/μ near its middle.
func gaussianSlope(t, mu float64) float64 { return 1 + 2*t/(mu*mu) + 4/mu }

// maxIntegerOrder bounds the length of the binomial sum of RDP.
const maxIntegerOrder = 1024

// RDP returns the curve of the remove direction, which dominates the other:
// at an integer order α
//
//	(α−1)ε(α) = ln Σ_k C(α,k)(1−q)^{α−k} q^k e^{k(k−1)μ²/2},
//
// between integers the chord of this function, which is convex in α; beyond
// order 1024 the curve without sampling. Add/remove-one only.
//
// Errors: ErrUnsupported under ReplaceOne.
// Source: Mironov, Talwar, Zhang 2019, arXiv:1908.10530, Section 3.
func (s SubsampledGaussian) RDP(adj Adjacency) (RDPCurve, error) {
	if err := s.Validate(); err != nil {
		return RDPCurve{}, err
	}
	if adj != AddRemove {
		return RDPCurve{}, fmt.Errorf("%w: the Rényi curve of a subsampled Gaussian is known under add-remove only", ErrUnsupported)
	}
	_, mu := s.gaussian().MuBounds(AddRemove)
	q := s.Rate
	var table onceTable
	moment := func(n int) float64 {
		return table.get(n, func() float64 { return logBinomialMoment(n, q, mu) })
	}
	return RDPCurve{Adj: adj, Epsilon: func(alpha float64) float64 {
		switch {
		case q == 0 || mu == 0:
			return 0
		case alpha >= maxIntegerOrder || q == 1:
			return math.Nextafter(0.5*alpha*mu*mu, math.Inf(1)) * (1 + 4e-16)
		}
		n := math.Floor(alpha)
		share := alpha - n
		v := (1-share)*moment(int(n)) + share*moment(int(n)+1)
		if alpha == 1 {
			return moment(2)
		}
		return v / (alpha - 1) * (1 + 1e-15)
	}}, nil
}

// logBinomialMoment returns ln E_Q (p/q)ⁿ of the remove direction, rounded up.
func logBinomialMoment(n int, q, mu float64) float64 {
	if n <= 1 {
		return 0
	}
	lq, l1 := math.Log(q), math.Log1p(-q)
	sum := math.Inf(-1)
	lgN, _ := math.Lgamma(float64(n) + 1)
	for k := 0; k <= n; k++ {
		fk := float64(k)
		a, _ := math.Lgamma(fk + 1)
		b, _ := math.Lgamma(float64(n-k) + 1)
		sum = logAddExp(sum, lgN-a-b+float64(n-k)*l1+fk*lq+0.5*fk*(fk-1)*mu*mu)
	}
	return math.Max(0, sum) + 1e-13*(1+math.Abs(sum))
}
