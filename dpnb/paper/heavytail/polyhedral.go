package heavytail

import (
	"math"

	"gonum.org/v1/gonum/floats"

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
