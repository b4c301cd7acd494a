package erm

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/floats/scalar"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
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

// Two classes are logistic regression: with w = θ_1 − θ_0 and Σθ = −ΣB/λ,
//
//	(λ/2)‖θ‖² + ⟨B, θ⟩ = (λ/4)‖w‖² + ½(b_1 − b_0)ᵀw + constant.
func TestSoftmaxTwoClassesAreLogistic(t *testing.T) {
	p := softmaxProblem(2)
	sol := must.Get(Minimize(p, &Settings{Tolerance: 1e-10}))
	d := 6
	labels := make([]float64, len(p.Labels))
	for i, c := range p.Labels {
		labels[i] = 2*c - 1
	}
	linear := make([]float64, d)
	floats.SubTo(linear, p.Linear[d:], p.Linear[:d])
	floats.Scale(0.5, linear)
	binary := &Problem{Rows: p.Rows, Labels: labels, Loss: loss.Logistic{}, Lambda: p.Lambda / 2, Linear: linear}
	want := must.Get(Minimize(binary, &Settings{Tolerance: 1e-10}))
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

func BenchmarkSoftmaxMinimize(b *testing.B) {
	for _, c := range []struct{ n, d, k int }{{30_000, 50, 10}, {50_000, 100, 3}} {
		x, y := inClasses(c.n, c.d, c.k, 0, 10, 5)
		p := &Problem{Rows: x, Labels: y, Joint: loss.Softmax{Classes: c.k}, Lambda: 1}
		b.Run(fmt.Sprintf("n=%d,d=%d,K=%d", c.n, c.d, c.k), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sol := must.Get(Minimize(p, &Settings{Tolerance: 1e-7 * float64(c.n)}))
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

// Some classes may be absent: which there are is private, and no refusal tells. They are the same, and less likely than
// the one that is there.
func TestSoftmaxWithoutClasses(t *testing.T) {
	one := &Problem{Rows: matrix.NewDense(4, 2, []float64{1, 0, 0, 1, 1, 0, 0, 1}), Labels: []float64{1, 1, 1, 1},
		Joint: loss.Softmax{Classes: 3}, Lambda: 0.1}
	s := must.Get(Minimize(one, &Settings{Tolerance: 1e-9}))
	if !(math.Abs(s.Theta[0]-s.Theta[4]) <= 1e-8) || !(s.Theta[2] > s.Theta[0]+1) {
		t.Errorf("θ = %v", s.Theta)
	}
}
