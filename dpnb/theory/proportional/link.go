package proportional

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/quadrature"
)

// Link says how labels arise: P(y = +1 | true score t).
type Link interface {
	// Prob returns P(y = +1 | t), which rises with t.
	Prob(t float64) float64
	// Slope returns the derivative of Prob.
	Slope(t float64) float64
	// Width is how near to the real line Prob has a singularity; it sets the step of the quadrature. +Inf for entire
	// functions.
	Width() float64
	String() string
}

// LogisticLink is P = 1/(1 + e^{−t}).
type LogisticLink struct{}

// Prob implements Link.
func (LogisticLink) Prob(t float64) float64 { return 1 / (1 + math.Exp(-t)) }

// Slope implements Link.
func (LogisticLink) Slope(t float64) float64 {
	e := math.Exp(-math.Abs(t))
	return e / ((1 + e) * (1 + e))
}

// Width returns π.
func (LogisticLink) Width() float64 { return math.Pi }

// String returns "logistic".
func (LogisticLink) String() string { return "logistic" }

// posterior averages a link over the true score t⋆ given the score s of a fit that did not see the record: t⋆ | s ~
// N(slope·s, sd²).
type posterior struct {
	link      Link
	slope, sd float64
	z, w      []float64 // nodes of N(0, 1)
	e         []float64 // e^{−sd·z} for the logistic link
}

func newPosterior(link Link, kappa, alpha, sigma float64) posterior {
	total := math.Hypot(alpha*kappa, sigma)
	p := posterior{link: link}
	if total > 0 {
		p.slope, p.sd = alpha*kappa*kappa/(total*total), kappa*sigma/total
	} else {
		p.sd = kappa
	}
	p.z, p.w = quadrature.Normal(gridStep(link, p.sd))
	if _, ok := link.(LogisticLink); ok {
		p.e = make([]float64, len(p.z))
		for i, z := range p.z {
			p.e[i] = math.Exp(-p.sd * z)
		}
	}
	return p
}

func gridStep(link Link, sd float64) float64 {
	if sd == 0 {
		return normalRange // three nodes, all at one point
	}
	return math.Min(0.6, 0.17*link.Width()/sd)
}

// at returns E[P(t⋆) | s] and E[P′(t⋆) | s].
func (p *posterior) at(s float64) (prob, slope float64) {
	m := p.slope * s
	if p.sd == 0 {
		return p.link.Prob(m), p.link.Slope(m)
	}
	if p.e != nil {
		em := math.Exp(-m)
		for i, e := range p.e {
			g := 1 / (1 + em*e)
			prob += p.w[i] * g
			slope += p.w[i] * g * (1 - g)
		}
		return prob, slope
	}
	for i, z := range p.z {
		t := m + p.sd*z
		prob += p.w[i] * p.link.Prob(t)
		slope += p.w[i] * p.link.Slope(t)
	}
	return prob, slope
}

// ofLabel returns E[P_y(t⋆) | s] and E[P′_y(t⋆) | s] for the label y = ±1.
func (p *posterior) ofLabel(y, s float64) (prob, slope float64) {
	prob, slope = p.at(s)
	return ofLabel(y, prob, slope)
}

// ofLabel turns P(y = 1) and its slope into those of the label y = ±1.
func ofLabel(y, prob, slope float64) (float64, float64) {
	if y < 0 {
		return 1 - prob, -slope
	}
	return prob, slope
}
