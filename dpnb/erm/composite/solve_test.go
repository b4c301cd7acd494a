package composite

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// membership is a constraint that nobody can project on.
type membership struct{}

func (membership) Name() string            { return "membership" }
func (membership) Validate(int) error      { return nil }
func (membership) Contains([]float64) bool { return true }

func TestBadInputIsRefused(t *testing.T) {
	good := func() *Problem {
		return random(rand.New(rand.NewPCG(1, 1)), 8, 4, loss.Logistic{}, L1{1}, NewBox(1)).p
	}
	open := func() *Problem { // no strong convexity is known, and a slack remains
		p := good()
		p.Lambda, p.Regulariser = 0, honest{L1{1}}
		return p
	}
	for name, c := range map[string]struct {
		change   func(*Problem)
		settings Settings
		says     string
	}{
		"no rows":             {func(p *Problem) { p.Rows = nil }, Settings{}, "needs rows"},
		"a wrong label":       {func(p *Problem) { p.Labels[3] = 0.5 }, Settings{}, "the label of record 3"},
		"a missing label":     {func(p *Problem) { p.Labels = p.Labels[1:] }, Settings{}, "7 labels"},
		"a negative lambda":   {func(p *Problem) { p.Lambda = -1 }, Settings{}, "Lambda"},
		"an anchor too short": {func(p *Problem) { p.Centre = p.Centre[1:] }, Settings{}, "centre has length 3"},
		"a NaN anchor":        {func(p *Problem) { p.Centre[0] = math.NaN() }, Settings{}, "not finite"},
		"a long linear term": {func(p *Problem) { p.Linear = make([]float64, 5) }, Settings{},
			"linear term has length 5"},
		"a quadratic too large": {func(p *Problem) { p.Quadratic = mat.NewSymDense(5, nil) }, Settings{}, "order 5"},
		"an infinite quadratic": {func(p *Problem) { p.Quadratic.SetSym(1, 2, math.Inf(1)) }, Settings{}, "not finite"},
		"a concave quadratic":   {func(p *Problem) { p.Quadratic.SetSym(2, 2, -1) }, Settings{}, "semidefinite"},
		"no projection":         {func(p *Problem) { p.Constraint = membership{} }, Settings{}, "no projection"},
		"an empty box":          {func(p *Problem) { p.Constraint = NewBox(-1) }, Settings{}, "empty"},
		"bounds of wrong length": {func(p *Problem) { p.Constraint = Box{Lower: []float64{0, 0}} }, Settings{},
			"2 bounds"},
		"no ball":                   {func(p *Problem) { p.Constraint = Ball{} }, Settings{}, "radius"},
		"a cone with a regulariser": {func(p *Problem) { p.Constraint = rising(4) }, Settings{}, "no regulariser"},
		"a cone of wrong length": {func(p *Problem) { p.Constraint, p.Regulariser = rising(5), nil }, Settings{},
			"not of d = 4"},
		"no simplex":        {func(p *Problem) { p.Constraint = Simplex{-1} }, Settings{}, "sum"},
		"a negative weight": {func(p *Problem) { p.Regulariser = L1{-1} }, Settings{}, "weight"},
		"an unbounded curvature": {func(p *Problem) {
			p.Loss = loss.Poisson{MaxCount: 3}
			p.Labels = make([]float64, 8)
		}, Settings{}, "clip it"},
		"a record with NaN": {func(p *Problem) { p.Rows.(*matrix.Dense).Data[5] = math.NaN() }, Settings{},
			"not finite"},
		"a short start":        {func(*Problem) {}, Settings{Start: []float64{1}}, "start has length 1"},
		"a NaN start":          {func(*Problem) {}, Settings{Start: []float64{1, 2, 3, math.NaN()}}, "start"},
		"a negative tolerance": {func(*Problem) {}, Settings{Tolerance: -1}, "Tolerance"},
		"a NaN modulus":        {func(*Problem) {}, Settings{Modulus: math.NaN()}, "Modulus"},
		"no modulus for slack": {func(p *Problem) { *p = *open() }, Settings{}, "state Modulus"},
	} {
		p := good()
		c.change(p)
		_, err := Solve(p, &c.settings)
		var data *matrix.DataError
		if !errors.As(err, &data) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want a DataError that says %q", name, err, c.says)
		}
	}
	for name, c := range map[string]struct {
		a *mat.Dense
		b []float64
	}{
		"dependent rows": {mat.NewDense(2, 3, []float64{1, 2, 3, 2, 4, 6}), []float64{1, 2}},
		"too many rows":  {mat.NewDense(2, 1, []float64{1, 2}), []float64{1, 2}},
		"a short b":      {mat.NewDense(1, 2, []float64{1, 2}), nil},
		"a NaN":          {mat.NewDense(1, 2, []float64{1, math.NaN()}), []float64{1}},
	} {
		if _, err := NewAffine(c.a, c.b); err == nil {
			t.Errorf("an affine subspace with %s is accepted", name)
		}
	}
	if _, err := Verify(good(), []float64{0, 0, 0, 2}, 1); err == nil {
		t.Error("a point outside the box has a certificate")
	}
	if _, err := Stochastic(good(), nil); err == nil {
		t.Error("Stochastic runs without a source")
	}
}

