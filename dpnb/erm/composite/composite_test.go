package composite

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// setting is one problem of the table that all solvers are held against.
type setting struct {
	name string
	p    *Problem
	// modulus is λ + λ_min(Q), by gonum's eigenvalues.
	modulus float64
}

// random returns a problem with n records, d features and a Wishart Q.
func random(rng *rand.Rand, n, d int, l loss.Loss, r Regulariser, c Constraint) setting {
	rows := matrix.NewDense(n, d, nil)
	for i := range rows.Data {
		rows.Data[i] = rng.NormFloat64()
	}
	p := &Problem{
		Problem: erm.Problem{Rows: rows, Labels: make([]float64, n), Loss: l, Lambda: 0.1,
			Centre: make([]float64, d), Linear: make([]float64, d), Quadratic: wishart(rng, d, 2*d, 1)},
		Regulariser: r,
		Constraint:  c,
	}
	for i := range p.Labels {
		p.Labels[i] = math.Copysign(1, rng.NormFloat64())
		if _, ok := l.(loss.Squared); ok {
			p.Labels[i] = 3 * rng.NormFloat64()
		}
	}
	for j := range d {
		p.Centre[j] = rng.NormFloat64()
		p.Linear[j] = rng.NormFloat64()
	}
	name := l.Name()
	if r != nil {
		name += ", " + r.Name()
	}
	if c != nil {
		name += ", " + c.Name()
	}
	return setting{fmt.Sprintf("%s, d=%d", name, d), p, p.Lambda + least(p.Quadratic)}
}

func wishart(rng *rand.Rand, d, m int, scale float64) *mat.SymDense {
	g := mat.NewDense(d, m, nil)
	for i := range d {
		for j := range m {
			g.Set(i, j, rng.NormFloat64())
		}
	}
	var w mat.SymDense
	w.SymOuterK(scale, g)
	return &w
}

func least(q *mat.SymDense) float64 {
	var e mat.EigenSym
	if !e.Factorize(q, false) {
		panic("no eigenvalues")
	}
	return e.Values(nil)[0]
}

// table has every regulariser with every constraint, and two losses.
func table(d int, seed uint64) []setting {
	rng := rand.New(rand.NewPCG(seed, 1))
	regularisers := []Regulariser{nil, L1{4}, L2{6}, GroupL1{3, []int{2, 1, d - 4}}, honest{L1{2}}}
	lower, upper := make([]float64, d), make([]float64, d)
	for j := range d {
		lower[j], upper[j] = -0.4+0.1*float64(j%5), 0.3
	}
	lower[1] = math.Inf(-1)
	constraints := []Constraint{nil, NewBox(0.3), Box{Lower: lower, Upper: upper}, Ball{0.5}, Ball{50}, Simplex{1},
		unknown{NewBox(0.3)}, simpleAffine(d)}
	var all []setting
	for _, l := range []loss.Loss{loss.Squared{}, loss.Logistic{}} {
		for _, r := range regularisers {
			for _, c := range constraints {
				all = append(all, random(rng, 4*d, d, l, r, c))
			}
		}
		all = append(all, random(rng, 4*d, d, l, nil, rising(d)))
	}
	return all
}

// reference solves by deterministic three-operator splitting, another method: only the proximal maps are shared.
func reference(t *testing.T, s setting) []float64 {
	t.Helper()
	o := must.Get(newObjective(s.p, 1))
	x, theta, z, g := make([]float64, o.d), make([]float64, o.d), make([]float64, o.d), make([]float64, o.d)
	h := make([]float64, o.d*o.d)
	o.h.Hessian(h, x)
	step := 1 / (1.1 * powerMethod(h, o.d, 60))
	for range 20000 {
		o.r.Prox(theta, x, step)
		o.eval(g, theta)
		for j := range z {
			z[j] = 2*theta[j] - x[j] - step*g[j]
		}
		o.c.Project(z, z)
		moved := floats.Distance(z, theta, 2)
		for j := range x {
			x[j] += 1.3 * (z[j] - theta[j])
		}
		if moved < 1e-13 {
			break
		}
	}
	o.c.Project(theta, theta)
	return theta
}

