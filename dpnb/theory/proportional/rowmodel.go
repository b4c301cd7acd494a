package proportional

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/normal"
	"github.com/dpnb/notebooks/dpnb/internal/quadrature"
	"github.com/dpnb/notebooks/dpnb/loss"
)

// paths are the nodes with what a record draws besides: its true score and its label, or what the label is made of.
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

func (p *paths) mean(x []float64) float64 { return floats.Dot(p.weight, x) }

func (p *paths) meanProduct(x, y []float64) (s float64) {
	for i, w := range p.weight {
		s += w * x[i] * y[i]
	}
	return s
}

// rowModel is what a record contributes.
type rowModel struct {
	// extra is the number of normal variables between ω⋆ and ω¹, …
	extra int
	paths func(n nodes) *paths
	// slopes writes gᵗ, ∂gᵗ/∂ηᵗ and ∂gᵗ/∂ω⋆ at fixed ηᵗ.
	slopes func(g, curv, star, eta []float64, p *paths)
	// signal returns E ∂gᵗ/∂ω⋆, given the total derivatives along the paths and response[s] = E ∂gᵗ/∂ωˢ.
	signal func(p *paths, g, star, response []float64) float64
}

// coordinate is the index of the normal variable that drives ω⋆ (s = 0) or ωˢ.
func (m rowModel) coordinate(s int) int {
	if s == 0 {
		return 0
	}
	return s + m.extra
}

// row chooses the model of the labels.
func (d Descent) row() rowModel {
	switch {
	case d.Link != nil && d.Expected:
		return d.expectedLabels()
	case d.Link != nil:
		return d.drawnLabels()
	case d.Expected:
		return d.expectedNoise()
	default:
		return d.drawnNoise()
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

// onePath is for models in which a record draws ω⋆ alone.
func (d Descent) onePath(n nodes) *paths {
	return &paths{nodes: n, copies: 1, weight: n.w, star: scaledStar(n, d.Kappa, 1)}
}

// drawnSlopes are those at the label that a path has.
func (d Descent) drawnSlopes(g, curv, star, eta []float64, p *paths) {
	clear(star)
	d.Loss.ValueSlope(g, eta, p.label)
	d.Loss.Curvature(curv, eta, p.label)
}

// shiftedSignal is for regressions: nothing changes when all scores and the label move together.
func shiftedSignal(_ *paths, _, _, response []float64) float64 { return -floats.Sum(response) }

// drawnLabels: y = ±1, one copy of each node for each label.
func (d Descent) drawnLabels() rowModel {
	return rowModel{slopes: d.drawnSlopes,
		paths: func(n nodes) *paths {
			p := &paths{nodes: n, copies: 2, star: scaledStar(n, d.Kappa, 2)}
			for _, y := range []float64{1, -1} {
				for i, w := range n.w {
					prob, slope := ofLabel(y, d.Link.Prob(p.star[i]), d.Link.Slope(p.star[i]))
					p.weight = append(p.weight, w*prob)
					p.slope = append(p.slope, w*slope)
					p.label = append(p.label, y)
				}
			}
			return p
		},
		// ω⋆ acts through the probability of the label alone.
		signal: func(p *paths, g, _, _ []float64) float64 { return floats.Dot(p.slope, g) },
	}
}

// expectedLabels: gradients averaged over the label.
func (d Descent) expectedLabels() rowModel {
	return rowModel{paths: d.onePath,
		slopes: func(g, curv, star, eta []float64, p *paths) {
			n := len(eta)
			gy, cy := make([]float64, n), make([]float64, n)
			clear(g)
			clear(curv)
			clear(star)
			for _, label := range []float64{1, -1} {
				y := slices.Repeat([]float64{label}, n)
				d.Loss.ValueSlope(gy, eta, y)
				d.Loss.Curvature(cy, eta, y)
				for i, t := range p.star {
					prob, slope := ofLabel(label, d.Link.Prob(t), d.Link.Slope(t))
					g[i] += prob * gy[i]
					curv[i] += prob * cy[i]
					star[i] += slope * gy[i]
				}
			}
		},
		signal: func(p *paths, _, star, _ []float64) float64 { return p.mean(star) },
	}
}

// drawnNoise: y = ω⋆ + ε, one copy of each node for each component of the law of ε; the second normal variable drives
// ε.
func (d Descent) drawnNoise() rowModel {
	return rowModel{extra: 1, slopes: d.drawnSlopes, signal: shiftedSignal,
		paths: func(n nodes) *paths {
			p := &paths{nodes: n, copies: len(d.Noise.parts), star: scaledStar(n, d.Kappa, len(d.Noise.parts))}
			for _, part := range d.Noise.parts {
				quantile := part.quantile()
				for i, w := range n.w {
					p.weight = append(p.weight, w*part.weight)
					p.label = append(p.label, n.z[0][i]*d.Kappa+quantile(n.z[1][i]))
				}
			}
			return p
		},
	}
}

// expectedNoise: gradients averaged over ε, a function of η − ω⋆.
func (d Descent) expectedNoise() rowModel {
	slope := d.averagedSlope()
	return rowModel{paths: d.onePath, signal: shiftedSignal,
		slopes: func(g, curv, star, eta []float64, p *paths) {
			clear(g)
			clear(curv)
			clear(star)
			v := make([]float64, len(eta))
			floats.SubTo(v, eta, p.star)
			slope(g, curv, v)
		},
	}
}

// averagedSlope returns what adds E f′(v − ε) to g and E f″(v − ε) to curv.
func (d Descent) averagedSlope() func(g, curv, v []float64) {
	onlyNormal := true
	for _, p := range d.Noise.parts {
		onlyNormal = onlyNormal && !p.uniform
	}
	if h, ok := d.Loss.(loss.Huber); ok && onlyNormal {
		return func(g, curv, v []float64) {
			for i, x := range v {
				for _, p := range d.Noise.parts {
					mean, inside := clippedMean(x-p.a, p.b, h.Threshold)
					g[i] += p.weight * mean
					curv[i] += p.weight * inside
				}
			}
		}
	}
	eps, weights := d.Noise.nodes()
	return func(g, curv, v []float64) {
		n := len(v)
		y, gy, cy := make([]float64, n), make([]float64, n), make([]float64, n)
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
}

// quantile returns the map that takes a standard normal variable to the law of the part.
func (p part) quantile() func(z float64) float64 {
	if p.uniform {
		return func(z float64) float64 { return p.a + (p.b-p.a)*normal.CDF(z) }
	}
	return func(z float64) float64 { return p.a + p.b*z }
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
	inside = normal.Mass(a, b)
	return mean*inside + sd*(normal.Density(a)-normal.Density(b)) + limit*(normal.CDF(-b)-normal.CDF(a)), inside
}

// nodes returns points and weights for expectations over the law of functions that are smooth on the scale of its
// components.
func (l Law) nodes() (x, w []float64) {
	z, wz := quadrature.Normal(0.25)
	for _, p := range l.parts {
		if !p.uniform {
			for i := range z {
				x, w = append(x, p.a+p.b*z[i]), append(w, p.weight*wz[i])
			}
			continue
		}
		t, wt := quadrature.Nodes(p.breaks())
		for i, u := range t {
			x, w = append(x, u), append(w, p.weight*wt[i]/(p.b-p.a))
		}
	}
	return x, w
}
