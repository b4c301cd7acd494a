package objpert

import (
	"cmp"
	"math"
	"slices"

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
	ask := func(z float64, of func(privacy.Direction, float64) float64) float64 {
		shift := 0.5*p.mu*p.mu + p.mu*z
		return of(d, eps-shift-4e-16*(math.Abs(eps)+math.Abs(shift)+p.mu*p.mu))
	}
	rough := p.objective.LogDeltaUpper
	if r, ok := p.objective.(roughProfile); ok {
		rough = r.RoughLogDeltaUpper
	}
	centre := ask(0, rough)
	if centre > -0.1 {
		centre = ask(0, p.objective.LogDeltaUpper)
	}
	if centre == 0 {
		return 0
	}
	c := p.cells(math.Max(-600, centre))
	// Nodes that together have a fiftieth of δ need no more than a rough value.
	value := make([]float64, len(c.node))
	order := make([]int, len(c.node))
	for i, z := range c.node {
		value[i] = math.Exp(ask(z, rough))
		order[i] = i
	}
	share := func(i int) float64 { return c.weight[i] * value[i] }
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(share(i), share(j)) })
	total := 0.0
	for _, i := range order {
		total += share(i)
	}
	sum := 0.0
	for _, i := range order {
		if sum += share(i); sum > 0.02*total {
			value[i] = math.Min(value[i], math.Exp(ask(c.node[i], p.objective.LogDeltaUpper)))
		}
	}
	sum = c.beyond
	for i, w := range c.weight {
		sum += w * value[i]
	}
	return math.Min(0, math.Log(sum)+1e-11)
}

// roughProfile is a profile that has upper bounds for less, too.
type roughProfile interface {
	RoughLogDeltaUpper(d privacy.Direction, eps float64) float64
}

// chords bounds a mean over G by values at nodes, in standard deviations from its
// mean: E δ_obj(ε − G) ≤ Σ weightᵢ·δ_obj(ε − G at nodeᵢ) + beyond.
type chords struct {
	node, weight []float64
	beyond       float64
}

// cells cuts the law of G for a δ_obj whose logarithm is about centre. Beyond the
// last nodes lies less than a thousandth of δ; between them a chord is off by a
// percent of δ at most.
func (p withOutputNoise) cells(centre float64) chords {
	top := math.Sqrt(2 * (7 - centre))
	slope := p.mu * math.Sqrt(2*(1-centre)) / p.a
	half := int(math.Max(1, math.Min(100, math.Ceil(top*slope/0.3))))
	width := top / float64(half)
	c := chords{
		node: make([]float64, 2*half+1), weight: make([]float64, 2*half+1),
		beyond: normalMass(top, math.Inf(1)), // there δ_obj ≤ 1
	}
	for i := range c.node {
		c.node[i] = width * float64(i-half)
	}
	c.weight[0] = normalMass(math.Inf(-1), -top)
	for i := 0; i+1 < len(c.node); i++ {
		z0, z1 := c.node[i], c.node[i+1]
		mass := normalMass(z0, z1)
		// e^{−G} relative to its value at z0: its mean on the cell and at z1.
		mean := normalMass(z0+p.mu, z1+p.mu) / mass * math.Exp(p.mu*(0.5*p.mu+z0))
		end := -math.Expm1(-p.mu * (z1 - z0))
		// Rounding of an argument is one of a tail by z² times as much. More
		// weight at z1 is an upper bound, as δ_obj does not fall as its ε does.
		share := math.Max(0, 1-mean)/end + (1e-13+4e-15*math.Max(z0*z0, z1*z1))/end
		if !(share < 1) {
			share = 1
		}
		c.weight[i] += mass * (1 - share)
		c.weight[i+1] += mass * share
	}
	return c
}

// normalMass returns Φ(b) − Φ(a), a ≤ b, without cancellation in the tails.
func normalMass(a, b float64) float64 {
	if a+b > 0 {
		a, b = -b, -a
	}
	return 0.5 * (math.Erfc(-b/math.Sqrt2) - math.Erfc(-a/math.Sqrt2))
}