// Solve reaches its tolerance on the whole table, finds what another method finds, and its certificate is honest: the
// minimiser is no farther than Distance and J no more above it than Gap, at loose tolerances as well.
func TestSolveTable(t *testing.T) {
	count, closest := 0, 0.0
	for _, d := range []int{6, 15} {
		for _, s := range table(d, 3) {
			tight := 1e-8
			if !structural(s.p.regulariser(), s.p.projector()) {
				tight = 3e-5 // what rounding leaves of a slack
			}
			star, err := Solve(s.p, &Settings{Tolerance: tight, Modulus: s.modulus})
			if err != nil {
				t.Errorf("%s: %v", s.name, err)
				continue
			}
			ref := reference(t, s)
			if dist := floats.Distance(star.Theta, ref, 2); dist > star.Certificate.Distance()+1e-9 {
				t.Errorf("%s: %v from what another method finds, certified %v", s.name, dist,
					star.Certificate.Distance())
			}
			if !s.p.projector().Contains(star.Theta) {
				t.Errorf("%s: outside the constraint", s.name)
			}
			if s.p.Regulariser == nil && s.p.Constraint == nil {
				checkStationary(t, s, star)
			}
			for _, tol := range []float64{10, 0.1, 1e-3} {
				got, err := Solve(s.p, &Settings{Tolerance: tol, Modulus: s.modulus})
				if err != nil {
					t.Errorf("%s: %v", s.name, err)
					continue
				}
				count++
				dist, gap := floats.Distance(got.Theta, star.Theta, 2), got.Value-star.Value
				closest = math.Max(closest, dist/got.Certificate.Distance())
				if slack := star.Certificate.Distance(); dist > got.Certificate.Distance()+slack {
					t.Errorf("%s: %v from the minimiser, certified %v", s.name, dist, got.Certificate.Distance())
				}
				if gap > got.Certificate.Gap()+star.Certificate.Gap()+1e-12*math.Abs(star.Value) {
					t.Errorf("%s: J is %v above the minimum, certified %v", s.name, gap, got.Certificate.Gap())
				}
			}
		}
	}
	if count < 380 || closest < 0.3 {
		t.Errorf("only %d certificates were checked, the largest share of Distance was %v", count, closest)
	}
}

// checkStationary holds an interior solution against the equations.
func checkStationary(t *testing.T, s setting, got *Solution) {
	t.Helper()
	if _, ok := s.p.Loss.(loss.Squared); !ok {
		return
	}
	n, d := s.p.Rows.Dims()
	x := mat.NewDense(n, d, s.p.Rows.(*matrix.Dense).Data)
	var h mat.SymDense
	h.SymOuterK(1, x.T())
	h.AddSym(&h, s.p.Quadratic)
	rhs := mat.NewVecDense(d, nil)
	rhs.MulVec(x.T(), mat.NewVecDense(n, s.p.Labels))
	var qc, theta mat.VecDense
	qc.MulVec(s.p.Quadratic, mat.NewVecDense(d, s.p.Centre))
	rhs.AddVec(rhs, &qc)
	rhs.SubVec(rhs, mat.NewVecDense(d, s.p.Linear))
	for j := range d {
		h.SetSym(j, j, h.At(j, j)+s.p.Lambda)
	}
	must.Do(theta.SolveVec(&h, rhs))
	if dist := floats.Distance(theta.RawVector().Data, got.Theta, 2); dist > 1e-11 {
		t.Errorf("%s: %v from the solution of the linear system", s.name, dist)
	}
}

// One and two dimensions on a grid, for sets and regularisers that have no enumeration.
func TestAgainstGrid(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for _, c := range []struct {
		r Regulariser
		c Constraint
	}{
		{L2{3}, Ball{0.6}}, {L1{2}, Ball{0.6}}, {L2{2}, NewBox(0.4)}, {L2{2}, Simplex{0.8}},
		{honest{L1{2}}, unknown{NewBox(0.4)}}, {L2{2}, Box{Lower: []float64{-0.5, 0.1}}},
		{GroupL1{2, []int{1, 1}}, Box{Lower: []float64{-0.5, 0.1}}},
		{GroupL1{2, []int{1}}, NewBox(0.4)},
	} {
		s := random(rng, 5, 2, loss.Huber{Threshold: 1}, c.r, c.c)
		s.p.Labels = []float64{1, -2, 0.5, 3, 0}
		got, err := Solve(s.p, &Settings{Tolerance: 1e-5, Modulus: s.modulus})
		if err != nil {
			t.Errorf("%s: %v", s.name, err)
			continue
		}
		o := must.Get(newObjective(s.p, 1))
		// The grid is projected, so that boundaries are met.
		best, g := math.Inf(1), make([]float64, 2)
		for a := -0.8; a <= 0.8; a += 0.01 {
			for b := -0.8; b <= 0.8; b += 0.01 {
				x := []float64{a, b}
				o.c.Project(x, x)
				v, _ := o.eval(g, x)
				best = math.Min(best, v)
			}
		}
		if got.Value > best+1e-9 || got.Value < best-0.05*(1+math.Abs(best)) {
			t.Errorf("%s: J = %v, the grid finds %v", s.name, got.Value, best)
		}
	}
}
