package wishart

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/internal/elementary"
)

// Wishart is the law of W = GGᵀ, G a D × M matrix of independent N(0, 1) entries.
type Wishart struct {
	// D ≥ 1 is the dimension d.
	D int
	// M > D is the hidden dimension m, the degrees of freedom.
	M int
}

// Validate returns a *privacy.ParamError unless 1 ≤ D < M.
func (w Wishart) Validate() error {
	return cmp.Or(privacy.Within(w.D >= 1, "D", w.D, "a dimension of at least 1"),
		privacy.Within(w.M > w.D, "M", w.M,
			fmt.Sprintf("more than d = %d: with m ≤ d the density that the proof divides by does not exist, "+
				"and with m < d W is singular", w.D)))
}

// P returns p = (m − d + 1)/2.
func (w Wishart) P() float64 { return 0.5 * float64(w.M-w.D+1) }

// freedom returns 2p = m − d + 1: 1/(uᵀW⁻¹u) is χ² of that many degrees of freedom for every fixed unit vector u.
func (w Wishart) freedom() float64 { return float64(w.M - w.D + 1) }

// LogD returns ln D of Lemma D.2,
//
//	D = d·Γ(3/2)Γ((m+1)/2) / (Γ(d/2+1)Γ((m−d+1)/2)Γ((m−d+2)/2)),
//
// with an absolute error of at most dSlack.
func (w Wishart) LogD() float64 {
	d, m := float64(w.D), float64(w.M)
	return math.Log(d) + lgamma(1.5) + lgamma((m+1)/2) - lgamma(d/2+1) - lgamma((m-d+1)/2) - lgamma((m-d+2)/2)
}

func (w Wishart) dSlack() float64 {
	d, m := float64(w.D), float64(w.M)
	return logSlack(lgamma((m+1)/2), lgamma(d/2+1), lgamma((m-d+1)/2), lgamma((m-d+2)/2), m)
}

// LogSmallestBelow returns an upper bound on ln P(λ_min(W) ≤ s): Lemma D.2, ln(D·γ(s/2, p)), at most 0, rounded up.
func (w Wishart) LogSmallestBelow(s float64) float64 {
	log, _ := logLowerGamma(s/2, w.P())
	return math.Min(0, w.LogD()+log+w.dSlack()+logSlack(finite(log)))
}

// logGammaBetween returns ln ∫ t^{p−1}e^{−t}dt over [a, a + width], 0 ≤ a, 0 < width, without the cancellation of a
// difference where the interval is short.
func logGammaBetween(a, width, p float64) float64 {
	lb, _ := logLowerGamma(a+width, p)
	la, _ := logLowerGamma(a, p)
	if la < lb-0.7 {
		return lb + math.Log1p(-math.Exp(la-lb))
	}
	// At most half of γ(a + width) lies in the interval: the integrand, relative to its value at a, varies by few
	// powers of e there and 40 nodes are exact to rounding.
	f := func(u float64) float64 { return math.Exp((p-1)*math.Log1p(u/a) - u) }
	return (p-1)*math.Log(a) - a + math.Log(quad.Fixed(f, 0, width, 40, quad.Legendre{}, 1))
}

// finite returns x, or 0 if it is infinite.
func finite(x float64) float64 {
	if math.IsInf(x, 0) {
		return 0
	}
	return x
}

// LogLargestAbove returns an upper bound on ln P(λ_max(W) ≥ t): Lemma D.1, ln 2 − (√t − √m − √d)²/2, where √t > √m +
// √d, and 0 elsewhere. The lemma is printed without that condition and is false without it.
func (w Wishart) LogLargestAbove(t float64) float64 {
	u := math.Sqrt(t) - math.Sqrt(float64(w.M)) - math.Sqrt(float64(w.D))
	if !(u > 0) {
		return 0
	}
	return math.Min(0, (math.Ln2-0.5*u*u)*(1-1e-14))
}