// A tolerance that float64 cannot certify ends in ErrTolerance with the best point, and so does a budget of passes.
func TestToleranceNotReached(t *testing.T) {
	testscale.Slow(t)
	for k, s := range table(6, 5) {
		if k%4 != 0 {
			continue
		}
		for _, settings := range []Settings{{Tolerance: 1e-17, Modulus: s.modulus},
			{Tolerance: 1e-7, Modulus: s.modulus, MaxPasses: 1}} {
			got, err := Solve(s.p, &settings)
			if err == nil && got.Certificate.Bound() <= settings.Tolerance {
				continue // all coordinates at bounds: there is nothing to round
			}
			if !errors.Is(err, erm.ErrTolerance) {
				t.Fatalf("%s: %v", s.name, err)
			}
			if got == nil || math.IsNaN(got.Value) || floats.HasNaN(got.Theta) || !s.p.projector().Contains(got.Theta) {
				t.Errorf("%s: no usable point: %+v", s.name, got)
			}
		}
	}
}

// brokenProx is a regulariser of somebody else with a prox that is not its own.
type brokenProx struct{ L1 }

func (r brokenProx) Prox(dst, v []float64, step float64) { r.L1.Prox(dst, v, 2*step) }

// honest is L1 by its methods only, without what the package knows of L1.
type honest struct{ L1 }

// A solver that is led astray certifies nothing.
func TestBrokenProxIsNotCertified(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 1))
	for _, c := range []Constraint{nil, NewBox(0.9), Ball{1}} {
		s := random(rng, 20, 5, loss.Squared{}, honest{L1{3}}, c)
		good, err := Solve(s.p, &Settings{Tolerance: 1e-4, Modulus: s.modulus})
		if err != nil {
			t.Errorf("%s: %v", s.name, err)
			continue
		}
		s.p.Regulariser = brokenProx{L1{3}}
		bad, err := Solve(s.p, &Settings{Tolerance: 1e-4, Modulus: s.modulus})
		if !errors.Is(err, erm.ErrTolerance) {
			t.Errorf("%s: the wrong prox passes: %v", s.name, err)
			continue
		}
		if d := floats.Distance(good.Theta, bad.Theta, 2); d > bad.Certificate.Distance()+good.Certificate.Distance() {
			t.Errorf("%s: off by %v, certified %v", s.name, d, bad.Certificate.Distance())
		}
	}
}

// The answer does not depend on the number of workers, nor does a rerun.
func TestAnyNumberOfWorkers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, c := range []Constraint{NewBox(0.05), Ball{0.1}} {
		s := random(rng, 5000, 20, loss.Logistic{}, L1{3}, c)
		var first *Solution
		for _, workers := range []int{1, 2, 3, 0} {
			got := must.Get(Solve(s.p, &Settings{Workers: workers, Modulus: s.modulus}))
			if first == nil {
				first = got
			}
			if !slices.Equal(got.Theta, first.Theta) || got.Value != first.Value ||
				got.Certificate != first.Certificate {
				t.Errorf("%s: %d workers find another answer", s.name, workers)
			}
		}
	}
}

