package privacy

import (
	"cmp"
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/internal/normal"
)

// WithGaussian returns the profile of running what of describes and then a μ-GDP
// Gaussian mechanism, as in objective perturbation with the output noise that hides
// how far off the approximate minimiser is:
//
//	δ(ε) ≤ E δ_of(ε − G),  G ~ N(μ²/2, μ²).
//
// δ_of(ε − g) is convex in e^{−g}, being a supremum of hockey-stick divergences, so
// that on a cell of G its mean is at most the chord's at the mean of e^{−g}, which is
// known in closed form. Any cut into cells is valid; this one is within two percent
// of the mean for μ ≤ spread/10, spread being about the standard deviation of the
// privacy loss of of. It decides how many cells there are, nothing else.
//
// Bound: upper, in either direction, if of's profile is convex in e^ε, as exact ones
// and suprema of exact ones are.
// Proof: docs/theory/clipping.md, section 5.
func WithGaussian(of Profile, mu, spread float64) Profile {
	return withGaussian{of: of, mu: mu, spread: spread}
}

type withGaussian struct {
	of         Profile
	mu, spread float64
}

// RoughProfile is a Profile that has upper bounds for less, too.
type RoughProfile interface {
	Profile
	// RoughLogDeltaUpper is LogDeltaUpper for less time, and some percent of δ more.
	RoughLogDeltaUpper(d Direction, eps float64) float64
}

// Adjacency implements Profile.
func (p withGaussian) Adjacency() Adjacency { return p.of.Adjacency() }

// LogDeltaUpper implements Profile.
func (p withGaussian) LogDeltaUpper(d Direction, eps float64) float64 {
	if math.IsInf(eps, 0) || math.IsNaN(eps) {
		return p.of.LogDeltaUpper(d, eps)
	}
	// What is known of δ_of at the loss of the Gaussian part being z standard
	// deviations from its mean, rounded towards the larger δ.
	ask := func(z float64, of func(Direction, float64) float64) float64 {
		shift := 0.5*p.mu*p.mu + p.mu*z
		return of(d, eps-shift-4e-16*(math.Abs(eps)+math.Abs(shift)+p.mu*p.mu))
	}
	rough := p.of.LogDeltaUpper
	if r, ok := p.of.(RoughProfile); ok {
		rough = r.RoughLogDeltaUpper
	}
	centre := ask(0, rough)
	if centre > -0.1 {
		centre = ask(0, p.of.LogDeltaUpper)
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
			value[i] = math.Min(value[i], math.Exp(ask(c.node[i], p.of.LogDeltaUpper)))
		}
	}
	sum = c.beyond
	for i, w := range c.weight {
		sum += w * value[i]
	}
	return math.Min(0, math.Log(sum)+1e-11)
}

// chords bounds a mean over G by values at nodes, in standard deviations from its
// mean: E δ_of(ε − G) ≤ Σ weightᵢ·δ_of(ε − G at nodeᵢ) + beyond.
type chords struct {
	node, weight []float64
	beyond       float64
}

// cells cuts the law of G for a δ_of whose logarithm is about centre. Beyond the
// last nodes lies less than a thousandth of δ; between them a chord is off by a
// percent of δ at most.
func (p withGaussian) cells(centre float64) chords {
	top := math.Sqrt(2 * (7 - centre))
	slope := p.mu * math.Sqrt(2*(1-centre)) / p.spread
	half := int(math.Max(1, math.Min(100, math.Ceil(top*slope/0.3))))
	width := top / float64(half)
	c := chords{
		node: make([]float64, 2*half+1), weight: make([]float64, 2*half+1),
		beyond: normal.Mass(top, math.Inf(1)), // there δ_of ≤ 1
	}
	for i := range c.node {
		c.node[i] = width * float64(i-half)
	}
	c.weight[0] = normal.Mass(math.Inf(-1), -top)
	for i := 0; i+1 < len(c.node); i++ {
		z0, z1 := c.node[i], c.node[i+1]
		mass := normal.Mass(z0, z1)
		// e^{−G} relative to its value at z0: its mean on the cell and at z1.
		mean := normal.Mass(z0+p.mu, z1+p.mu) / mass * math.Exp(p.mu*(0.5*p.mu+z0))
		end := -math.Expm1(-p.mu * (z1 - z0))
		// Rounding of an argument is one of a tail by z² times as much. More
		// weight at z1 is an upper bound, as δ_of does not fall as its ε does.
		share := math.Max(0, 1-mean)/end + (1e-13+4e-15*math.Max(z0*z0, z1*z1))/end
		if !(share < 1) {
			share = 1
		}
		c.weight[i] += mass * (1 - share)
		c.weight[i+1] += mass * share
	}
	return c
}
