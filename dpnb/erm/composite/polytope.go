package composite

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Polytope is C = {θ : Aθ ≤ b}, an intersection of k halfspaces with a point in
// its interior; it need not be bounded. Create it with NewPolytope.
type Polytope struct {
	k, d     int
	a        []float64 // row by row
	b        []float64
	norms    []float64
	gram     []float64 // AAᵀ
	interior []float64
	// margins are proven lower bounds on b − A·interior.
	margins []float64
	pool    *sync.Pool
}

// NewPolytope returns {θ : Aθ ≤ b}. interior is a point with aᵢᵀx < bᵢ for all i,
// towards which projections are moved by what float64 cannot tell, so that they
// lie in C for certain; nil is the origin.
//
// Shapes: a is k×d, b has length k, interior d.
// Errors: *matrix.DataError, also if interior is not in the interior.
func NewPolytope(a mat.Matrix, b, interior []float64) (*Polytope, error) {
	k, d := a.Dims()
	c := &Polytope{k: k, d: d, a: make([]float64, k*d), b: slices.Clone(b), norms: make([]float64, k), gram: make([]float64, k*k),
		interior: make([]float64, d), margins: make([]float64, k)}
	if len(b) != k || interior != nil && len(interior) != d {
		return nil, dataError("A is %d×%d, b has length %d and the interior point %d", k, d, len(b), len(interior))
	}
	copy(c.interior, interior)
	for i := range k {
		mat.Row(c.row(i), i, a)
		c.norms[i] = floats.Norm(c.row(i), 2) * (1 + edge(d))
		for j := range i + 1 {
			c.gram[i*k+j] = floats.Dot(c.row(i), c.row(j))
			c.gram[j*k+i] = c.gram[i*k+j]
		}
	}
	if !finite(c.a...) || !finite(c.b...) || !finite(c.interior...) {
		return nil, dataError("A, b or the interior point has an entry that is not finite")
	}
	for i := range k {
		c.margins[i] = -c.excess(i, c.interior)
		if !(c.margins[i] > 0) {
			return nil, dataError("the interior point does not lie within halfspace %d: give a point with Aθ < b; a set without one has no room for a certified projection", i)
		}
	}
	c.pool = &sync.Pool{New: func() any {
		return &polytopeWork{newNonnegative(c.gram, k), make([]float64, k), make([]bool, k), make([]float64, d)}
	}}
	return c, nil
}

type polytopeWork struct {
	q   *nonnegative
	c   []float64
	use []bool
	v   []float64
}

func (c *Polytope) row(i int) []float64 { return c.a[i*c.d : (i+1)*c.d] }

// excess returns aᵢᵀθ − bᵢ and what its computation, or a convex combination of
// θ and the interior point as it is rounded, may add.
func (c *Polytope) excess(i int, theta []float64) float64 {
	size := floats.Norm(theta, 2) + floats.Norm(c.interior, 2)
	return floats.Dot(c.row(i), theta) - c.b[i] + edge(c.d)*(c.norms[i]*size+math.Abs(c.b[i]))
}

// slackness returns bᵢ − aᵢᵀθ, at least 0.
func (c *Polytope) slackness(i int, theta []float64) float64 {
	return math.Max(0, c.b[i]-floats.Dot(c.row(i), theta))
}

// active is the share of ‖aᵢ‖‖θ‖ + |bᵢ| within which a halfspace counts as met.
const active = 1e-11

func (c *Polytope) isActive(i int, theta []float64) bool {
	size := floats.Norm(theta, 2) + floats.Norm(c.interior, 2)
	return c.slackness(i, theta) <= active*(c.norms[i]*size+math.Abs(c.b[i]))
}

// Name returns "polytope".
func (*Polytope) Name() string { return "polytope" }

// Validate checks d.
func (c *Polytope) Validate(d int) error {
	if c.pool == nil || d != c.d {
		return dataError("the polytope is for %d coordinates, not for d = %d: make it with NewPolytope", c.d, d)
	}
	return nil
}

// Contains grants the rounding of the products.
func (c *Polytope) Contains(theta []float64) bool {
	for i := range c.k {
		if !(floats.Dot(c.row(i), theta)-c.b[i] <= edge(c.d)*(c.norms[i]*floats.Norm(theta, 2)+math.Abs(c.b[i]))) {
			return false
		}
	}
	return true
}

// Project is v − Aᵀy, y ≥ 0 the solution of the dual, moved towards the interior
// point by as much as proves that it lies in C.
func (c *Polytope) Project(dst, v []float64) {
	w := c.pool.Get().(*polytopeWork)
	defer c.pool.Put(w)
	outside := false
	for i := range c.k {
		w.c[i] = floats.Dot(c.row(i), v) - c.b[i]
		outside = outside || w.c[i] > 0
	}
	copy(w.v, v)
	if outside {
		w.q.solve(w.c, nil)
		for i, y := range w.q.y {
			if y > 0 {
				floats.AddScaled(w.v, -y, c.row(i))
			}
		}
	}
	var t float64
	for i := range c.k {
		if e := c.excess(i, w.v); e > 0 {
			t = math.Max(t, e/(e+c.margins[i])*(1+8*unit))
		}
	}
	for j, x := range w.v {
		dst[j] = x + t*(c.interior[j]-x)
	}
}

// Nearest projects v on the cone of the normals of the halfspaces that θ meets.
func (c *Polytope) Nearest(dst, v, theta []float64) { c.cone(dst, v, theta) }

// Gap moves v to that cone, v = Aᵀy; ε = yᵀ(b − Aθ).
func (c *Polytope) Gap(v, theta []float64) (slack, rounding float64) {
	return c.cone(v, v, theta)
}

// cone writes Aᵀy to dst, which errs by a multiple of the sum of the yᵢ‖aᵢ‖.
func (c *Polytope) cone(dst, v, theta []float64) (slack, rounding float64) {
	w := c.pool.Get().(*polytopeWork)
	defer c.pool.Put(w)
	for i := range c.k {
		w.c[i] = floats.Dot(c.row(i), v)
		w.use[i] = c.isActive(i, theta)
	}
	w.q.solve(w.c, w.use)
	clear(dst)
	var gap, sum float64
	norm := floats.Norm(theta, 2)
	for i, y := range w.q.y {
		if y > 0 {
			floats.AddScaled(dst, y, c.row(i))
			gap += y * (c.slackness(i, theta) + edge(c.d)*(c.norms[i]*norm+math.Abs(c.b[i])))
			sum += y * c.norms[i]
		}
	}
	return up(gap, c.k), float64(c.k+8) * unit * sum
}
