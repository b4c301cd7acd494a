package erm

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/floats/scalar"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// inClasses returns n dense records of norm 1 with labels from a softmax model of the given strength; a share of the
// entries is zero.
func inClasses(n, d, classes int, zeros, strength float64, seed uint64) (*matrix.Dense, []float64) {
	rng := noise.NewSeeded(seed)
	x := matrix.NewDense(n, d, nil)
	rng.Gaussian(x.Data, 1)
	theta := make([]float64, classes*d)
	rng.Gaussian(theta, strength)
	y := make([]float64, n)
	p := make([]float64, classes)
	for i := range y {
		row := x.Data[i*d : (i+1)*d]
		for j := range row {
			if rng.Float64() < zeros {
				row[j] = 0
			}
		}
		if norm := floats.Norm(row, 2); norm > 0 {
			floats.Scale((1-1e-15)/norm, row)
		}
		for c := range p {
			p[c] = floats.Dot(theta[c*d:(c+1)*d], row)
		}
		total := floats.LogSumExp(p)
		for c, t := range p {
			p[c] = math.Exp(t - total)
		}
		u := rng.Float64()
		for c := range p {
			if u -= p[c]; u < 0 {
				y[i] = float64(c)
				break
			}
		}
	}
	return x, y
}

func TestSoftmaxGradientAgainstDifferences(t *testing.T) {
	x, y := inClasses(37, 4, 3, 0, 2, 1)
	p := &Problem{Rows: x, Labels: y, Joint: loss.Softmax{Classes: 3}, Lambda: 0.7, Linear: make([]float64, 12)}
	rng := noise.NewSeeded(2)
	rng.Gaussian(p.Linear, 1)
	theta := make([]float64, 12)
	rng.Gaussian(theta, 3)
	got := make([]float64, 12)
	Evaluate(p, got, theta)
	want := fd.Gradient(nil, func(v []float64) float64 { return Evaluate(p, nil, v) }, theta,
		&fd.Settings{Formula: fd.Central})
	if !floats.EqualApprox(got, want, 1e-6) {
		t.Errorf("gradient %v, by differences %v", got, want)
	}
	// And the product with the Hessian against differences of the gradient.
	e := newEvaluator(p, 1)
	e.curvature = make([]float64, e.n*e.k)
	e.eval(got, theta)
	v, hv, next := make([]float64, 12), make([]float64, 12), make([]float64, 12)
	rng.Gaussian(v, 1)
	e.hessian(hv, v)
	const step = 1e-6
	floats.AddScaledTo(next, theta, step, v)
	up := make([]float64, 12)
	Evaluate(p, up, next)
	floats.Sub(up, got)
	floats.Scale(1/step, up)
	if !floats.EqualApprox(hv, up, 1e-4) {
		t.Errorf("product %v, by differences %v", hv, up)
	}
}

// plainGradient is the gradient by the formula, with compensated sums: an independent and far more accurate evaluation.
func plainGradient(p *Problem, theta []float64) []float64 {
	n, d := p.Rows.Dims()
	terms := make([][]float64, p.Joint.Forms()*d)
	row, prob := make([]float64, d), make([]float64, p.Joint.Forms())
	for i := range n {
		p.Rows.Row(row, i)
		margins := make([]float64, p.Joint.Forms())
		for c := range margins {
			products := make([]float64, d)
			floats.MulTo(products, row, theta[c*d:(c+1)*d])
			margins[c] = floats.SumCompensated(products)
		}
		lse := floats.LogSumExp(margins)
		for c := range prob {
			prob[c] = math.Exp(margins[c] - lse)
			if float64(c) == p.Labels[i] {
				prob[c] = 0
				for k := range margins {
					if k != c {
						prob[c] -= math.Exp(margins[k] - lse)
					}
				}
			}
			for j, v := range row {
				terms[c*d+j] = append(terms[c*d+j], prob[c]*v)
			}
		}
	}
	g := make([]float64, p.Joint.Forms()*d)
	for j := range g {
		ts := append(terms[j], p.Lambda*theta[j])
		if p.Linear != nil {
			ts = append(ts, p.Linear[j])
		}
		g[j] = floats.SumCompensated(ts)
	}
	return g
}

