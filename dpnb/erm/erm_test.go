package erm

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// simulated returns a logistic problem with rows of norm 1 (before scaling by norm) and labels from a logistic model.
func simulated(n, d int, norm, ridge, noiseScale float64) *Problem {
	rng := noise.NewSeeded(uint64(n)*1000 + uint64(d))
	rows := matrix.NewDense(n, d, nil)
	rng.Gaussian(rows.Data, 1)
	theta := make([]float64, d)
	rng.Gaussian(theta, 3)
	labels := make([]float64, n)
	for i := range labels {
		r := rows.Data[i*d : (i+1)*d]
		floats.Scale(norm/floats.Norm(r, 2), r)
		labels[i] = -1
		if rng.Float64() < 1/(1+math.Exp(-floats.Dot(r, theta))) {
			labels[i] = 1
		}
	}
	p := &Problem{Rows: rows, Labels: labels, Loss: loss.Logistic{}, Lambda: ridge}
	if noiseScale > 0 {
		p.Linear = make([]float64, d)
		rng.Gaussian(p.Linear, noiseScale)
	}
	return p
}

// problems is the one table that every solver test runs over.
func problems() map[string]*Problem {
	ps := map[string]*Problem{}
	for _, c := range []struct {
		n, d               int
		norm, ridge, noise float64
	}{
		{1, 1, 1, 1, 0},
		{1, 3, 1, 1e-3, 2},
		{50, 2, 1, 0.1, 1},
		{50, 80, 1, 0.5, 1}, // more features than records
		{3000, 20, 1, 1, 0},
		{3000, 20, 1, 20, 30}, // noise as in a private fit
		{3000, 20, 5, 1e-4, 0},
		{300, 200, 1, 1e-3, 0.1}, // separable, almost no ridge
		{20_000, 40, 1, 5, 20},
		{300, 1600, 1, 1, 1}, // the diagonal metric
	} {
		ps[fmt.Sprintf("n=%d,d=%d,R=%v,λ=%v,σ=%v", c.n, c.d, c.norm, c.ridge, c.noise)] = simulated(c.n, c.d, c.norm,
			c.ridge, c.noise)
	}
	for name, l := range map[string]loss.Loss{"half squared": half{}, "half squared hinge": kinked{}} {
		for _, n := range []int{200, 4000} {
			p := simulated(n, 15, 1, 0.5, 3)
			p.Loss = l
			ps[fmt.Sprintf("%s, n=%d", name, n)] = p
		}
	}
	ps["uneven columns"] = uneven(10_000, 12, 0.01)
	ps["sparse"] = sparseProblem(3000, 60, 6, 1)
	ps["sparse and wide"] = sparseProblem(2000, 3000, 10, 1)
	ps["uneven shrinkage"] = shrunk(simulated(4000, 12, 1, 2, 3))
	for i, c := range softmaxProblems {
		ps["softmax, "+c.name] = softmaxProblem(i)
	}
	return ps
}

func TestGradient(t *testing.T) {
	p := simulated(300, 5, 1, 2, 1)
	theta := []float64{0.3, -1, 2, 0, 0.5}
	g := make([]float64, 5)
	Evaluate(p, g, theta)
	want := fd.Gradient(nil, func(x []float64) float64 { return Evaluate(p, nil, x) }, theta,
		&fd.Settings{Formula: fd.Central})
	if !floats.EqualApprox(g, want, 1e-6) {
		t.Errorf("gradient %v, differences say %v", g, want)
	}
	// The scale of the objective is a promise: a sum, ½, λ once.
	var j float64
	for i, y := range p.Labels {
		row := make([]float64, 5)
		p.Rows.Row(row, i)
		j += math.Log1p(math.Exp(-y * floats.Dot(row, theta)))
	}
	j += 0.5*2*floats.Dot(theta, theta) + floats.Dot(p.Linear, theta)
	if v := Evaluate(p, nil, theta); !(math.Abs(v-j) <= 1e-12*j) {
		t.Errorf("J = %v, by its definition %v", v, j)
	}
}

