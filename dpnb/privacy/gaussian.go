package privacy

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/logspace"
	"github.com/dpnb/notebooks/dpnb/internal/normal"
)

// logDeltaGaussian returns ln δ of the μ-GDP Gaussian pair,
//
//	δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) = φ(x)[R(x) − R(x + μ)],  x = ε/μ − μ/2,
//
// R Mills' ratio, for every real ε and μ ≥ 0. The two directions agree, hence for ε < 0: δ(ε) = 1 − e^ε + e^ε δ(−ε).
// Error at most gaussianSlack(result).
// Source: Balle, Wang 2018, arXiv:1805.06530. Proof: docs/theory/gaussian.md.
func logDeltaGaussian(eps, mu float64) float64 {
	switch {
	case math.IsInf(eps, 1):
		return math.Inf(-1)
	case math.IsInf(eps, -1):
		return 0
	case eps < 0:
		return logspace.Add(math.Log(-math.Expm1(eps)), eps+logDeltaGaussian(-eps, mu))
	case mu == 0:
		return math.Inf(-1) + eps // NaN where ε is none: that bounds nothing
	case math.IsInf(mu, 1):
		return 0
	}
	if mu < tinyMu && eps < 1 {
		// δ(ε; μ) = μ·f(ε/μ) to 60 digits: the same at a scale with room below it.
		return logDeltaGaussian(eps*0x1p400, mu*0x1p400) - 400*math.Ln2
	}
	// x in two words, so that the rounding of ε/μ does not enter the square.
	m, h := eps/mu, mu/2
	if math.IsInf(m, 1) {
		return -math.MaxFloat64 // which ln δ is below, and not −Inf
	}
	mLow := math.FMA(-m, mu, eps) / mu
	x := m - h
	xLow := ((m - (x + (m - x))) + ((m - x) - h)) + mLow
	if x < -4 {
		// δ is near one: take the small complement 1 − δ = Φ̄(−x) + φ(x)R(y).
		return math.Log1p(-(normal.Survival(-x) + normal.PDF(x)*normal.Mills(m+h)))
	}
	half := 0.5 * x
	sq := half * x
	if sq > math.MaxFloat64*(1-1e-15) {
		// ln δ is below the float64 range; widening it downwards gives −Inf.
		return -math.MaxFloat64
	}
	sqLow := math.FMA(half, x, -sq)
	return -sq + (normal.LogMillsDiff(m, h) - normal.LogSqrt2Pi - sqLow - x*xLow)
}

// tinyMu is where μ is scaled up, so that neither halves nor residuals of divisions are subnormal.
const tinyMu = 0x1p-600

// gaussianSlack bounds the rounding error of a logarithm l from logDeltaGaussian: the relative error of the Mills
// difference, and a few units in the last place of l itself.
func gaussianSlack(l float64) float64 { return 1e-13 + 8e-16*math.Abs(l) }

// roundUp and roundDown widen the logarithm of a probability by slack.
func roundUp(l, slack float64) float64 {
	if math.IsInf(l, 0) || math.IsNaN(l) {
		return l
	}
	return math.Min(0, l+slack)
}

func roundDown(l, slack float64) float64 {
	if math.IsInf(l, 0) || math.IsNaN(l) {
		return l
	}
	return l - slack
}

// nudge moves a finite x by a rounding error's worth towards sign·∞.
func nudge(x, sign float64) float64 {
	if math.IsInf(x, 0) {
		return x
	}
	return x + sign*2.3e-16*math.Abs(x)
}

// gaussianProfile is the exact profile of a μ-GDP mechanism, μ known between muLow and muHigh (they differ by the
// rounding of what μ was computed from).
type gaussianProfile struct {
	symmetric
	muLow, muHigh float64
}

// GaussianProfile returns the profile of a μ-GDP mechanism, that is of the Gaussian mechanism with μ = sensitivity/σ,
// the sensitivity being that of adj.
//
// Bound: upper and lower, relative distance 2e-13 + 1.6e-15·|ln δ|.
// Panics: if mu is negative or NaN.
// Source: Balle, Wang 2018, arXiv:1805.06530; Dong, Roth, Su 2022, arXiv:1905.02383.
// Proof: docs/theory/gaussian.md.
func GaussianProfile(mu float64, adj Adjacency) LowerProfile {
	if !(mu >= 0) {
		panic("privacy: GaussianProfile: mu must be a number ≥ 0")
	}
	return gaussianProfile{symmetric(adj), mu, mu}
}

