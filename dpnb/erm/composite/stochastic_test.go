package composite

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// With one record the method is deterministic and converges to what Solve finds, whatever the regulariser and the
// constraint.
func TestStochasticOnOneRecord(t *testing.T) {
	testscale.Slow(t)
	for _, s := range table(6, 11) {
		one := *s.p
		one.Rows, one.Labels = matrix.NewDense(1, 6, s.p.Rows.(*matrix.Dense).Data[:6]), s.p.Labels[:1]
		star, err := Solve(&one, &Settings{Tolerance: 1e-5, Modulus: s.modulus})
		if err != nil {
			t.Errorf("%s: %v", s.name, err)
			continue
		}
		got, err := Stochastic(&one, &StochasticSettings{Indices: rand.New(rand.NewPCG(1, 1)), Iterations: 6000,
			Decay: 1e-9, Modulus: s.modulus})
		if err != nil {
			t.Errorf("%s: %v", s.name, err)
			continue
		}
		if dist := floats.Distance(got.Theta, star.Theta, 2); dist > 1e-6+star.Certificate.Distance() {
			t.Errorf("%s: %v from the minimiser", s.name, dist)
		}
		if dist := floats.Distance(got.Theta, star.Theta,
			2); dist > got.Certificate.Distance()+star.Certificate.Distance() {
			t.Errorf("%s: %v from the minimiser, certified %v", s.name, dist, got.Certificate.Distance())
		}
	}
}

// Without a constraint, over an affine one, and with others by the joint map, the method comes nearer the longer it
// runs. As printed it stays off the minimiser over a box. At any time the certificate is honest.
func TestStochasticConverges(t *testing.T) {
	testscale.Slow(t)
	for _, c := range []struct {
		c         Constraint
		joint     bool
		converges bool
	}{{nil, false, true}, {simpleAffine(6), false, true}, {NewBox(0.8), true, true}, {NewBox(0.8), false, false},
		{Ball{1}, true, true}} {
		s := random(rand.New(rand.NewPCG(5, 1)), 40, 6, loss.Squared{}, L1{1}, c.c)
		star := must.Get(Solve(s.p, &Settings{Tolerance: 1e-5, Modulus: s.modulus}))
		var dists []float64
		for _, k := range []int{1, 1000, 200_000} {
			got := must.Get(Stochastic(s.p, &StochasticSettings{Indices: rand.New(rand.NewPCG(2, 1)), Iterations: k,
				Modulus: s.modulus, Joint: c.joint}))
			dist := floats.Distance(got.Theta, star.Theta, 2)
			if dist > got.Certificate.Distance()+star.Certificate.Distance() || !s.p.projector().Contains(got.Theta) {
				t.Errorf("%s: after %d iterations %v from the minimiser, certified %v", s.name, k, dist,
					got.Certificate.Distance())
			}
			dists = append(dists, dist)
		}
		if converges := dists[2] < 0.05*dists[0] && dists[2] < 0.5*dists[1]; converges != c.converges {
			t.Errorf("%s, joint %v: distances %v", s.name, c.joint, dists)
		}
	}
	p := random(rand.New(rand.NewPCG(5, 1)), 40, 6, loss.Squared{}, L2{1}, NewBox(1)).p
	if _, err := Stochastic(p, &StochasticSettings{Indices: rand.New(rand.NewPCG(2, 1)), Joint: true}); err == nil {
		t.Error("a joint map that is not known is used")
	}
}

// The smallest case in which Algorithm G.2 settles off the minimiser: labels 1 and −1.2, θ ≥ 0, minimiser 0. With ρ =
// 1/Lip = 1/2 the projection returns max(0, yᵢ) for the record i that is drawn, and θ tends to the mean, 1/2.
func TestPrintedAlgorithmIsBiased(t *testing.T) {
	testscale.Slow(t)
	p := &Problem{Problem: erm.Problem{Rows: matrix.NewDense(2, 1, []float64{1, 1}), Labels: []float64{1, -1.2},
		Loss: loss.Squared{}}, Constraint: Box{Lower: []float64{0}}}
	star, err := Solve(p, nil)
	if err != nil || star.Theta[0] != 0 {
		t.Fatalf("minimiser %v, %v", star.Theta, err)
	}
	for _, c := range []struct {
		joint bool
		want  float64
	}{{false, 0.5}, {true, 0}} {
		got := must.Get(Stochastic(p, &StochasticSettings{Indices: rand.New(rand.NewPCG(1, 1)), Iterations: 1_000_000,
			Joint: c.joint}))
		if !(math.Abs(got.Theta[0]-c.want) <= 0.06) {
			t.Errorf("joint %v: θ = %v, want about %v", c.joint, got.Theta[0], c.want)
		}
	}
}

