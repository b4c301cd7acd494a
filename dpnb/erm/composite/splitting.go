package composite

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/dpnb/notebooks/dpnb/internal/kernel"
)

const (
	// maxSplits bounds the steps of splitting.solve.
	maxSplits = 20000
	// checkEvery steps the certificate is looked at, and the penalty.
	checkEvery = 10
	// patience is the number of steps that must gain a tenth.
	patience = 400
	// maxPenalties bounds how often the matrix is factored again.
	maxPenalties = 12
	// relaxation of the alternating directions method.
	relaxation = 1.6
)

// splitting minimises model + r + ι_C by the alternating directions method of multipliers (Boyd et al. 2011): x is
// copied once where the proximal map of r + ι_C is known, else once for r and once for C,
//
//	x = x̄ + (H + kπI)⁻¹(π Σ(zₖ − uₖ − x̄) − ḡ),
//	zₖ = prox(x + uₖ),  uₖ ← uₖ + x − zₖ,
//
// with over-relaxation, and a penalty π that keeps the two residuals of one size. πuₖ is a subgradient at zₖ.
type splitting struct {
	o        *objective
	m        *model
	penalty  float64
	inverse  []float64
	blocks   []block
	p        *pair
	x, sum   []float64
	theta, g []float64
	// manifold polishes structural pairs; nil for others.
	manifold *manifold
}

type block struct {
	prox       func(dst, v []float64, step float64)
	z, u, last []float64
}

func newSplitting(o *objective, m *model) *splitting {
	d := m.d
	v := func() []float64 { return make([]float64, d) }
	s := &splitting{o: o, m: m, inverse: make([]float64, d*d), p: newPair(d), x: v(), sum: v(), theta: v(), g: v()}
	project := func(dst, v []float64, _ float64) { o.c.Project(dst, v) }
	if joint, ok := jointProx(o.r, o.c); ok {
		s.blocks = []block{{joint, v(), v(), v()}}
	} else {
		s.blocks = []block{{o.r.Prox, v(), v(), v()}, {project, v(), v(), v()}}
	}
	if structural(o.r, o.c) {
		s.manifold = newManifold(s)
	}
	return s
}

// jointProx returns the proximal map of r + ι_C, if it is known: one of the two is zero; or r is a norm and C a ball,
// since v = x + s + νx with s ∈ ∂r(x) says that (1+ν)x = prox_r(v); or both are sums over coordinates, since a convex
// function on an interval is least where the cut of its minimiser is; or r is ω‖·‖₁, constant on the simplex.
func jointProx(r Regulariser, c Projector) (prox func(dst, v []float64, step float64), ok bool) {
	after := func(dst, v []float64, step float64) {
		r.Prox(dst, v, step)
		c.Project(dst, dst)
	}
	switch r.(type) {
	case None:
		return after, true
	case L1, L2, GroupL1:
		if _, ball := c.(Ball); ball {
			return after, true
		}
	}
	if _, ok := c.(Everywhere); ok || intervals(r, c) {
		return after, true
	}
	if _, l1 := r.(L1); l1 {
		if _, simplex := c.(Simplex); simplex {
			return func(dst, v []float64, _ float64) { c.Project(dst, v) }, true
		}
	}
	return nil, false
}

func (*splitting) name() string { return "alternating directions" }

func (s *splitting) minimise(tol, modulus float64, found *pair) []float64 {
	s.solve(tol, modulus)
	copy(found.s, s.p.s)
	copy(found.v, s.p.v)
	return s.theta
}

// renew forgets the penalty.
func (s *splitting) renew(modulus float64) {
	s.m.estimateTop()
	// Between the geometric mean of the extreme eigenvalues, which is best on a quadratic, and a thousandth of the
	// largest.
	s.penalty = math.Sqrt(s.m.top*math.Max(modulus, 1e-6*s.m.top)) / float64(len(s.blocks))
	s.invert()
}

// invert makes (H + kπI)⁻¹. It only steers the search.
func (s *splitting) invert() bool {
	d := s.m.d
	for {
		copy(s.inverse, s.m.h)
		for j := range d {
			s.inverse[j*d+j] += float64(len(s.blocks)) * s.penalty
		}
		s.m.factors++
		t, ok := factor(s.inverse, d)
		if ok {
			_, ok = lapack64.Potri(blas64.Triangular{N: d, Stride: d, Data: t.Data, Uplo: blas.Upper,
				Diag: blas.NonUnit})
		}
		if ok {
			kernel.Mirror(s.inverse, d)
			return true
		}
		if s.penalty > 1e300 || math.IsNaN(s.penalty) {
			return false
		}
		s.penalty = 10 * math.Max(s.penalty, 1e-300)
	}
}

