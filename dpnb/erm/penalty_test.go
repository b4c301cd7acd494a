package erm

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// quadratic returns p with a quadratic term of the given size around some centre.
func quadratic(p *Problem, scale float64) *Problem {
	q := *p
	d := size(p.forms())
	g := mat.NewDense(d, 2*d, nil)
	q.Centre = make([]float64, d)
	for i := range d {
		q.Centre[i] = math.Cos(float64(i + 1))
		for j := range 2 * d {
			g.Set(i, j, math.Sin(float64(3*i*i+7*j*j+i*j+1)))
		}
	}
	q.Quadratic = new(mat.SymDense)
	q.Quadratic.SymOuterK(scale, g)
	return &q
}

// Problems with a quadratic term are solved like others: every method comes to a point whose certificate 300 bits
// confirm, with any number of records and forms.
func TestQuadraticTerm(t *testing.T) {
	testscale.InTurn(t)
	none := matrix.NewDense(0, 5, nil).Sparse()
	forms, _ := norms1(300, 6, 2, false)
	for name, p := range map[string]*Problem{
		"plain": simulated(400, 7, 1, 0.5, 3), "a sample": simulated(5000, 7, 1, 0.5, 3),
		"wide":   simulated(30, 60, 1, 0.5, 3),
		"sparse": sparseProblem(600, 300, 5, 0.5), "softmax": softmaxProblem(2), "forms": forms,
		"no records": {Rows: none, Loss: loss.Logistic{}, Lambda: 1, Linear: []float64{1, 2, 3, 4, 5}},
	} {
		p = quadratic(p, 2)
		p.Quadratic.RawSymmetric().Data[p.Quadratic.SymmetricDim()] = math.NaN() // below the diagonal there is nothing
		for _, m := range []Method{nil, LBFGS{}, NewtonCG{}} {
			s, err := Minimize(p, &Settings{Tolerance: 1e-9, Method: m})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if got := bigNorm(bigGradient(p, s.Theta, nil)); !(got <= s.Certificate.Bound()) || got > 1e-9 {
				t.Errorf("%s: ‖∇J‖ = %.3g, certified %.3g", name, got, s.Certificate.Bound())
			}
		}
	}
	for name, c := range map[string]struct {
		spoil func(p *Problem)
		says  string
	}{
		"order":   {func(p *Problem) { p.Quadratic = mat.NewSymDense(3, nil) }, "order 3"},
		"concave": {func(p *Problem) { p.Quadratic.SetSym(2, 2, -1) }, "semidefinite"},
		"NaN":     {func(p *Problem) { p.Quadratic.SetSym(0, 2, math.NaN()) }, "not finite"},
		"centre":  {func(p *Problem) { p.Centre = p.Centre[1:] }, "centre has length"},
	} {
		p := quadratic(simulated(40, 7, 1, 0.5, 3), 2)
		c.spoil(p)
		var want *matrix.DataError
		if _, err := Minimize(p, nil); !errors.As(err, &want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var want *matrix.DataError
	if _, err := Minimize(quadratic(simulated(40, 7, 1, 0.5, 3), 2), &Settings{Method: SAG{}}); !errors.As(err, &want) {
		t.Errorf("SAG takes a quadratic term: %v", err)
	}
}

// What the quadratic term adds to the bound on rounding is seen: the error is not far below it.
func TestQuadraticRoundingIsSeen(t *testing.T) {
	var worst float64
	for k := range 400 {
		x := matrix.NewDense(1, 1, []float64{1e-9})
		p := &Problem{Rows: x, Labels: []float64{0}, Loss: loss.Squared{}, Lambda: 1e-9,
			Quadratic: mat.NewSymDense(1, []float64{1 + math.Abs(math.Sin(float64(k)))}),
			Centre:    []float64{-1 - math.Abs(math.Cos(float64(k)))}}
		theta, g := []float64{1 + math.Abs(math.Sin(float64(3*k)))}, make([]float64, 1)
		_, bound := newEvaluator(p, 1).eval(g, theta)
		worst = math.Max(worst, distance(bigGradient(p, theta, nil), g, nil)/bound)
	}
	t.Logf("%.2g of the bound", worst)
	if worst > 1 || worst < 0.1 {
		t.Errorf("the error is at most %v of the bound", worst)
	}
	// At the origin, far from the centre: what cancels in Q(θ − c) was rounded before.
	for k := range 100 {
		a, b := 1+math.Abs(math.Sin(float64(k))), 1+math.Abs(math.Cos(float64(2*k)))
		p := &Problem{Rows: matrix.NewDense(1, 2, []float64{1e-9, 1e-9}), Labels: []float64{0}, Loss: loss.Squared{},
			Lambda: 1e-9, Quadratic: mat.NewSymDense(2, []float64{a * a, a * b, a * b, b * b}),
			Centre: []float64{b, -a}}
		theta, g := make([]float64, 2), make([]float64, 2)
		_, bound := newEvaluator(p, 1).eval(g, theta)
		if off := distance(bigGradient(p, theta, nil), g, nil); off > bound {
			t.Fatalf("at the origin the error is %v, the bound %v", off, bound)
		}
	}
}
