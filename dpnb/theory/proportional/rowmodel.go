package proportional

import (
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/loss"
)

// paths are the nodes with what a record draws besides: its true score and its
// label, or what the label is made of.
type paths struct {
	nodes
	copies int       // each node stands this often, one after the other
	weight []float64 // of a path; slope is the derivative of the weight by ω⋆
	slope  []float64
	star   []float64 // ω⋆
	label  []float64
}

func (p *paths) addCoordinate(dst []float64, j int, c float64) {
	z := p.z[j]
	for b := range p.copies {
		axpy(dst[b*len(z):(b+1)*len(z)], c, z)
	}
}

func (p *paths) mean(x []float64) (s float64) {
	for i, w := range p.weight {
		s += w * x[i]
	}
	return s
}

func (p *paths) meanProduct(x, y []float64) (s float64) {
	for i, w := range p.weight {
		s += w * x[i] * y[i]
	}
	return s
}

// rowModel is what a record contributes.
type rowModel interface {
	// extra is the number of normal variables besides ω⋆ and ω¹, …
	extra() int
	// coordinate is the index of the normal variable that drives ω⋆ (s = 0) or ωˢ.
	coordinate(s int) int
	paths(n nodes) *paths
	// slopes writes gᵗ, ∂gᵗ/∂ηᵗ and ∂gᵗ/∂ω⋆ at fixed ηᵗ.
	slopes(g, curv, star, eta []float64, p *paths)
	// signal returns E ∂gᵗ/∂ω⋆, given the total derivatives along the paths and
	// response[s] = E ∂gᵗ/∂ωˢ.
	signal(p *paths, g, star, response []float64) float64
}

// row chooses the model of the labels.
func (d Descent) row() rowModel {
	switch {
	case d.Link != nil && d.Expected:
		return expectedLabels{d.Loss, d.Link, d.Kappa}
	case d.Link != nil:
		return drawnLabels{d.Loss, d.Link, d.Kappa}
	case d.Expected:
		return newExpectedNoise(d)
	default:
		return drawnNoise{d.Loss, d.Noise, d.Kappa}
	}
}

func scaledStar(n nodes, kappa float64, copies int) []float64 {
	out := make([]float64, 0, copies*len(n.w))
	for range copies {
		for _, z := range n.z[0] {
			out = append(out, kappa*z)
		}
	}
	return out
}

// drawnLabels: y = ±1, one copy of each node for each label.
type drawnLabels struct {
	loss  loss.Loss
	link  Link
	kappa float64
}

func (drawnLabels) extra() int           { return 0 }
func (drawnLabels) coordinate(s int) int { return s }

func (m drawnLabels) paths(n nodes) *paths {
	p := &paths{nodes: n, copies: 2, star: scaledStar(n, m.kappa, 2)}
	for _, y := range []float64{1, -1} {
		for i, w := range n.w {
			prob, slope := m.link.Prob(p.star[i]), m.link.Slope(p.star[i])
			if y < 0 {
				prob, slope = 1-prob, -slope
			}
			p.weight = append(p.weight, w*prob)
			p.slope = append(p.slope, w*slope)
			p.label = append(p.label, y)
		}
	}
	return p
}

func (m drawnLabels) slopes(g, curv, star, eta []float64, p *paths) {
	m.loss.ValueSlope(g, eta, p.label)
	m.loss.Curvature(curv, eta, p.label)
	clear(star)
}

// signal: ω⋆ acts through the probability of the label alone.
func (drawnLabels) signal(p *paths, g, _, _ []float64) (s float64) {
	for i, w := range p.slope {
		s += w * g[i]
	}
	return s
}

// expectedLabels: gradients averaged over the label.
type expectedLabels struct {
	loss  loss.Loss
	link  Link
	kappa float64
}

func (expectedLabels) extra() int           { return 0 }
func (expectedLabels) coordinate(s int) int { return s }

func (m expectedLabels) paths(n nodes) *paths {
	return &paths{nodes: n, copies: 1, weight: n.w, star: scaledStar(n, m.kappa, 1)}
}

func (m expectedLabels) slopes(g, curv, star, eta []float64, p *paths) {
	n := len(eta)
	y, gy, cy := make([]float64, n), make([]float64, n), make([]float64, n)
	clear(g)
	clear(curv)
	clear(star)
	for _, label := range []float64{1, -1} {
		for i := range y {
			y[i] = label
		}
		m.loss.ValueSlope(gy, eta, y)
		m.loss.Curvature(cy, eta, y)
		for i, t := range p.star {
			prob, slope := m.link.Prob(t), m.link.Slope(t)
			if label < 0 {
				prob, slope = 1-prob, -slope
			}
			g[i] += prob * gy[i]
			curv[i] += prob * cy[i]
			star[i] += slope * gy[i]
		}
	}
}

func (expectedLabels) signal(p *paths, _, star, _ []float64) float64 { return p.mean(star) }

// drawnNoise: y = ω⋆ + ε, one copy of each node for each component of the law of
// ε; the second normal variable drives ε.
type drawnNoise struct {
	loss  loss.Loss
	noise Law
	kappa float64
}

func (drawnNoise) extra() int { return 1 }
func (drawnNoise) coordinate(s int) int {
	if s == 0 {
		return 0
	}
	return s + 1
}