func TestStochasticIsReproducible(t *testing.T) {
	p := paperProblem(1, 60, 10, 100, 1)
	run := func(seed uint64) []float64 {
		s := must.Get(Stochastic(p, &StochasticSettings{Indices: rand.New(rand.NewPCG(seed, 0)), Iterations: 50}))
		return s.Theta
	}
	if !slices.Equal(run(1), run(1)) || slices.Equal(run(1), run(2)) {
		t.Error("the seed does not decide")
	}
}

// Loops allocate nothing.
func TestNoAllocationInLoops(t *testing.T) {
	for _, c := range []Constraint{NewBox(0.5), Ball{1}, Simplex{1}} {
		s := random(rand.New(rand.NewPCG(5, 2)), 40, 10, loss.Logistic{}, L2{1}, c)
		r := must.Get(newSearch(s.p, Settings{Modulus: s.modulus, Workers: 1}))
		must.Do(r.begin())
		op := newThreeOperators(r.o, StochasticSettings{Step: 1e-3})
		if n := testing.AllocsPerRun(100, func() { op.step(3, 0.5) }); n != 0 {
			t.Errorf("%s: a stochastic step allocates %v times", s.name, n)
		}
		r.o.h.Hessian(r.m.h, r.x)
		copy(r.m.bar, r.g)
		split := r.inner.(*splitting)
		split.renew(s.modulus)
		if n := testing.AllocsPerRun(100, func() {
			split.step()
			split.candidate()
			r.o.certify(split.theta, r.g, 0, split.p, s.modulus)
		}); n != 0 {
			t.Errorf("%s: a splitting step allocates %v times", s.name, n)
		}
		if n := testing.AllocsPerRun(20, func() { split.manifold.polish(0, s.modulus) }); n != 0 {
			t.Errorf("%s: a polish allocates %v times", s.name, n)
		}
	}
	s := random(rand.New(rand.NewPCG(5, 2)), 40, 10, loss.Squared{}, L1{1}, NewBox(0.5))
	r := must.Get(newSearch(s.p, Settings{Workers: 1}))
	must.Do(r.begin())
	r.o.h.Hessian(r.m.h, r.x)
	copy(r.m.bar, r.g)
	active := r.inner.(*activeSet)
	active.renew(0)
	if n := testing.AllocsPerRun(20, func() {
		var norm float64
		active.solve(1e-6)
		active.pivot(&norm)
		active.faceByFace(&norm, 0)
	}); n != 0 {
		t.Errorf("the active set allocates %v times", n)
	}
}

func TestLeastEigenvalue(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for _, d := range []int{1, 2, 10, 60} {
		for _, scale := range []float64{1e-8, 1, 1e9} {
			q := wishart(rng, d, 2*d, scale)
			low := least(q)
			got, ok := LeastEigenvalue(q)
			if !ok || got > low*(1+1e-12) || got < low*(1-1e-6) {
				t.Errorf("d=%d: %v, %v; gonum says %v", d, got, ok, low)
			}
		}
	}
	singular := wishart(rng, 6, 3, 1)
	if got, ok := LeastEigenvalue(singular); ok && got > 1e-12 {
		t.Errorf("a singular matrix has λ_min ≥ %v", got)
	}
	singular.SetSym(2, 2, math.NaN())
	if _, ok := LeastEigenvalue(singular); ok {
		t.Error("NaN has a least eigenvalue")
	}
}

// What 1,000 iterations leave of the problem of qop's appendix G.3: the slowest direction has shrunk by e⁻² only
// (docs/theory/composite.md).
func TestPaperRunIsNotAtTheMinimum(t *testing.T) {
	p := paperProblem(1, 300, 100, 1.1747e5, 10)
	mu, ok := LeastEigenvalue(p.Quadratic)
	if !ok {
		t.Fatal("no least eigenvalue")
	}
	star := must.Get(Solve(p, &Settings{Modulus: mu, Tolerance: 1e-2}))
	got := must.Get(Stochastic(p, &StochasticSettings{Indices: rand.New(rand.NewPCG(1, 2)), Modulus: mu}))
	dist, gap := floats.Distance(got.Theta, star.Theta, 2), got.Value-star.Value
	if dist < 0.05 || dist > 0.15 || gap < 5e3 || gap > 2e4 || star.Certificate.Gap() > 1e-10 {
		t.Errorf("%v from the minimiser, J̃ %v above the minimum, which is certified to %v", dist, gap,
			star.Certificate.Gap())
	}
	if dist > got.Certificate.Distance() || gap > got.Certificate.Gap() {
		t.Errorf("certified %v and %v, found %v and %v", got.Certificate.Distance(), got.Certificate.Gap(), dist, gap)
	}
}
