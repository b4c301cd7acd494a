package composite

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/nnls"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// Cone is C = {θ : vᵢᵀθ ≥ 0 for all i}, the vᵢ independent: coefficients that rise, if vᵢ are their differences. Create
// it with NewCone. It goes with no regulariser.
type Cone struct {
	d       int
	rows    []matrix.Direction
	norms   []float64
	longest float64
	gram    *mat.SymDense
	// least is a proven lower bound on the least singular value of the vᵢ together.
	least float64
}

// NewCone returns {θ ∈ ℝᵈ : vᵢᵀθ ≥ 0}.
//
// Errors: *matrix.DataError, also if the vᵢ are not provably independent.
func NewCone(d int, rows []matrix.Direction) (*Cone, error) {
	m := len(rows)
	c := &Cone{d: d, rows: rows, norms: make([]float64, m)}
	if m == 0 {
		return nil, dataError("a cone wants a direction at least")
	}
	all := mat.NewDense(m, d, nil)
	for i, v := range rows {
		if v.First < 0 || v.First+len(v.Weights) > d || !matrix.Finite(v.Weights...) {
			return nil, dataError("direction %d of the cone is not one of %d coordinates", i, d)
		}
		v.Add(all.RawRowView(i), 1)
		c.norms[i] = floats.Norm(v.Weights, 2) * (1 + edge(d))
		c.longest = math.Max(c.longest, c.norms[i])
	}
	c.gram = mat.NewSymDense(m, nil)
	c.gram.SymOuterK(1, all)
	// The computed products err by at most (d+2)u‖vᵢ‖‖vⱼ‖ in each entry.
	trace := mat.Trace(c.gram)
	square, ok := LeastEigenvalue(mat.NewSymDense(m, slices.Clone(c.gram.RawSymmetric().Data)))
	if square -= edge(d) * trace; !ok || !(square > 1e-12*trace) {
		return nil, dataError("the directions of the cone depend on each other, or nearly so")
	}
	c.least = math.Sqrt(square) * (1 - 4*unit)
	return c, nil
}

// Name returns "cone".
func (*Cone) Name() string { return "cone" }

// Validate checks d.
func (c *Cone) Validate(d int) error {
	if c.gram == nil || d != c.d {
		return dataError("the cone is one of %d coordinates, not of d = %d: make it with NewCone", c.d, d)
	}
	return nil
}

// Contains grants the rounding of a projection.
func (c *Cone) Contains(theta []float64) bool {
	size := floats.Norm(theta, 2)
	for i, v := range c.rows {
		if v.Along(theta) < -16*edge(c.d)*c.norms[i]*size {
			return false
		}
	}
	return true
}

// Project is v + Σλᵢvᵢ, λ ≥ 0 the multipliers, put on the face of those that are not 0 once more, against rounding.
func (c *Cone) Project(dst, v []float64) {
	copy(dst, v)
	slope := mat.NewVecDense(len(c.rows), nil)
	for i, row := range c.rows {
		slope.SetVec(i, row.Along(dst))
	}
	if mat.Min(slope) >= 0 {
		return
	}
	lambda, _ := nnls.Quadratic(c.gram, slope) // NewCone has proved that it is regular
	var face []int
	for i, row := range c.rows {
		if l := lambda.AtVec(i); l > 0 {
			row.Add(dst, l)
			face = append(face, i)
		}
	}
	c.onFace(dst, face)
}

// onFace moves x to where vᵢᵀx = 0 for all i of the face, by the shortest way.
func (c *Cone) onFace(x []float64, face []int) {
	if len(face) == 0 {
		return
	}
	var chol mat.Cholesky
	chol.Factorize(c.part(face))
	for range 2 {
		along := mat.NewVecDense(len(face), nil)
		for k, i := range face {
			along.SetVec(k, -c.rows[i].Along(x))
		}
		if chol.SolveVecTo(along, along) != nil {
			return
		}
		for k, i := range face {
			c.rows[i].Add(x, along.AtVec(k))
		}
	}
}

// part is the matrix of products of a face.
func (c *Cone) part(face []int) *mat.SymDense {
	g := mat.NewSymDense(len(face), nil)
	for k, i := range face {
		for l := range k + 1 {
			g.SetSym(k, l, c.gram.At(i, face[l]))
		}
	}
	return g
}