func (m drawnNoise) paths(n nodes) *paths {
	p := &paths{nodes: n, copies: len(m.noise.parts), star: scaledStar(n, m.kappa, len(m.noise.parts))}
	for _, part := range m.noise.parts {
		quantile := part.quantile()
		for i, w := range n.w {
			p.weight = append(p.weight, w*part.weight)
			p.label = append(p.label, n.z[0][i]*m.kappa+quantile(n.z[1][i]))
		}
	}
	return p
}

func (m drawnNoise) slopes(g, curv, star, eta []float64, p *paths) {
	m.loss.ValueSlope(g, eta, p.label)
	m.loss.Curvature(curv, eta, p.label)
	clear(star)
}

// signal: nothing changes when all scores and the label move together.
func (drawnNoise) signal(_ *paths, _, _, response []float64) float64 { return -total(response) }

func total(v []float64) (s float64) {
	for _, x := range v {
		s += x
	}
	return s
}

// quantile returns the map that takes a standard normal variable to the law of
// the part.
func (p part) quantile() func(z float64) float64 {
	switch p.kind {
	case normalPart:
		return func(z float64) float64 { return p.a + p.b*z }
	case uniformPart:
		return func(z float64) float64 { return p.a + (p.b-p.a)*cdf(z) }
	}
	const cells = 4000
	at := func(k int) float64 { return p.a + (p.b-p.a)*float64(k)/cells }
	mass := make([]float64, cells+1)
	for k := range cells {
		a, b := at(k), at(k+1)
		mass[k+1] = mass[k] + (p.pdf(a)+4*p.pdf(0.5*(a+b))+p.pdf(b))*(b-a)/6
	}
	return func(z float64) float64 {
		u := cdf(z) * mass[cells]
		k, _ := slices.BinarySearch(mass, u)
		k = min(max(k, 1), cells)
		step := mass[k] - mass[k-1]
		if step <= 0 {
			return at(k)
		}
		return at(k-1) + (at(k)-at(k-1))*(u-mass[k-1])/step
	}
}

// expectedNoise: gradients averaged over ε, a function of η − ω⋆.
type expectedNoise struct {
	kappa float64
	// slope writes E f′(v − ε) and E f″(v − ε) for v = η − ω⋆.
	slope func(g, curv, v []float64)
}

func newExpectedNoise(d Descent) expectedNoise {
	m := expectedNoise{kappa: d.Kappa}
	normal := true
	for _, p := range d.Noise.parts {
		normal = normal && p.kind == normalPart
	}
	if h, ok := d.Loss.(loss.Huber); ok && normal {
		m.slope = func(g, curv, v []float64) {
			for i, x := range v {
				g[i], curv[i] = 0, 0
				for _, p := range d.Noise.parts {
					mean, inside := clippedMean(x-p.a, p.b, h.Threshold)
					g[i] += p.weight * mean
					curv[i] += p.weight * inside
				}
			}
		}
		return m
	}
	eps, weights := d.Noise.nodes()
	m.slope = func(g, curv, v []float64) {
		n := len(v)
		y, gy, cy := make([]float64, n), make([]float64, n), make([]float64, n)
		clear(g)
		clear(curv)
		for k, e := range eps {
			for i := range y {
				y[i] = e
			}
			d.Loss.ValueSlope(gy, v, y)
			d.Loss.Curvature(cy, v, y)
			axpy(g, weights[k], gy)
			axpy(curv, weights[k], cy)
		}
	}
	return m
}

// clippedMean returns E of X cut to [−L, L] and P(|X| < L), X ~ N(mean, sd²).
func clippedMean(mean, sd, limit float64) (cut, inside float64) {
	if sd == 0 {
		if math.Abs(mean) < limit {
			return mean, 1
		}
		return math.Copysign(limit, mean), 0
	}
	a, b := (-limit-mean)/sd, (limit-mean)/sd
	inside = interval(a, b)
	return mean*inside + sd*(phi(a)-phi(b)) + limit*(cdf(-b)-cdf(a)), inside
}

// nodes returns points and weights for expectations over the law of functions
// that are smooth on the scale of its components.
func (l Law) nodes() (x, w []float64) {
	z, wz := normalGrid(0.25)
	for _, p := range l.parts {
		switch p.kind {
		case normalPart:
			for i := range z {
				x, w = append(x, p.a+p.b*z[i]), append(w, p.weight*wz[i])
			}
		default:
			breaks := p.breaks()
			mass := p.integral(func(float64) float64 { return 1 })
			for k := 1; k < len(breaks); k++ {
				mid, half := 0.5*(breaks[k]+breaks[k-1]), 0.5*(breaks[k]-breaks[k-1])
				for i, u := range panelX {
					t := mid + half*u
					x, w = append(x, t), append(w, p.weight*half*panelK[i]*p.at(t)/mass)
				}
			}
		}
	}
	return x, w
}

func (expectedNoise) extra() int           { return 0 }
func (expectedNoise) coordinate(s int) int { return s }

func (m expectedNoise) paths(n nodes) *paths {
	return &paths{nodes: n, copies: 1, weight: n.w, star: scaledStar(n, m.kappa, 1)}
}

func (m expectedNoise) slopes(g, curv, star, eta []float64, p *paths) {
	v := make([]float64, len(eta))
	for i, t := range p.star {
		v[i] = eta[i] - t
	}
	m.slope(g, curv, v)
	clear(star)
}

func (expectedNoise) signal(_ *paths, _, _, response []float64) float64 { return -total(response) }
