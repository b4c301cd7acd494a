package composite

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// manifold ends what splitting has begun: once the zeros, the bounds and whether the sphere is met are right, r is
// smooth in the coordinates that are left, C is one equation or none, and Newton's method for the two finds the
// minimum. It is for pairs that are structural.
type manifold struct {
	s        *splitting
	free     []int
	kkt      []float64 // Hessian over the free coordinates
	rest, a  []float64 // what is to vanish there, and the normal of C
	theta, g []float64
	p        *pair
	met      bool // that C is an equation in the free coordinates
	groups   []group
	groupOf  []int // −1 for none
}

func newManifold(s *splitting) *manifold {
	d := s.m.d
	v := func() []float64 { return make([]float64, d) }
	m := &manifold{s: s, kkt: make([]float64, d*d), rest: v(), a: v(), theta: v(), g: v(), p: newPair(d)}
	switch r := s.o.r.(type) {
	case L2:
		m.groups = []group{{0, d, r.Weight}}
	case GroupL1:
		end := 0
		for _, size := range r.Groups {
			m.groups = append(m.groups, group{end, end + size, r.weight(size)})
			end += size
		}
	}
	m.groupOf = slices.Repeat([]int{-1}, d)
	for i, g := range m.groups {
		for j := g.lo; j < g.hi; j++ {
			m.groupOf[j] = i
		}
	}
	return m
}

// group is that of the coordinates lo ≤ j < hi, in r with the given weight.
type group struct {
	lo, hi int
	weight float64
}

// newtonSteps of polish.
const newtonSteps = 12

// polish tries to bring the candidate of the splitting to a certificate of tol. If it cannot, the candidate stays as it
// is.
func (m *manifold) polish(tol, modulus float64) bool {
	s := m.s
	copy(m.theta, s.theta)
	copy(m.p.v, s.p.v)
	last := math.Inf(1)
	for range newtonSteps {
		s.m.gradient(m.g, m.theta)
		bound := s.o.certify(m.theta, m.g, 0, m.p, modulus).Bound()
		if bound <= tol {
			copy(s.theta, m.theta)
			copy(s.p.s, m.p.s)
			copy(s.p.v, m.p.v)
			return true
		}
		if !(bound < 2*last) {
			return false
		}
		last = math.Min(last, bound)
		if !m.step() {
			return false
		}
	}
	return false
}

// step makes a Newton step for the free coordinates and the multiplier of C.
func (m *manifold) step() bool {
	d := m.s.m.d
	m.free = m.free[:0]
	for j := range d {
		if !m.held(j) {
			m.free = append(m.free, j)
		}
	}
	k := len(m.free)
	if k == 0 {
		return false
	}
	nu, off := m.equation(m.a[:k])
	for i, row := range m.free {
		h := m.s.m.h[row*d : (row+1)*d]
		for c := i; c < k; c++ {
			m.kkt[i*k+c] = h[m.free[c]]
		}
	}
	m.bend(nu)
	rest := m.rest[:k]
	for i, j := range m.free {
		rest[i] = -m.p.rest[j] // g + s + v, with the v that the pair found
	}
	m.s.m.factors++
	t, ok := factor(m.kkt[:k*k], k)
	if !ok {
		return false
	}
	solveFactored(t, rest)
	if m.met {
		normal := m.g[:k]
		copy(normal, m.a[:k])
		solveFactored(t, normal)
		if along := floats.Dot(m.a[:k], normal); along > 0 {
			floats.AddScaled(rest, -(floats.Dot(m.a[:k], rest)+off)/along, normal)
		}
	}
	for i, j := range m.free {
		x := m.theta[j] + rest[i]
		if _, l1 := m.s.o.r.(L1); l1 && x*m.theta[j] < 0 {
			x = 0
		}
		m.theta[j] = x
	}
	m.back()
	return true
}

// held says that coordinate j is at zero by r or C, or at a bound.
func (m *manifold) held(j int) bool {
	x := m.theta[j]
	switch c := m.s.o.c.(type) {
	case Box:
		if lo, hi := c.bounds(j); (x <= lo || x >= hi) && m.p.rest[j] == 0 {
			return true
		}
	case Simplex:
		if x == 0 {
			return true
		}
	}
	if _, l1 := m.s.o.r.(L1); l1 {
		return x == 0
	}
	if x == 0 && m.groupOf[j] >= 0 {
		g := m.groups[m.groupOf[j]]
		return floats.Norm(m.theta[g.lo:g.hi], 2) == 0
	}
	return false
}

// equation writes the normal of C in the free coordinates to a, if it is met there, and returns the multiplier where it
// bends, and by how much the equation is missed.
func (m *manifold) equation(a []float64) (nu, off float64) {
	m.met = false
	switch c := m.s.o.c.(type) {
	case Ball:
		if !(floats.Norm(m.theta, 2) >= c.Radius*(1-edge(len(m.theta)))) {
			return 0, 0
		}
		m.met = true
		for i, j := range m.free {
			a[i] = m.theta[j]
		}
		square := floats.Dot(m.theta, m.theta)
		return floats.Dot(m.p.v, m.theta) / square, 0.5 * (square - c.Radius*c.Radius)
	case Simplex:
		m.met = true
		for i := range a {
			a[i] = 1
		}
		return 0, floats.Sum(m.theta) - c.Sum
	}
	return 0, 0
}

// bend adds the curvature of r and of the sphere to the upper triangle.
func (m *manifold) bend(nu float64) {
	k := len(m.free)
	for i, j := range m.free {
		m.kkt[i*k+i] += nu
		if m.groupOf[j] < 0 {
			continue
		}
		g := m.groups[m.groupOf[j]]
		norm := floats.Norm(m.theta[g.lo:g.hi], 2)
		m.kkt[i*k+i] += g.weight / norm
		for c := i; c < k && m.free[c] < g.hi; c++ {
			m.kkt[i*k+c] -= g.weight * (m.theta[j] / norm) * (m.theta[m.free[c]] / norm) / norm
		}
	}
}

// back moves theta onto C again, its zeros as they are.
func (m *manifold) back() {
	switch c := m.s.o.c.(type) {
	case Simplex:
		var sum float64
		for j, x := range m.theta {
			m.theta[j] = math.Max(x, 0)
			sum += m.theta[j]
		}
		floats.Scale(c.Sum/sum, m.theta)
	case Ball:
		if m.met {
			floats.Scale(c.Radius/floats.Norm(m.theta, 2), m.theta)
			return
		}
		c.Project(m.theta, m.theta)
	default:
		m.s.o.c.Project(m.theta, m.theta)
	}
}