// From the answer nothing is left to do; from near it, less than from afar.
func TestWarmStart(t *testing.T) {
	s := random(rand.New(rand.NewPCG(4, 3)), 3000, 20, loss.Logistic{}, L1{3}, NewBox(0.05))
	cold := must.Get(Solve(s.p, &Settings{Tolerance: 1e-6}))
	again, err := Solve(s.p, &Settings{Tolerance: 1e-6, Start: cold.Theta})
	if err != nil || again.Passes != 1 || !slices.Equal(again.Theta, cold.Theta) {
		t.Errorf("from the answer: %d passes, %v", again.Passes, err)
	}
	near := slices.Clone(cold.Theta)
	for j := range near {
		near[j] += 1e-5 * float64(j%3-1)
	}
	warm, err := Solve(s.p, &Settings{Tolerance: 1e-6, Start: near})
	if err != nil || warm.Passes >= cold.Passes {
		t.Errorf("from near the answer: %d passes, from afar %d, %v", warm.Passes, cold.Passes, err)
	}
	c, err := Verify(s.p, cold.Theta, 0)
	if err != nil || c != cold.Certificate {
		t.Errorf("Verify: %+v, the solver says %+v, %v", c, cold.Certificate, err)
	}
}

// The bound on the rounding of the gradient, held against sums in high precision.
func TestGradientRounding(t *testing.T) {
	testscale.Slow(t)
	rng := rand.New(rand.NewPCG(6, 3))
	largest := 0.0
	for k, scale := range []float64{1, 1e4, 1e8, 1, 1e4, 1e8} {
		s := random(rng, 30, 7, loss.Squared{}, nil, nil)
		flat := k > 2
		if flat {
			for i := range 7 {
				for j := range 7 {
					s.p.Quadratic.SetSym(i, j, math.Pi)
				}
			}
		}
		s.p.Quadratic.ScaleSym(scale, s.p.Quadratic)
		o := must.Get(newObjective(s.p, 1))
		for range 50 {
			theta, g := make([]float64, o.d), make([]float64, o.d)
			spread := math.Exp(5 * rng.NormFloat64())
			for j := range theta {
				theta[j] = s.p.Centre[j] + rng.NormFloat64()*math.Exp(5*rng.NormFloat64())
				if flat { // Qδ is next to nothing, its error is not
					theta[j] = s.p.Centre[j] + spread*[]float64{1, -1, 2, -2, 3, -3, 0}[j]
				}
			}
			_, rounding := o.eval(g, theta)
			var sum float64
			for j := range g {
				e := exactGradient(s.p, theta, j) - g[j]
				sum += e * e
			}
			if e := math.Sqrt(sum); e > rounding {
				t.Errorf("the gradient errs by %v, bound %v", e, rounding)
			} else {
				largest = math.Max(largest, e/rounding)
			}
			rounding, sum = o.h.Refine(g, theta), 0
			for j := range g {
				e := exactGradient(s.p, theta, j) - g[j]
				sum += e * e
			}
			if e := math.Sqrt(sum); e > rounding {
				t.Errorf("the refined gradient errs by %v, bound %v", e, rounding)
			}
		}
	}
	if largest < 1e-3 {
		t.Errorf("the bound is never used by more than %v", largest)
	}
}

// Where the sum over many records is not known well enough in float64 it is known in double-double.
func TestManyRecordsAreCertified(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 3))
	const n, d = 20_000, 3
	rows, labels := matrix.NewDense(n, d, nil), make([]float64, n)
	for i := range rows.Data {
		rows.Data[i] = rng.NormFloat64()
	}
	for i := range labels {
		labels[i] = float64(1 - 2*rng.IntN(2))
	}
	p := &Problem{Problem: erm.Problem{Rows: rows, Labels: labels, Loss: loss.Logistic{}, Lambda: 1},
		Regulariser: L1{Weight: 3}}
	first := must.Get(Solve(p, nil))
	tau := 0.3 * first.Certificate.Rounding
	s, err := Solve(p, &Settings{Tolerance: tau})
	if err != nil || !(s.Certificate.Bound() <= tau) {
		t.Errorf("τ = %.3g: %v", tau, err)
	}
	if dist := floats.Distance(s.Theta, first.Theta, 2); dist > first.Certificate.Distance()+s.Certificate.Distance() {
		t.Errorf("%v apart, certified %v and %v", dist, first.Certificate.Distance(), s.Certificate.Distance())
	}
}