// The certificate's rounding must cover the error, and be of its order: it is a worst case over n, so a factor of some
// thousands above a typical error.
func TestSoftmaxRoundingBoundCoversTheError(t *testing.T) {
	for _, c := range []struct {
		n, d, k int
		zeros   float64
		scale   float64
	}{{3000, 5, 3, 0, 1}, {500, 40, 10, 0, 30}, {2000, 30, 4, 0.8, 5}, {50, 3, 2, 0, 100}} {
		x, y := inClasses(c.n, c.d, c.k, c.zeros, 1, 7)
		var rows matrix.Rows = x
		if c.zeros > 0 {
			rows = x.Sparse()
		}
		p := &Problem{Rows: rows, Labels: y, Joint: loss.Softmax{Classes: c.k}, Lambda: 0.3,
			Linear: make([]float64, c.k*c.d)}
		rng := noise.NewSeeded(8)
		rng.Gaussian(p.Linear, 3)
		theta, g := make([]float64, c.k*c.d), make([]float64, c.k*c.d)
		rng.Gaussian(theta, c.scale)
		e := newEvaluator(p, 2)
		_, bound := e.eval(g, theta)
		err := floats.Distance(g, plainGradient(p, theta), 2)
		if err > bound || bound > 3e4*math.Max(err, 1e-16*float64(c.n)) {
			t.Errorf("%+v: error %.3g, bound %.3g", c, err, bound)
		}
	}
}

var softmaxProblems = []struct {
	name            string
	n, d, k         int
	zeros, strength float64
	ridge           float64
	sparse          bool
}{
	{"plain", 2000, 10, 3, 0, 4, 1, false},
	{"ten classes", 4000, 20, 10, 0, 10, 0.5, false},
	{"two classes", 500, 6, 2, 0, 3, 2, false},
	{"hardly a ridge, separable", 60, 5, 4, 0, 100, 1e-6, false},
	{"more features than records", 40, 120, 3, 0, 5, 0.1, false},
	{"sparse", 3000, 200, 4, 0.95, 10, 0.2, true},
	{"sparse and wide", 800, 900, 3, 0.99, 30, 1e-2, true},
	{"one record", 1, 1, 3, 0, 1, 1, false},
}

func softmaxProblem(i int) *Problem {
	c := softmaxProblems[i]
	x, y := inClasses(c.n, c.d, c.k, c.zeros, c.strength, uint64(20+i))
	p := &Problem{Rows: x, Labels: y, Joint: loss.Softmax{Classes: c.k}, Lambda: c.ridge,
		Linear: make([]float64, c.k*c.d)}
	if c.sparse {
		p.Rows = x.Sparse()
	}
	noise.NewSeeded(uint64(i)).Gaussian(p.Linear, 0.5)
	return p
}

func TestSoftmaxMinimize(t *testing.T) {
	for i, c := range softmaxProblems {
		t.Run(c.name, func(t *testing.T) {
			p := softmaxProblem(i)
			sol, err := Minimize(p, &Settings{Workers: 2})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d passes to ‖∇J‖ ≤ %.2g (rounding %.2g)", sol.Passes, sol.Certificate.Bound(),
				sol.Certificate.Rounding)
			if g := floats.Norm(plainGradient(p, sol.Theta), 2); g > sol.Certificate.Bound() ||
				sol.Certificate.Bound() > sol.Tolerance {
				t.Errorf("true gradient %.3g, certified %.3g, tolerance %.3g", g, sol.Certificate.Bound(),
					sol.Tolerance)
			}
			for _, workers := range []int{1, 5} {
				again, err := Minimize(p, &Settings{Workers: workers})
				if err != nil || !floats.Equal(again.Theta, sol.Theta) || again.Passes != sol.Passes {
					t.Errorf("%d workers give another answer, %v", workers, err)
				}
			}
			// From elsewhere, within the certified distances.
			start := make([]float64, len(sol.Theta))
			noise.NewSeeded(3).Gaussian(start, 2)
			other, err := Minimize(p, &Settings{Start: start})
			if err != nil {
				t.Fatal(err)
			}
			if dist := floats.Distance(other.Theta, sol.Theta,
				2); dist > other.Certificate.Distance+sol.Certificate.Distance {
				t.Errorf("from another start: %.3g away, certified %.3g", dist,
					other.Certificate.Distance+sol.Certificate.Distance)
			}
		})
	}
}

