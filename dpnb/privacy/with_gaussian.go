package privacy

import (
	"cmp"
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/internal/normal"
)

// WithGaussian returns the profile of running what of describes and then a μ-GDP Gaussian mechanism, as in objective
// perturbation with the output noise that hides how far off the approximate minimiser is:
//
//	δ(ε) ≤ E δ_of(ε − G),  G ~ N(μ²/2, μ²).
//
// δ_of(ε − g) is convex in e^{−g}, being a supremum of hockey-stick divergences, so that on a cell of G its mean is at
// most the chord's at the mean of e^{−g}, which is known in closed form. Any cut into cells is valid; this one is
// within two percent of the mean for μ ≤ spread/10, spread being about the standard deviation of the privacy loss of
// of. It decides how many cells there are, nothing else.
//
// Bound: upper, in either direction, if of's profile is convex in e^ε, as exact ones and suprema of exact ones are.
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

// QuickProfile is a Profile that has an upper bound on the larger of the two directions for much less.
type QuickProfile interface {
	Profile
	// QuickLogDeltaUpper returns an upper bound on ln δ(ε) in both directions, about a percent of δ above what
	// LogDeltaUpper says.
	QuickLogDeltaUpper(eps float64) float64
}

// QuickLogDeltaUpper returns that of a profile, or LogDeltaUpper where it has none.
func QuickLogDeltaUpper(p Profile, eps float64) float64 {
	if q, ok := p.(QuickProfile); ok {
		return q.QuickLogDeltaUpper(eps)
	}
	return LogDeltaUpper(p, eps)
}

func (p withGaussian) Adjacency() Adjacency { return p.of.Adjacency() }

func (p withGaussian) LogDeltaUpper(d Direction, eps float64) float64 {
	if math.IsInf(eps, 0) || math.IsNaN(eps) {
		return p.of.LogDeltaUpper(d, eps)
	}
	ask := func(z float64, of func(Direction, float64) float64) float64 { return of(d, p.less(eps, z)) }
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
	c := p.chords(p.even(math.Max(-600, centre)))
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
	up := math.Min(0, math.Log(sum)+1e-11)
	if _, ok := p.of.(QuickProfile); ok {
		up = math.Min(up, p.QuickLogDeltaUpper(eps))
	}
	return up
}

// QuickLogDeltaUpper implements QuickProfile: the same with fewer nodes, which lie where the mean has most of its mass,
// and with quick values. LogDeltaUpper is at most that, so that what is calibrated by it is charged no more.
func (p withGaussian) QuickLogDeltaUpper(eps float64) float64 {
	if math.IsInf(eps, 0) || math.IsNaN(eps) {
		return LogDeltaUpper(p.of, eps)
	}
	at := func(z float64) float64 { return QuickLogDeltaUpper(p.of, p.less(eps, z)) }
	centre := at(0)
	if centre == 0 {
		return 0
	}
	c := p.chords(p.around(math.Max(-600, centre), at))
	sum := c.beyond
	for i, w := range c.weight {
		sum += w * math.Exp(at(c.node[i]))
	}
	return math.Min(0, math.Log(sum)+1e-11)
}

// less returns the ε that is left for of where the loss of the Gaussian part is z standard deviations from its mean,
// rounded towards the larger δ.
func (p withGaussian) less(eps, z float64) float64 {
	shift := 0.5*p.mu*p.mu + p.mu*z
	return eps - shift - 4e-16*(math.Abs(eps)+math.Abs(shift)+p.mu*p.mu)
}

// chords bounds a mean over G by values at nodes, in standard deviations from its mean: E δ_of(ε − G) ≤ Σ
// weightᵢ·δ_of(ε − G at nodeᵢ) + beyond.
type chords struct {
	node, weight []float64
	beyond       float64
}

// even cuts the law of G for a δ_of whose logarithm is about centre: returns where. Beyond the last nodes lies less
// than a thousandth of δ; between them a chord is off by a percent of δ at most.
func (p withGaussian) even(centre float64) []float64 {
	top := math.Sqrt(2 * (7 - centre))
	slope := p.mu * math.Sqrt(2*(1-centre)) / p.spread
	half := int(math.Max(1, math.Min(100, math.Ceil(top*slope/0.3))))
	width := top / float64(half)
	nodes := make([]float64, 2*half+1)
	for i := range nodes {
		nodes[i] = width * float64(i-half)
	}
	return nodes
}

// around cuts the law of G as the mean of δ_of wants it whose logarithm is at(z), about l − sz − … : with φ the density
// of N(0, 1), φ(z)δ_of is about in proportion to a normal density of mean m and standard deviation w, and there δ_of is
// about e^{mz}. Chords between n nodes that lie as the quantiles of N(m, 3w²), which is best, are off by (π√3/2)(mw/n)²
// of the mean.
func (p withGaussian) around(centre float64, at func(z float64) float64) []float64 {
	const off = 0.008
	bend := p.mu / p.spread
	bend *= bend
	w := 1 / math.Sqrt(1+bend)
	// The slope at 0 as it is for a Gaussian mechanism, and then as it is seen from there to the mean.
	slope := math.Sqrt(bend * 2 * (1 - centre))
	m := slope * w * w
	m = math.Max(1e-3*m, math.Min(slope, (at(m)-centre)/m+0.5*bend*m)*w*w)
	n := int(math.Max(3, math.Min(200, math.Ceil(math.Sqrt(math.Pi*math.Sqrt(3)/2/off)*m*w))))
	// Beyond the quantiles a chord must not reach from where φ is large to where δ_of is.
	widest := math.Max(0.6*w, 1.2/m)
	nodes := []float64{math.Min(m-4*w, -1)}
	upTo := func(z float64) {
		last := nodes[len(nodes)-1]
		if pieces := math.Ceil((z - last) / widest); z > last+1e-3 {
			for k := 1.0; k <= pieces; k++ {
				nodes = append(nodes, last+(z-last)*k/pieces)
			}
		}
	}
	for i := range n {
		upTo(m + w*math.Sqrt(6)*math.Erfinv((2*float64(i)+1)/float64(n)-1))
	}
	upTo(math.Max(nodes[len(nodes)-1]+0.1, math.Sqrt(2*(7-centre))))
	return nodes
}

// chords has its nodes at the given ones, which rise.
func (p withGaussian) chords(nodes []float64) chords {
	last := len(nodes) - 1
	c := chords{node: nodes, weight: make([]float64, len(nodes)),
		beyond: normal.Mass(nodes[last], math.Inf(1)), // there δ_of ≤ 1
	}
	c.weight[0] = normal.Mass(math.Inf(-1), nodes[0])
	for i := range last {
		z0, z1 := nodes[i], nodes[i+1]
		mass := normal.Mass(z0, z1)
		// e^{−G} relative to its value at z0: its mean on the cell and at z1.
		mean := normal.Mass(z0+p.mu, z1+p.mu) / mass * math.Exp(p.mu*(0.5*p.mu+z0))
		end := -math.Expm1(-p.mu * (z1 - z0))
		// Rounding of an argument is one of a tail by z² times as much. More weight at z1 is an upper bound, as δ_of
		// does not fall as its ε does.
		share := math.Max(0, 1-mean)/end + (1e-13+4e-15*math.Max(z0*z0, z1*z1))/end
		if !(share < 1) {
			share = 1
		}
		c.weight[i] += mass * (1 - share)
		c.weight[i+1] += mass * share
	}
	return c
}