// Verify is honest at any point of C, and close to what the solver certifies at its answer.
func TestVerify(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 4))
	closest := 0.0
	for _, s := range table(6, 9) {
		star, err := Solve(s.p, &Settings{Tolerance: 1e-5, Modulus: s.modulus})
		if err != nil {
			t.Errorf("%s: %v", s.name, err)
			continue
		}
		if c, err := Verify(s.p, star.Theta, s.modulus); err != nil || c.Bound() > 1e-3 {
			t.Errorf("%s: %v at the answer, certified %v by the solver; %v", s.name, c.Bound(),
				star.Certificate.Bound(), err)
		}
		for _, size := range []float64{1e-4, 1e-2, 1} {
			x := slices.Clone(star.Theta)
			for j := range x {
				x[j] += size * rng.NormFloat64()
			}
			s.p.projector().Project(x, x)
			c, err := Verify(s.p, x, s.modulus)
			if err != nil {
				t.Errorf("%s: %v", s.name, err)
				continue
			}
			dist := floats.Distance(x, star.Theta, 2)
			if dist > c.Distance()+star.Certificate.Distance() {
				t.Errorf("%s: %v from the minimiser, certified %v", s.name, dist, c.Distance())
			}
			closest = math.Max(closest, dist/c.Distance())
		}
	}
	if closest < 0.2 {
		t.Errorf("the largest share of a certificate is %v", closest)
	}
}

// unknown is a box of which the package knows only what it says of itself.
type unknown struct{ Box }

// Far from the minimiser a pair with no residual at all can be had where only the conjugate is known: the slack is all
// that keeps the certificate honest.
func TestSlackCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 4))
	for _, c := range []struct {
		r Regulariser
		c Constraint
	}{{honest{L1{1e4}}, NewBox(1)}, {honest{L1{1e4}}, Ball{1}}, {honest{L1{1e4}}, unknown{NewBox(1)}},
		{honest{L1{1e4}}, nil}, {nil, unknown{NewBox(1)}}, {L1{1}, unknown{NewBox(1)}}, {L2{1}, unknown{NewBox(1)}}} {
		s := random(rng, 20, 6, loss.Squared{}, c.r, c.c)
		star, err := Solve(s.p, &Settings{Tolerance: 1e-3, Modulus: s.modulus})
		if err != nil {
			t.Errorf("%s: %v", s.name, err)
			continue
		}
		x := make([]float64, 6)
		for j := range x {
			x[j] = 0.3 * rng.NormFloat64()
		}
		s.p.projector().Project(x, x)
		got, err := Verify(s.p, x, s.modulus)
		if err != nil {
			t.Errorf("%s: %v", s.name, err)
			continue
		}
		if dist := floats.Distance(x, star.Theta, 2); dist > got.Distance()+star.Certificate.Distance() || dist < 0.1 {
			t.Errorf("%s: %v from the minimiser, certified %v", s.name, dist, got.Distance())
		}
	}
	// J = θ²/2 on θ ≥ 0: at θ = 1 the pair without a residual has the slack θ², and the bound is attained.
	half := &Problem{Problem: erm.Problem{Rows: matrix.NewDense(1, 1, nil), Labels: []float64{0}, Loss: loss.Squared{},
		Lambda: 1}, Constraint: unknown{Box{Lower: []float64{0}, Upper: []float64{math.Inf(1)}}}}
	if c, err := Verify(half, []float64{1}, 1); err != nil || !(math.Abs(c.Distance()-1) <= 1e-9) {
		t.Errorf("1 from the minimiser, certified %v by %+v; %v", c.Distance(), c, err)
	}
}