// Newton's method alone comes to the same point.
func TestSoftmaxNewton(t *testing.T) {
	for _, i := range []int{0, 3, 6} {
		p := softmaxProblem(i)
		want, err := Minimize(p, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := newSearch(p, Settings{MaxPasses: 5000, Workers: 2})
		r.e.curvature = make([]float64, r.e.n*r.e.k)
		if _, err := r.begin(); err != nil {
			t.Fatal(err)
		}
		m := newColumnMetric(p, 1, r.e.penalty)
		m.refresh(r.x)
		r.newton(m)
		got, err := r.solution(NewtonCG{})
		if err != nil {
			t.Fatalf("%s: %v", softmaxProblems[i].name, err)
		}
		if dist := floats.Distance(got.Theta, want.Theta,
			2); dist > got.Certificate.Distance+want.Certificate.Distance {
			t.Errorf("%s: Newton's point is %.3g away", softmaxProblems[i].name, dist)
		}
	}
}

// Two classes are logistic regression: with w = θ_1 − θ_0 and Σθ = −ΣB/λ,
//
//	(λ/2)‖θ‖² + ⟨B, θ⟩ = (λ/4)‖w‖² + ½(b_1 − b_0)ᵀw + constant.
func TestSoftmaxTwoClassesAreLogistic(t *testing.T) {
	p := softmaxProblem(2)
	sol, err := Minimize(p, &Settings{Tolerance: 1e-10})
	if err != nil {
		t.Fatal(err)
	}
	d := 6
	labels := make([]float64, len(p.Labels))
	for i, c := range p.Labels {
		labels[i] = 2*c - 1
	}
	linear := make([]float64, d)
	floats.SubTo(linear, p.Linear[d:], p.Linear[:d])
	floats.Scale(0.5, linear)
	binary := &Problem{Rows: p.Rows, Labels: labels, Loss: loss.Logistic{}, Lambda: p.Lambda / 2, Linear: linear}
	want, err := Minimize(binary, &Settings{Tolerance: 1e-10})
	if err != nil {
		t.Fatal(err)
	}
	w := make([]float64, d)
	floats.SubTo(w, sol.Theta[d:], sol.Theta[:d])
	if !floats.EqualApprox(w, want.Theta, 1e-9) {
		t.Errorf("θ_1 − θ_0 = %v, logistic %v", w, want.Theta)
	}
	for j := range d {
		if sum, want := sol.Theta[j]+sol.Theta[d+j], -(p.Linear[j]+p.Linear[d+j])/p.Lambda; !scalar.EqualWithinAbs(sum,
			want, 1e-9) {
			t.Errorf("Σθ = %v, want %v", sum, want)
		}
	}
}

func TestSoftmaxRefusals(t *testing.T) {
	for name, spoil := range map[string]func(*Problem){
		"no rows":         func(p *Problem) { p.Rows = nil },
		"one class":       func(p *Problem) { p.Joint = loss.Softmax{Classes: 1} },
		"label too large": func(p *Problem) { p.Labels[3] = 3 },
		"label negative":  func(p *Problem) { p.Labels[3] = -1 },
		"few labels":      func(p *Problem) { p.Labels = p.Labels[1:] },
		"no ridge":        func(p *Problem) { p.Lambda = 0 },
		"NaN ridge":       func(p *Problem) { p.Lambda = math.NaN() },
		"NaN":             func(p *Problem) { p.Rows.(*matrix.Dense).Data[5] = math.NaN() },
		"infinite":        func(p *Problem) { p.Rows.(*matrix.Dense).Data[5] = math.Inf(1) },
		"linear":          func(p *Problem) { p.Linear = p.Linear[1:] },
		"NaN in linear":   func(p *Problem) { p.Linear[2] = math.NaN() },
	} {
		p := softmaxProblem(0)
		spoil(p)
		var want *matrix.DataError
		if _, err := Minimize(p, nil); !errors.As(err, &want) {
			t.Errorf("%s: Minimize says %v", name, err)
		}
		if err := p.Validate(); !errors.As(err, &want) {
			t.Errorf("%s: Validate says %v", name, err)
		}
	}
	sol, err := Minimize(softmaxProblem(0), &Settings{Tolerance: 1e-18})
	if !errors.Is(err, ErrTolerance) || sol == nil || math.IsNaN(floats.Sum(sol.Theta)) {
		t.Errorf("an impossible tolerance: %v", err)
	}
	if _, err := Minimize(softmaxProblem(0), &Settings{MaxPasses: 2, Tolerance: 1e-9}); !errors.Is(err, ErrTolerance) {
		t.Errorf("two passes: %v", err)
	}
	if _, err := Minimize(softmaxProblem(0), &Settings{Start: []float64{1}}); err == nil {
		t.Error("a start of another length is accepted")
	}
}

func TestSoftmaxPassesDoNotAllocate(t *testing.T) {
	p := softmaxProblem(0)
	e := newEvaluator(p, 1)
	e.curvature = make([]float64, e.n*e.k)
	theta, g := make([]float64, 30), make([]float64, 30)
	if a := testing.AllocsPerRun(5, func() { e.eval(g, theta); e.hessian(g, theta) }); a > 0 {
		t.Errorf("%v allocations", a)
	}
}

// Without records the minimiser is −B/λ, and with some classes absent there is one too: which classes there are is
// private, and no refusal tells.
func TestSoftmaxWithoutRecordsAndClasses(t *testing.T) {
	linear := []float64{1, -2, 3, 0, 5, -6}
	s, err := Minimize(&Problem{Rows: matrix.NewDense(0, 2, nil), Joint: loss.Softmax{Classes: 3}, Lambda: 4,
		Linear: linear}, &Settings{Tolerance: 1e-12})
	if err != nil {
		t.Fatal(err)
	}
	for j, b := range linear {
		if math.Abs(s.Theta[j]+b/4) > 1e-13 {
			t.Errorf("θ = %v, want −B/4", s.Theta)
		}
	}
	one := &Problem{Rows: matrix.NewDense(4, 2, []float64{1, 0, 0, 1, 1, 0, 0, 1}), Labels: []float64{1, 1, 1, 1},
		Joint: loss.Softmax{Classes: 3}, Lambda: 0.1}
	if s, err = Minimize(one, &Settings{Tolerance: 1e-9}); err != nil {
		t.Fatal(err)
	}
	// The absent classes are the same, and less likely than the one that is there.
	if math.Abs(s.Theta[0]-s.Theta[4]) > 1e-8 || !(s.Theta[2] > s.Theta[0]+1) {
		t.Errorf("θ = %v", s.Theta)
	}
}

// What float64 cannot certify is certified, from afar and with next to no passes too.
func TestSoftmaxPersist(t *testing.T) {
	x, y := inClasses(200, 4, 3, 0, 4, 41)
	p := &Problem{Rows: x, Labels: y, Joint: loss.Softmax{Classes: 3}, Lambda: 1, Linear: make([]float64, 12)}
	rng := noise.NewSeeded(42)
	rng.Gaussian(p.Linear, 2)
	const tau = 2e-14
	far := make([]float64, 12)
	rng.Gaussian(far, 100)
	for _, s := range []*Settings{{}, {MaxPasses: 1, Persist: true}, {Start: far, MaxPasses: 1, Persist: true}} {
		s.Tolerance = tau
		sol, err := Minimize(p, s)
		if err != nil {
			t.Errorf("%+v: %v", s, err)
			continue
		}
		moved := 101 * 0x1p-53 * math.Sqrt(12) * 5 // M times the rounding of θ
		if got := bigNorm(bigGradient(p, sol.Theta, nil)); !(got <= sol.Certificate.Bound()+moved) || got > 1e-12 {
			t.Errorf("‖∇J‖ = %.3g, certified %.3g", got, sol.Certificate.Bound())
		}
		t.Logf("certified %.3g of %.3g after %d passes", sol.Certificate.Bound(), tau, sol.Passes)
	}
}

func BenchmarkSoftmaxMinimize(b *testing.B) {
	for _, c := range []struct{ n, d, k int }{{30_000, 50, 10}, {50_000, 100, 3}} {
		x, y := inClasses(c.n, c.d, c.k, 0, 10, 5)
		p := &Problem{Rows: x, Labels: y, Joint: loss.Softmax{Classes: c.k}, Lambda: 1}
		b.Run(fmt.Sprintf("n=%d,d=%d,K=%d", c.n, c.d, c.k), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sol, err := Minimize(p, &Settings{Tolerance: 1e-7 * float64(c.n)})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(sol.Passes), "passes")
			}
		})
		theta, g := make([]float64, c.k*c.d), make([]float64, c.k*c.d)
		e := newEvaluator(p, 0)
		b.Run(fmt.Sprintf("pass,n=%d,d=%d,K=%d", c.n, c.d, c.k), func(b *testing.B) {
			for b.Loop() {
				e.eval(g, theta)
			}
		})
	}
}