// face returns the i for which vᵢᵀθ′ = 0, and a bound on ‖θ − θ′‖, of a point θ′ of C near θ at which all others are
// positive: θ moved to where those that float64 cannot tell from 0 are 0.
func (c *Cone) face(theta []float64) (face []int, shift float64) {
	size, miss := floats.Norm(theta, 2), 0.0
	in := make([]bool, len(c.rows))
	for grown := true; grown; {
		grown = false
		for i, v := range c.rows {
			along, rounding := v.Along(theta), edge(c.d)*c.norms[i]*size
			if !in[i] && along <= 16*rounding+c.norms[i]*shift {
				in[i], grown = true, true
				face = append(face, i)
				miss = math.Hypot(miss, math.Abs(along)+rounding)
			}
		}
		shift = miss * (1 + edge(c.d)) / c.least
	}
	slices.Sort(face)
	return face, shift
}

// Nearest projects on {−Σλᵢvᵢ : λ ≥ 0} over the i with vᵢᵀθ = 0.
func (c *Cone) Nearest(dst, v, theta []float64) {
	face, _ := c.face(theta)
	c.normal(dst, v, face)
}

// normal writes the point of {−Σλᵢvᵢ : λ ≥ 0}, over a face, that is nearest to v to dst, and returns λ.
func (c *Cone) normal(dst, v []float64, face []int) []float64 {
	if len(face) == 0 {
		clear(dst)
		return nil
	}
	slope := mat.NewVecDense(len(face), nil)
	for k, i := range face {
		slope.SetVec(k, c.rows[i].Along(v))
	}
	clear(dst)
	lambda, _ := nnls.Quadratic(c.part(face), slope)
	for k, i := range face {
		c.rows[i].Add(dst, -lambda.AtVec(k))
	}
	return lambda.RawVector().Data
}

// Gap moves v to −Σλᵢvᵢ, λ ≥ 0, of which ⟨v, x⟩ ≤ 0 on C: the gap is Σλᵢvᵢᵀθ.
func (c *Cone) Gap(v, theta []float64) (slack, rounding float64) {
	all := make([]int, len(c.rows))
	for i := range all {
		all[i] = i
	}
	size := floats.Norm(theta, 2)
	for i, l := range c.normal(v, slices.Clone(v), all) {
		slack += l * (math.Max(0, c.rows[i].Along(theta)) + edge(c.d)*c.norms[i]*size)
	}
	return up(slack, len(all)), c.rounding(v)
}

// rounding bounds how far v is as computed from −Σλᵢvᵢ: (m+2)u·Σλᵢ‖vᵢ‖ of m, ‖λ‖ ≤ ‖v‖/least.
func (c *Cone) rounding(v []float64) float64 {
	m := float64(len(c.rows))
	return 2 * (m + 2) * unit * math.Sqrt(m) * c.longest / c.least * floats.Norm(v, 2)
}

// coneStep minimises the quadratic model over a cone: with p Newton's step and W = H⁻¹D, D the vᵢ as columns,
// x = x̄ + p + Wλ, where λ ≥ 0 makes ½λᵀDᵀWλ + λᵀDᵀ(x̄ + p) least.
type coneStep struct {
	m *model
	c *Cone
	x []float64
}

func (*coneStep) name() string  { return "multipliers" }
func (*coneStep) renew(float64) {}

func (s *coneStep) minimise(_, _ float64, _ *pair) []float64 {
	s.solve()
	return s.x
}

// solve sets x, on the face of the multipliers that are not 0.
func (s *coneStep) solve() {
	d, m := s.m.d, len(s.c.rows)
	chol := slices.Clone(s.m.h)
	s.m.factors++
	t, ok := factor(chol, d)
	copy(s.x, s.m.centre)
	if !ok {
		return
	}
	step := make([]float64, d)
	floats.AddScaled(step, -1, s.m.bar)
	solveFactored(t, step)
	floats.Add(s.x, step)
	w, q, slope := make([][]float64, m), mat.NewDense(m, m, nil), mat.NewVecDense(m, nil)
	for i, v := range s.c.rows {
		w[i] = make([]float64, d)
		v.Add(w[i], 1)
		solveFactored(t, w[i])
		slope.SetVec(i, v.Along(s.x))
		for j, u := range s.c.rows {
			q.Set(j, i, u.Along(w[i]))
		}
	}
	lambda, ok := nnls.Quadratic(q, slope)
	var face []int
	for i := range w {
		if ok && lambda.AtVec(i) > 0 {
			floats.AddScaled(s.x, lambda.AtVec(i), w[i])
			face = append(face, i)
		}
	}
	s.c.onFace(s.x, face)
	s.c.Project(s.x, s.x)
}