// With Newton's steps left out projected gradients bring the certificate over a cone to the tolerance within the passes
// that are proved, and to the same point.
func TestDescentArrives(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 8))
	c := rising(9)
	for _, l := range []loss.Loss{loss.Logistic{}, loss.PseudoHuber{Threshold: 1}} {
		s := random(rng, 400, 9, l, nil, c)
		s.p.Quadratic, s.p.Lambda = nil, 0.3
		for rows, i := s.p.Rows.(*matrix.Dense), 0; i < rows.N; i++ { // the ridge alone bends in the last directions
			clear(rows.Data[i*rows.D+5 : (i+1)*rows.D])
		}
		want := must.Get(Solve(s.p, &Settings{Tolerance: 1e-7}))
		r := must.Get(newSearch(s.p, Settings{Tolerance: 1e-6}))
		must.Do(r.begin())
		kappa := r.o.h.Smoothness() / s.p.Lambda
		most := passesOfDescent(r.best.Certificate.Bound(), 1e-6, kappa)
		r.descend()
		got, err := r.solution()
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if float64(got.Passes) > most*(1+2./fewerLooks)+3 || most < 1000 {
			t.Errorf("%s: %d passes, proved %v", s.name, got.Passes, most)
		}
		far := floats.Distance(got.Theta, want.Theta, 2)
		if far > got.Certificate.Distance()+want.Certificate.Distance() {
			t.Errorf("%s: %v from where Newton's steps arrive", s.name, far)
		}
	}
}

// A cone's solution satisfies the conditions of Karush, Kuhn and Tucker by other arithmetic than the certificate's, at
// the tolerance of a private fit, and leaving the constraint out would be seen.
func TestConeConditions(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 7))
	held := 0
	for range 30 {
		d := 9
		c := rising(d)
		s := random(rng, 40, d, loss.Logistic{}, nil, c)
		got := must.Get(Solve(s.p, &Settings{Tolerance: 1e-7, Modulus: s.modulus}))
		o := must.Get(newObjective(s.p, 1))
		g := make([]float64, d)
		o.eval(g, got.Theta)
		// The gradient is Σλᵢvᵢ with λ ≥ 0, of which none is beside a vᵢᵀθ > 0: the first coordinate and the last alone
		// are of the line, and of one hat.
		a, b := mat.NewDense(d, len(c.rows), nil), mat.NewVecDense(d, g)
		for i, v := range c.rows {
			for j, w := range v.Weights {
				a.Set(v.First+j, i, w)
			}
		}
		var lambda, rest mat.VecDense
		must.Do(lambda.SolveVec(a, b))
		rest.MulVec(a, &lambda)
		rest.SubVec(&rest, b)
		if n := mat.Norm(&rest, 2); n > 1e-6 {
			t.Errorf("‖∇J − Dᵀλ‖ = %v", n)
		}
		for i, v := range c.rows {
			along := v.Along(got.Theta)
			if lambda.AtVec(i) < -1e-6 || along < -1e-12 || math.Min(lambda.AtVec(i), along) > 1e-6 {
				t.Errorf("direction %d: λ = %v, vᵀθ = %v", i, lambda.AtVec(i), along)
			}
			if lambda.AtVec(i) > 1e-3 {
				held++
			}
		}
	}
	if held < 20 {
		t.Errorf("only %d directions held", held)
	}
	if _, err := NewCone(2, []matrix.Direction{{Weights: []float64{1, 1}}, {Weights: []float64{2, 2}}}); err == nil {
		t.Error("directions that depend on each other pass")
	}
}

// A free coordinate is held where it went beyond an end of its side of zero, and stays free at the end itself.
func TestKeep(t *testing.T) {
	for _, c := range []struct {
		omega float64
		was   place
		x     float64
		want  place
	}{
		{0, below, -2, below}, {0, below, -2.1, atLower}, {0, below, 0.5, below}, {0, below, 3, below},
		{0, below, 3.1, atUpper},
		{1, below, -2, below}, {1, below, -2.1, atLower}, {1, below, 0, below}, {1, below, 0.1, atZero},
		{1, above, 3, above}, {1, above, 3.1, atUpper}, {1, above, 0, above}, {1, above, -0.1, atZero},
	} {
		a := &activeSet{omega: c.omega, where: []place{c.was}}
		if got := a.keep(0, c.x, -2, 3); got != c.want {
			t.Errorf("ω = %v: from %v to %v it is at %v, want %v", c.omega, c.was, c.x, got, c.want)
		}
	}
}