// solve moves theta from the centre of the model, and the multipliers from where they are, until the certificate of the
// model is at most tol.
func (s *splitting) solve(tol, modulus float64) {
	for k := range s.blocks {
		copy(s.blocks[k].z, s.m.centre)
	}
	penalties := 0
	best := math.Inf(1)
	for step := 1; step <= maxSplits; step++ {
		s.m.steps++
		primal, dual := s.step()
		if step%checkEvery != 0 {
			continue
		}
		s.candidate()
		s.m.gradient(s.g, s.theta)
		bound := s.o.certify(s.theta, s.g, 0, s.p, modulus).Bound()
		if bound <= tol {
			return
		}
		if s.manifold != nil && (step == 3*checkEvery || step%(10*checkEvery) == 0) && s.manifold.polish(tol, modulus) {
			return
		}
		factor := 1.0
		if step%patience == 0 {
			if bound > 0.9*best {
				if s.manifold == nil || penalties == maxPenalties {
					return // nothing more to be had in float64
				}
				factor = 10
				if primal < dual {
					factor = 0.1
				}
			}
			best = bound
		}
		uneven := primal > 0 && dual > 0 && !(primal <= 5*dual && dual <= 5*primal)
		if ratio := primal / dual; uneven && penalties < maxPenalties && step%(5*checkEvery) == 0 {
			factor = cut(math.Sqrt(ratio), 0.1, 10)
		}
		if factor != 1 {
			penalties++
			s.penalty *= factor
			if !s.invert() {
				return
			}
			for k := range s.blocks {
				floats.Scale(1/factor, s.blocks[k].u)
			}
		}
	}
}

// step makes one step and returns ‖x − z‖/‖z‖ and ‖z − z₋‖/‖u‖: the two residuals in units of what they are to vanish
// beside.
func (s *splitting) step() (primal, dual float64) {
	var zz, uu float64
	clear(s.sum)
	for _, b := range s.blocks {
		for j, z := range b.z {
			s.sum[j] += z - b.u[j] - s.m.centre[j]
		}
	}
	for j, g := range s.m.bar {
		s.sum[j] = s.penalty*s.sum[j] - g
	}
	kernel.Margins(s.x, s.inverse, s.sum)
	floats.Add(s.x, s.m.centre)
	for _, b := range s.blocks {
		copy(b.last, b.z)
		for j, x := range s.x {
			b.u[j] += relaxation*x + (1-relaxation)*b.z[j]
		}
		b.prox(b.z, b.u, 1/s.penalty)
		floats.Sub(b.u, b.z)
		for j, z := range b.z {
			primal += (s.x[j] - z) * (s.x[j] - z)
			dual += (z - b.last[j]) * (z - b.last[j])
			zz += z * z
			uu += b.u[j] * b.u[j]
		}
	}
	return math.Sqrt(primal / zz), math.Sqrt(dual / uu)
}

// candidate sets theta, a point of C with the zeros that r made, and the pair.
func (s *splitting) candidate() {
	first := &s.blocks[0]
	if len(s.blocks) == 1 {
		copy(s.theta, first.z)
		clear(s.p.s)
		if point(s.o.c) {
			floats.ScaleTo(s.p.s, s.penalty, first.u)
		}
		floats.ScaleTo(s.p.v, s.penalty, first.u)
		floats.Sub(s.p.v, s.p.s)
		return
	}
	// The bounds of C and the zeros of r, both exactly.
	for j, z := range s.blocks[1].z {
		if first.z[j] == 0 {
			z = 0
		}
		s.theta[j] = z
	}
	if c, ok := s.o.c.(Simplex); ok {
		floats.Scale(c.Sum/floats.Sum(s.theta), s.theta)
	} else {
		s.o.c.Project(s.theta, s.theta)
	}
	floats.ScaleTo(s.p.s, s.penalty, first.u)
	floats.ScaleTo(s.p.v, s.penalty, s.blocks[1].u)
}