// Constants are those of the random matrix assumption (2.3), by Lemma D.4.
// Proof: docs/theory/quadratic.md#qop-lemD.4.
type Constants struct {
	// Alpha: P(λ_min ≥ α) ≥ 1 − δ₃. Rounded down.
	Alpha float64
	// Alpha1: P(α ≤ λ_min ≤ α + α₁ | λ_min ≥ α) ≤ δ₁. Rounded down.
	Alpha1 float64
	// Beta: P(λ_max ≤ β | λ_min ≥ α) ≥ 1 − δ₄. Rounded up, +Inf at δ₄ = 0.
	Beta float64
	// Mu: EW = μI.
	Mu float64
	// P is p = (m − d + 1)/2.
	P float64
}

// F returns f(ρ) = ((p − 1)/α + 1/2)·ρ, the bound on the logarithm of the ratio of densities for each unit of ‖U‖
// (Lemma D.4).
func (c Constants) F(rank int) float64 { return ((c.P-1)/c.Alpha + 0.5) * float64(rank) }

// Constants returns α, α₁, β, f and μ of Lemma D.4. δ₁ and δ₃ are positive; δ₄ may be zero, and β is then infinite,
// which an exact anchor allows.
//
// Errors: *privacy.ParamError.
func (w Wishart) Constants(delta1, delta3, delta4 float64) (Constants, error) {
	if err := cmp.Or(w.Validate(), privacy.Fraction("δ₁", delta1), privacy.Fraction("δ₃", delta3),
		privacy.Within(delta4 >= 0 && delta4 < 1, "δ₄", delta4, "a number in [0, 1)")); err != nil {
		return Constants{}, err
	}
	c := Constants{Alpha: w.SmallestQuantile(delta3), Mu: float64(w.M), P: w.P(), Beta: w.largest(delta3, delta4)}
	c.Alpha1 = w.gap(c.Alpha, delta1*(1-delta3))
	return c, nil
}

// largest returns β of Lemma D.4.
func (w Wishart) largest(delta3, delta4 float64) float64 {
	if delta4 == 0 {
		return math.Inf(1)
	}
	b := math.Sqrt(2*math.Log(2/(delta4*(1-delta3)))) + math.Sqrt(float64(w.M)) + math.Sqrt(float64(w.D))
	return b * b * (1 + 1e-14)
}

// SmallestQuantile returns α with P(λ_min(W) < α) ≤ δ, by Lemma D.2, rounded down: α = 2γ⁻¹(δ/D, p).
func (w Wishart) SmallestQuantile(delta float64) float64 {
	log := elementary.Log(delta)
	return 2 * inverseLowerGammaDown(log-w.LogD()-w.dSlack()-logSlack(log), w.P())
}

// gap returns the largest α₁, rounded down, with D(γ((α+α₁)/2) − γ(α/2)) ≤ mass.
func (w Wishart) gap(alpha, mass float64) float64 {
	target := math.Log(mass) - w.LogD() - w.dSlack()
	// The difference of the two inverses is wrong by cancellation where it is small, and a good start. ln ∫ is concave
	// in the length of the interval, so that Newton's method gets below the root in one step and stays there.
	below, _ := logLowerGamma(alpha/2, w.P())
	top := math.Max(below, target) + math.Log1p(math.Exp(-math.Abs(below-target)))
	g := 2*inverseLowerGamma(top, w.P()) - alpha
	if math.IsInf(g, 1) {
		return g
	}
	if g = math.Max(g, 1e-13*alpha); g == 0 {
		return 0 // below the range of float64
	}
	for range 60 {
		b := (alpha + g) / 2
		log := logGammaBetween(alpha/2, g/2, w.P())
		slope := 0.5 * math.Exp((w.P()-1)*math.Log(b)-b-log)
		step := (target - log) / slope
		g = math.Max(g+step, g/16)
		if math.Abs(step) < 1e-14*g {
			break
		}
	}
	g *= 1 - 1e-12
	for logGammaBetween(alpha/2, g/2, w.P()) > target {
		g *= 1 - 1e-9
	}
	return g
}
