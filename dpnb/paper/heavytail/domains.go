package heavytail

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

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
		simplex(q)
		if norm := floats.Norm(at, 2); norm > c {
			floats.Scale(c/norm, at)
		}
	}
	return value, s, math.Max(0, upper-value)
}

// simplex projects q on the simplex: bisection for the shift.
func simplex(q []float64) {
	_, shift := univariate.Bisect(func(shift float64) bool {
		var sum float64
		for _, v := range q {
			sum += math.Max(0, v-shift)
		}
		return sum <= 1
	}, floats.Min(q)-1, floats.Max(q), univariate.Arithmetic, 1e-18)
	var sum float64
	for j, v := range q {
		q[j] = math.Max(0, v-shift)
		sum += q[j]
	}
	floats.Scale(1/sum, q)
}

// Region is a compact convex set with an exact projection: Ellipsoid, Polytope, and of erm/composite Ball, Box with
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
	case *Polytope:
		best := math.Inf(-1)
		for _, corner := range w.corners {
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

// Polytope is {w : ⟨aᵢ,w⟩ ≤ bᵢ}, compact, of a few dimensions and faces.
type Polytope struct {
	faces   [][]float64
	bounds  []float64
	corners [][]float64
	// flats are projections Pv + q on the intersections of faces, first that of none.
	flats []flat
}

type flat struct {
	p *mat.Dense
	q []float64
}

// NewPolytope returns the polytope with these faces aᵢ, bᵢ.
//
// Errors: if it is empty, has no corner or is unbounded, or has more than ten thousand intersections of d faces or
// fewer.
func NewPolytope(faces [][]float64, bounds []float64) (*Polytope, error) {
	d := len(faces[0])
	w := &Polytope{faces: faces, bounds: bounds}
	var chosen []int
	var err error
	var choose func(from int)
	choose = func(from int) {
		if f, corner, ok := w.flat(chosen, d); ok {
			w.flats = append(w.flats, f)
			if corner != nil && w.Contains(corner) {
				w.corners = append(w.corners, corner)
			}
		}
		if len(w.flats) > 10_000 {
			err = errors.New("heavytail: a polytope with so many faces is out of reach")
		}
		for i := from; i < len(faces) && len(chosen) < d && err == nil; i++ {
			chosen = append(chosen, i)
			choose(i + 1)
			chosen = chosen[:len(chosen)-1]
		}
	}
	choose(0)
	if err != nil {
		return nil, err
	}
	if len(w.corners) == 0 {
		return nil, errors.New("heavytail: a polytope without a corner")
	}
	// From far out along each axis the nearest point is no farther out than the corners are.
	far, near := make([]float64, d), make([]float64, d)
	for j := range d {
		for _, sign := range []float64{-1, 1} {
			clear(far)
			far[j] = sign
			support(w, near, far)
			edge, size := near[j]*sign, 1+floats.Norm(near, 2)
			far[j] *= 1e6 * size
			if w.Project(near, far); near[j]*sign > edge+1e-6*size {
				return nil, errors.New("heavytail: the polytope is not bounded")
			}
		}
	}
	return w, nil
}

// flat returns the projection on the intersection of faces, and that itself where it is a point; false where the faces
// are not independent.
func (w *Polytope) flat(chosen []int, d int) (f flat, corner []float64, ok bool) {
	f = flat{mat.NewDense(d, d, nil), make([]float64, d)}
	for j := range d {
		f.p.Set(j, j, 1)
	}
	if k := len(chosen); k > 0 {
		h, b := mat.NewDense(k, d, nil), mat.NewVecDense(k, nil)
		for i, c := range chosen {
			h.SetRow(i, w.faces[c])
			b.SetVec(i, w.bounds[c])
		}
		var gram, inverse, lift, across mat.Dense
		gram.Mul(h, h.T())
		if inverse.Inverse(&gram) != nil { // singular, or nearly
			return f, nil, false
		}
		lift.Mul(h.T(), &inverse)
		across.Mul(&lift, h)
		f.p.Sub(f.p, &across)
		q := mat.NewVecDense(d, f.q)
		q.MulVec(&lift, b)
		if k == d {
			corner = f.q
		}
	}
	return f, corner, true
}

// Contains grants rounding.
func (w *Polytope) Contains(x []float64) bool {
	for i, a := range w.faces {
		if floats.Dot(a, x) > w.bounds[i]+1e-11*(math.Abs(w.bounds[i])+floats.Norm(a, 1)) {
			return false
		}
	}
	return true
}

// Project is that of v on the intersection of faces in which the nearest point lies: the nearest to v of those
// projections that lie in the polytope.
func (w *Polytope) Project(dst, v []float64) {
	best, at := math.Inf(1), make([]float64, len(v))
	var nearest []float64
	for _, f := range w.flats {
		x := mat.NewVecDense(len(at), at)
		x.MulVec(f.p, mat.NewVecDense(len(v), v))
		floats.Add(at, f.q)
		if far := floats.Distance(at, v, 2); far < best && w.Contains(at) {
			best, nearest = far, append(nearest[:0], at...)
		}
		if best == 0 {
			break
		}
	}
	copy(dst, nearest)
}
