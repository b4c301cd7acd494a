package mechanism

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// withOutputNoise is the profile of objective perturbation followed by the
// Gaussian mechanism that hides how far off the approximate minimiser is:
//
//	δ(ε) ≤ E δ_obj(ε − G),  G ~ N(μ²/2, μ²).
//
// δ_obj(ε − g) is convex in e^{−g}, being a supremum of hockey-stick
// divergences, so that on a cell of G its mean is at most the chord's at the
// mean of e^{−g}, which is known in closed form. Any cut into cells is valid; this
// one is within two percent of the mean for μ ≤ a/10.
//
// Proof: docs/theory/clipping.md, section 5.
type withOutputNoise struct {
	objective privacy.Profile
	// mu is the output noise's sensitivity over its scale.
	mu float64
	// a is L/σ. It decides how many cells there are, nothing else.
	a float64
}

// Adjacency of the objective's part.
func (p withOutputNoise) Adjacency() privacy.Adjacency { return p.objective.Adjacency() }

// LogDeltaUpper returns an upper bound on ln δ(ε).
func (p withOutputNoise) LogDeltaUpper(d privacy.Direction, eps float64) float64 {
	if math.IsInf(eps, 0) || math.IsNaN(eps) {
		return p.objective.LogDeltaUpper(d, eps)
	}
	// What is known of δ_obj at the loss of the output noise being z standard
	// deviations from its mean, rounded towards the larger δ.
	at := func(z float64) float64 {
		shift := 0.5*p.mu*p.mu + p.mu*z
		return p.objective.LogDeltaUpper(d, eps-shift-4e-16*(math.Abs(eps)+math.Abs(shift)+p.mu*p.mu))
	}
	centre := math.Max(-600, at(0))
	if centre == 0 {
		return 0
	}
	// Beyond ±top lies less than a thousandth of δ; between, the cells are
	// such that a chord is off by a percent of δ at most.
	top := math.Sqrt(2 * (7 - centre))
	slope := p.mu * math.Sqrt(2*(1-centre)) / p.a
	half := int(math.Max(1, math.Min(100, math.Ceil(top*slope/0.3))))
	width := top / float64(half)
	sum := normalMass(top, math.Inf(1)) // there δ_obj ≤ 1
	from := math.Exp(at(-top))
	sum += normalMass(math.Inf(-1), -top) * from
	for i := -half; i < half; i++ {
		z0, z1 := width*float64(i), width*float64(i+1)
		to := math.Exp(at(z1))
		mass := normalMass(z0, z1)
		// e^{−G} relative to its value at z0: its mean on the cell and at z1.
		mean := normalMass(z0+p.mu, z1+p.mu) / mass * math.Exp(p.mu*(0.5*p.mu+z0))
		end := -math.Expm1(-p.mu * (z1 - z0))
		// Rounding of an argument is one of a tail by z² times as much.
		share := math.Max(0, 1-mean)/end + (1e-13+4e-15*math.Max(z0*z0, z1*z1))/end
		if !(share < 1) {
			share = 1
		}
		to = math.Max(from, to) // δ_obj does not fall as its ε does
		sum += mass * (from + share*(to-from))
		from = to
	}
	return math.Min(0, math.Log(sum)+1e-11)
}

// normalMass returns Φ(b) − Φ(a), a ≤ b, without cancellation in the tails.
func normalMass(a, b float64) float64 {
	if a+b > 0 {
		a, b = -b, -a
	}
	return 0.5 * (math.Erfc(-b/math.Sqrt2) - math.Erfc(-a/math.Sqrt2))
}
