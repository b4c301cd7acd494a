package composite

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// nonnegative solves min ½yᵀGy − cᵀy over y ≥ 0 for a k×k positive semidefinite
// G, some rows of which may be left out: the dual of a projection on halfspaces.
type nonnegative struct {
	g       []float64
	k       int
	y, rest []float64
	chol    []float64 // L of the support, with stride k
	support []int
	step    []float64
}

func newNonnegative(g []float64, k int) *nonnegative {
	v := func() []float64 { return make([]float64, k) }
	return &nonnegative{g: g, k: k, y: v(), rest: v(), chol: make([]float64, k*k), step: v()}
}

// sweeps over the coordinates before the equations are solved.
const sweeps = 8

// solve leaves the answer in y. Coordinates with use[i] false stay 0; a nil use
// leaves all. A few sweeps over the coordinates (Hildreth 1957, Dykstra's method
// for halfspaces) guess the support; from there an active-set method (Lawson and
// Hanson 1974) ends at the answer.
func (q *nonnegative) solve(c []float64, use []bool) {
	clear(q.y)
	copy(q.rest, c)
	for range sweeps {
		for i := range q.k {
			diagonal := q.g[i*q.k+i]
			if use != nil && !use[i] || diagonal == 0 {
				continue
			}
			if step := math.Max(-q.y[i], q.rest[i]/diagonal); step != 0 {
				q.y[i] += step
				floats.AddScaled(q.rest, -step, q.g[i*q.k:(i+1)*q.k])
			}
		}
	}
	q.support = q.support[:0]
	for i, y := range q.y {
		if y > 0 && q.grow(i) {
			q.support = append(q.support, i)
		} else {
			q.y[i] = 0
		}
	}
	for range 20 * (q.k + 10) { // it ends by itself, but for rounding
		if !q.descend(c) {
			continue
		}
		i := q.worst(c, use)
		if i < 0 {
			return
		}
		q.add(i)
	}
}

// descend moves y to the solution on the support, or towards it until an entry
// is 0, which leaves the support. It reports whether it arrived.
func (q *nonnegative) descend(c []float64) bool {
	n := len(q.support)
	step := q.step[:n]
	for a, i := range q.support {
		step[a] = c[i]
	}
	q.substitute(step)
	t, drop := 1.0, -1
	for a, i := range q.support {
		if step[a] <= 0 {
			if s := q.y[i] / (q.y[i] - step[a]); s < t || drop < 0 {
				t, drop = math.Min(s, 1), a
			}
		}
	}
	for a, i := range q.support {
		q.y[i] += t * (step[a] - q.y[i])
	}
	if drop >= 0 {
		q.remove(drop)
		return false
	}
	return true
}

// worst returns the coordinate outside the support that y gains most by, and -1
// if none gains more than rounding.
func (q *nonnegative) worst(c []float64, use []bool) int {
	copy(q.rest, c)
	for _, i := range q.support {
		floats.AddScaled(q.rest, -q.y[i], q.g[i*q.k:(i+1)*q.k])
	}
	var scale float64
	for i, v := range c {
		scale = math.Max(scale, math.Max(v, q.y[i]*q.g[i*q.k+i])) // negative entries may be as large as they like
	}
	best, at := 0.0, -1
	for i, r := range q.rest {
		diagonal := q.g[i*q.k+i]
		if use != nil && !use[i] || q.y[i] > 0 || diagonal == 0 || r <= 1e-13*scale {
			continue
		}
		if gain := r * r / diagonal; gain > best {
			best, at = gain, i
		}
	}
	return at
}

// add takes i into the support. If its row depends on those there, y moves along
// what leaves Gy as it is until another entry is 0 and makes room.
func (q *nonnegative) add(i int) {
	for !q.grow(i) {
		n := len(q.support)
		z := q.step[:n]
		for a, s := range q.support {
			z[a] = -q.g[i*q.k+s]
		}
		q.substitute(z)
		t, drop := math.Inf(1), -1
		for a, s := range q.support {
			if z[a] < 0 && q.y[s]/-z[a] < t {
				t, drop = q.y[s]/-z[a], a
			}
		}
		if drop < 0 {
			return
		}
		for a, s := range q.support {
			q.y[s] = math.Max(0, q.y[s]+t*z[a])
		}
		q.y[i] += t
		q.remove(drop)
	}
	q.support = append(q.support, i)
}

// remove takes entry a out of the support and makes the factor anew.
func (q *nonnegative) remove(a int) {
	q.y[q.support[a]] = 0
	all := append(q.support[:a], q.support[a+1:]...)
	q.support = q.support[:0]
	for _, i := range all {
		if q.grow(i) {
			q.support = append(q.support, i)
		} else {
			q.y[i] = 0
		}
	}
}

// grow appends row i of G to the Cholesky factor L of the support, unless it
// depends on the rows that are there.
func (q *nonnegative) grow(i int) bool {
	n := len(q.support)
	row := q.chol[n*q.k : n*q.k+n+1]
	pivot := q.g[i*q.k+i]
	for a, s := range q.support {
		l := q.chol[a*q.k : a*q.k+a+1]
		row[a] = (q.g[i*q.k+s] - floats.Dot(l[:a], row[:a])) / l[a]
		pivot -= row[a] * row[a]
	}
	if !(pivot > 1e-12*q.g[i*q.k+i]) {
		return false
	}
	row[n] = math.Sqrt(pivot)
	return true
}

// substitute overwrites b by the solution of LLᵀx = b.
func (q *nonnegative) substitute(b []float64) {
	for a := range b {
		l := q.chol[a*q.k : a*q.k+a+1]
		b[a] = (b[a] - floats.Dot(l[:a], b[:a])) / l[a]
	}
	for a := len(b) - 1; a >= 0; a-- {
		l := q.chol[a*q.k : a*q.k+a+1]
		b[a] /= l[a]
		floats.AddScaled(b[:a], -b[a], l[:a])
	}
}