// GaussianProfileBetween returns the profile of a μ-GDP mechanism whose μ is known to lie in [low, high]: the upper
// bound is that of high, the lower that of low.
//
// Panics: unless 0 ≤ low ≤ high.
func GaussianProfileBetween(low, high float64, adj Adjacency) LowerProfile {
	if !(low >= 0 && low <= high) {
		panic("privacy: GaussianProfileBetween: want 0 ≤ low ≤ high")
	}
	return gaussianProfile{symmetric(adj), low, high}
}

// GaussianMu returns the bounds of μ if p is the profile of a Gaussian mechanism, which composes in closed form: μ² =
// Σμ_i².
func GaussianMu(p Profile) (low, high float64, ok bool) {
	g, ok := p.(gaussianProfile)
	return g.muLow, g.muHigh, ok
}

func (p gaussianProfile) LogDeltaUpper(_ Direction, eps float64) float64 {
	l := logDeltaGaussian(eps, p.muHigh)
	return roundUp(l, gaussianSlack(l))
}

func (p gaussianProfile) LogDeltaLower(_ Direction, eps float64) float64 {
	l := logDeltaGaussian(eps, p.muLow)
	return roundDown(l, gaussianSlack(l))
}

// Gaussian is the event of adding N(0, σ²I) to a value whose ℓ₂ sensitivity under add/remove-one is Sensitivity: one
// record moves the value by at most that. Under replace-one two records do, and μ doubles.
type Gaussian struct {
	// Sigma is the standard deviation σ of each coordinate, positive and finite.
	Sigma float64
	// Sensitivity is the add/remove-one ℓ₂ sensitivity, non-negative and finite.
	Sensitivity float64
}

// Validate returns a *ParamError if a field is out of range.
func (g Gaussian) Validate() error {
	return cmp.Or(Positive("Sigma", g.Sigma), NotNegative("Sensitivity", g.Sensitivity))
}

// String implements Event.
func (g Gaussian) String() string {
	return fmt.Sprintf("Gaussian(σ=%g, Δ₂=%g)", g.Sigma, g.Sensitivity)
}

// MuBounds returns two neighbouring floats around μ under adj: Sensitivity/σ, twice that under ReplaceOne.
func (g Gaussian) MuBounds(adj Adjacency) (low, high float64) {
	mu := g.Sensitivity / g.Sigma
	if adj == ReplaceOne {
		mu *= 2
	}
	if mu == 0 && g.Sensitivity == 0 {
		return 0, 0
	}
	return math.Max(0, math.Nextafter(mu, 0)), math.Nextafter(mu, math.Inf(1))
}

// Profile implements Event.
//
// Errors: *ParamError if a field or adj is out of range.
func (g Gaussian) Profile(adj Adjacency) (Profile, error) {
	if err := cmp.Or(g.Validate(), adj.Validate()); err != nil {
		return nil, err
	}
	low, high := g.MuBounds(adj)
	return gaussianProfile{symmetric(adj), low, high}, nil
}

// GaussianSigma returns the smallest σ, rounded up, with which the Gaussian mechanism of sensitivity 1 satisfies (ε,
// δ); multiply by the sensitivity of the adjacency that is wanted.
//
// Bound: the returned σ is proved to satisfy (ε, δ); relative distance to the smallest below 1e-12 for δ ≥ 1e-300.
// Errors: *ParamError unless ε ≥ 0 is finite and 0 < δ < 1.
// Source: Balle, Wang 2018, arXiv:1805.06530.
func GaussianSigma(eps, delta float64) (float64, error) {
	if err := cmp.Or(NotNegative("Epsilon", eps), CheckGaussianDelta(delta)); err != nil {
		return 0, err
	}
	want := logDown(delta)
	return scales(0).Find(func(sigma float64) (bool, error) {
		l := logDeltaGaussian(eps, math.Nextafter(1/sigma, math.Inf(1)))
		return l+gaussianSlack(l) <= want, nil
	})
}