func TestMinimizeReachesItsCertificate(t *testing.T) {
	testscale.InTurn(t)
	for name, p := range problems() {
		s, err := Minimize(p, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		d := p.Size()
		g := make([]float64, d)
		Evaluate(p, g, s.Theta)
		if norm := floats.Norm(g, 2); norm > s.Tolerance || s.Certificate.Bound() > s.Tolerance {
			t.Errorf("%s: ‖∇J‖ = %v, certificate %v, tolerance %v", name, norm, s.Certificate.Bound(), s.Tolerance)
		}
		if s.Passes > 80 && (p.Joint == nil || s.Passes > 200) { // several forms are twice as hard
			t.Errorf("%s: %d passes", name, s.Passes)
		}
		t.Logf("%s: %d passes, certificate %.2e of %.2e", name, s.Passes, s.Certificate.Bound(), s.Tolerance)
		// A second opinion from far away must lie within both certificates.
		far := make([]float64, d)
		for j := range far {
			far[j] = 10 * float64(1-2*(j%2))
		}
		s2, err := Minimize(p, &Settings{Start: far})
		if err != nil {
			t.Errorf("%s from afar: %v", name, err)
			continue
		}
		if dist := floats.Distance(s.Theta, s2.Theta, 2); dist > s.Certificate.Distance+s2.Certificate.Distance {
			t.Errorf("%s: two minimisers %v apart, the certificates allow %v", name, dist,
				s.Certificate.Distance+s2.Certificate.Distance)
		}
	}
}

func TestMinimizeDoesNotDependOnWorkers(t *testing.T) {
	testscale.Slow(t)
	for name, p := range problems() {
		a, errA := Minimize(p, &Settings{Workers: 1})
		for _, w := range []int{2, 3, 7} {
			b, errB := Minimize(p, &Settings{Workers: w})
			if (errA == nil) != (errB == nil) || !floats.Equal(a.Theta, b.Theta) || a.Passes != b.Passes {
				t.Errorf("%s: %d workers give another answer than one", name, w)
			}
		}
	}
}

func TestToleranceThatCannotBeCertified(t *testing.T) {
	p := simulated(3000, 20, 1, 1, 0)
	s, err := Minimize(p, &Settings{Tolerance: 1e-18})
	if !errors.Is(err, ErrTolerance) {
		t.Fatalf("err = %v", err)
	}
	if s == nil || s.Certificate.Bound() > 1e-7 {
		t.Errorf("the best point is not handed over: %+v", s)
	}
	if _, err := Minimize(p, &Settings{MaxPasses: 2}); !errors.Is(err, ErrTolerance) {
		t.Errorf("two passes are said to be enough: %v", err)
	}
	// Line searches that end nowhere, and steps that gain nothing, are not repeated until the passes are spent.
	for name, p := range map[string]*Problem{"50": simulated(50, 2, 1, 0.1, 1), "3000": p} {
		for _, m := range []Method{LBFGS{}, NewtonCG{}} {
			r := newSearch(p, Settings{Tolerance: 1e-40, MaxPasses: 1000})
			if err := m.run(r); err != nil || r.e.passes > 150 {
				t.Errorf("%s records, %s: %d passes for a tolerance that cannot be had, %v", name, m.Name(),
					r.e.passes, err)
			}
		}
	}
}

// The dual form of the Hessian is for more coefficients than records.
func TestFormOfTheHessian(t *testing.T) {
	for n, dual := range map[int]bool{6: true, 7: false, 8: false} {
		r := newSearch(simulated(n, 7, 1, 1, 1), Settings{})
		if _, got := r.exactMetric().(*dualMetric); got != dual {
			t.Errorf("7 coefficients, %d records: dual %t, want %t", n, got, dual)
		}
	}
}

func TestValidate(t *testing.T) {
	good := func() *Problem { return simulated(10, 2, 1, 1, 1) }
	for name, spoil := range map[string]func(*Problem){
		"no features":             func(p *Problem) { p.Rows = matrix.NewDense(10, 0, nil) },
		"labels":                  func(p *Problem) { p.Labels = p.Labels[1:] },
		"label 0":                 func(p *Problem) { p.Labels[3] = 0 },
		"λ = 0":                   func(p *Problem) { p.Lambda = 0 },
		"λ = NaN":                 func(p *Problem) { p.Lambda = math.NaN() },
		"λ = Inf":                 func(p *Problem) { p.Lambda = math.Inf(1) },
		"b":                       func(p *Problem) { p.Linear = p.Linear[1:] },
		"b NaN":                   func(p *Problem) { p.Linear[0] = math.NaN() },
		"NaN in a row":            func(p *Problem) { p.Rows.(*matrix.Dense).Data[5] = math.NaN() },
		"Inf in a row":            func(p *Problem) { p.Rows.(*matrix.Dense).Data[5] = math.Inf(-1) },
		"a row of 1e200 too long": func(p *Problem) { p.Rows.(*matrix.Dense).Data[5] = 1e200 },
		"no curvature":            func(p *Problem) { p.Loss = unbounded{} },
		"no loss":                 func(p *Problem) { p.Loss = nil },
		"one class":               func(p *Problem) { p.Loss, p.Joint = nil, loss.Softmax{Classes: 1} },
		"no class":                func(p *Problem) { p.Loss, p.Joint, p.Linear = nil, loss.Softmax{Classes: 3}, nil },
		"ω":                       func(p *Problem) { p.Shrinkage = []float64{1} },
		"ω < 0":                   func(p *Problem) { p.Shrinkage = []float64{1, -1e-300} },
		"ω = NaN":                 func(p *Problem) { p.Shrinkage = []float64{math.NaN(), 0} },
		"ω = Inf":                 func(p *Problem) { p.Shrinkage = []float64{0, math.Inf(1)} },
		"a square beyond float64": func(p *Problem) { p.Loss, p.Labels[3] = loss.Squared{}, 1e200 },
	} {
		p := good()
		spoil(p)
		var de *matrix.DataError
		_, err := Minimize(p, nil)
		if !errors.As(err, &de) || strings.Contains(name, "a row") != strings.Contains(err.Error(), "a record has") {
			t.Errorf("%s: err = %v", name, err)
		}
	}
	if _, err := Minimize(good(), &Settings{Start: make([]float64, 3)}); err == nil {
		t.Error("a start of the wrong length is accepted")
	}
}

func TestPassesDoNotAllocate(t *testing.T) {
	for _, p := range []*Problem{simulated(3000, 20, 1, 1, 0), softmaxProblem(0)} {
		e := newEvaluator(p, 1)
		e.keepCurvature()
		g, x := make([]float64, e.size), make([]float64, e.size)
		if a := testing.AllocsPerRun(20, func() { e.eval(g, x); e.hessian(g, x) }); a > 0 {
			t.Errorf("%v allocations in a pass", a)
		}
	}
}

// TestCertificateCountsTheRounding: what is bounded is the gradient itself, not what was computed of it.
func TestCertificateCountsTheRounding(t *testing.T) {
	p := simulated(3000, 20, 5, 0.5, 1)
	s := must.Get(Minimize(p, nil))
	c := s.Certificate
	if bound := c.GradientNorm + c.Rounding; !(c.Rounding > 0) || c.Distance != bound/p.Lambda ||
		c.Gap != bound*bound/(2*p.Lambda) {
		t.Errorf("%+v", c)
	}
	// Between the computed norm and its bound lies what must be refused.
	r := newSearch(p, Settings{Start: s.Theta, Tolerance: c.GradientNorm + c.Rounding/2})
	if done, err := r.begin(); done || err != nil {
		t.Errorf("a gradient within its rounding error is certified: %v", err)
	}
}

func TestMemoryBesideTheRecords(t *testing.T) {
	const n, d = 200_000, 20
	p := simulated(n, d, 1, 1, 0)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	must.Get(Minimize(p, nil))
	runtime.ReadMemStats(&after)
	if share := float64(after.TotalAlloc-before.TotalAlloc) / (8 * n * d); share > 0.05 {
		t.Errorf("a fit allocates %.3f of the memory of the records", share)
	}
}

// Steps that gain nothing are counted in sequence: one that gains begins the count anew, however many there were.
func TestStalledStepsInSequence(t *testing.T) {
	r := newSearch(simulated(50, 2, 1, 1, 1), Settings{Tolerance: 1e-9})
	if done, err := r.begin(); done || err != nil {
		t.Fatal(done, err)
	}
	stalled := 2
	floats.Scale(0.5, r.g)
	if r.advance(&stalled) || stalled != 0 {
		t.Errorf("%d after a step that gains", stalled)
	}
	r.rounding = floats.Norm(r.g, 2)
	if r.advance(&stalled) || stalled != 1 {
		t.Errorf("%d after one that does not", stalled)
	}
}
