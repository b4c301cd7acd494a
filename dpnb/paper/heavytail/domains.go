package heavytail

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm/composite"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
)

// Polyhedral is the loss max_j ⟨a_j, w⟩ + b_j on a region W.
type Polyhedral struct {
	A [][]float64
	B []float64
	W Region
}

// At is the loss as a Function.
func (p Polyhedral) At(g, w []float64) float64 {
	best := math.Inf(-1)
	for j, a := range p.A {
		if v := floats.Dot(a, w) + p.B[j]; v > best {
			best = v
			copy(g, a)
		}
	}
	return best
}

// Extended returns f_C(w) from below and a vector s, ‖s‖ ≤ C, with f_C(u) ≥ value + ⟨s, u − w⟩ for all u in W, and by
// how much f_C(w) may exceed value at most.
//
// With q in the simplex, ‖s‖ ≤ C and v = s − Aᵀq every
//
//	D(q, s) = ⟨s, w⟩ + ⟨q, b⟩ − max_{y∈W} ⟨v, y⟩ = min_{y∈W} ⟨q, Ay + b⟩ + ⟨s, w − y⟩
//
// is a lower bound, for all w at once, and the largest is f_C(w) (heavytail, Proposition D.6). The dual is climbed by
// adaptive subgradient steps, whose y, the farthest of W along v, have means that bound f_C(w) from above; what is
// reached holds whether or not it has converged.
func (p Polyhedral) Extended(w []float64, c float64, steps int) (value float64, s []float64, gap float64) {
	d, m := len(w), len(p.A)
	dual, grad := make([]float64, m+d), make([]float64, m+d)
	q, at := dual[:m], dual[m:]
	q[0] = 1
	v, y, mean, g := make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d)
	value, s = math.Inf(-1), make([]float64, d)
	primal := func(y []float64) float64 { return p.At(g, y) + c*floats.Distance(w, y, 2) }
	upper := primal(w)
	var sum float64
	for t := 1; t <= steps && upper > value; t++ {
		copy(v, at)
		for j, a := range p.A {
			floats.AddScaled(v, -q[j], a)
		}
		support(p.W, y, v)
		if bound := floats.Dot(at, w) + floats.Dot(q, p.B) - floats.Dot(v, y); bound > value {
			value = bound
			copy(s, at)
		}
		floats.Add(mean, y)
		floats.ScaleTo(v, 1/float64(t), mean)
		upper = math.Min(upper, primal(v))
		for j, a := range p.A {
			grad[j] = p.B[j] + floats.Dot(a, y)
		}
		floats.SubTo(grad[m:], w, y)
		sum += floats.Dot(grad, grad)
		if sum == 0 {
			break
		}
		floats.AddScaled(dual, math.Sqrt((4*c*c+2)/sum), grad)
		composite.Simplex{Sum: 1}.Project(q, q)
		if norm := floats.Norm(at, 2); norm > c {
			floats.Scale(c/norm, at)
		}
	}
	return value, s, math.Max(0, upper-value)
}

// Region is a compact convex set with an exact projection: Ellipsoid, Polygon, and of erm/composite Ball, Box with
// finite bounds, Simplex.
type Region interface {
	Project(dst, v []float64)
	Contains(w []float64) bool
}

// support writes to dst a point of the region that is farthest in the direction v. It panics at other regions.
func support(of Region, dst, v []float64) {
	switch w := of.(type) {
	case composite.Ball:
		clear(dst)
		if norm := floats.Norm(v, 2); norm > 0 {
			floats.ScaleTo(dst, w.Radius/norm, v)
		}
	case composite.Box:
		for j, x := range v {
			dst[j] = math.Copysign(math.Inf(1), x)
		}
		w.Project(dst, dst)
	case composite.Simplex:
		clear(dst)
		dst[floats.MaxIdx(v)] = w.Sum
	case Ellipsoid:
		floats.MulTo(dst, w.Axes, v)
		if norm := floats.Norm(dst, 2); norm > 0 {
			floats.Scale(1/norm, dst)
		}
		floats.Mul(dst, w.Axes)
	case Polygon:
		best := math.Inf(-1)
		for _, corner := range w {
			if at := floats.Dot(corner, v); at > best {
				best = at
				copy(dst, corner)
			}
		}
	default:
		panic("heavytail: no linear functions are maximised over this region")
	}
}

// Ellipsoid is {w : Σ(wⱼ/aⱼ)² ≤ 1}, aⱼ > 0.
type Ellipsoid struct{ Axes []float64 }

// Contains grants rounding.
func (e Ellipsoid) Contains(w []float64) bool { return e.size(w, 0) <= 1+1e-12 }

// size returns ‖wⱼaⱼ/(aⱼ² + μ)‖.
func (e Ellipsoid) size(w []float64, mu float64) (norm float64) {
	for j, a := range e.Axes {
		norm = math.Hypot(norm, w[j]*a/(a*a+mu))
	}
	return norm
}

// Project finds the multiplier μ ≥ 0 of vⱼaⱼ²/(aⱼ² + μ), whose size falls in μ, by bisection to the last bit.
func (e Ellipsoid) Project(dst, v []float64) {
	if e.size(v, 0) <= 1 {
		copy(dst, v)
		return
	}
	most := floats.Max(e.Axes) * floats.Norm(v, 2) // there the size is at most 1
	_, mu := univariate.Bisect(func(mu float64) bool { return e.size(v, mu) <= 1 }, 0, most, univariate.Arithmetic, 0)
	for j, a := range e.Axes {
		dst[j] = v[j] * (a * a / (a*a + mu))
	}
}

// Polygon is a convex one in the plane, by its corners, counterclockwise.
type Polygon [][]float64

// edges calls f with the ends of each edge.
func (p Polygon) edges(f func(a, b []float64)) {
	for i, a := range p {
		f(a, p[(i+1)%len(p)])
	}
}

// Contains grants rounding.
func (p Polygon) Contains(x []float64) bool {
	in := true
	p.edges(func(a, b []float64) {
		in = in && (b[0]-a[0])*(x[1]-a[1])-(b[1]-a[1])*(x[0]-a[0]) >= -1e-11*(1+floats.Norm(x, 2))
	})
	return in
}

// Project is the nearest of those on the edges.
func (p Polygon) Project(dst, v []float64) {
	if copy(dst, v); p.Contains(v) {
		return
	}
	best, nearest := math.Inf(1), [2]float64{}
	p.edges(func(a, b []float64) {
		along := [2]float64{b[0] - a[0], b[1] - a[1]}
		share := ((v[0]-a[0])*along[0] + (v[1]-a[1])*along[1]) / (along[0]*along[0] + along[1]*along[1])
		share = math.Max(0, math.Min(share, 1))
		at := [2]float64{a[0] + share*along[0], a[1] + share*along[1]}
		if far := math.Hypot(at[0]-v[0], at[1]-v[1]); far < best {
			best, nearest = far, at
		}
	})
	copy(dst, nearest[:])
}
