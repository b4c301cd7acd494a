package objpert_test

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// The matrices of a penalty are of the squares that it is defined by, and what bounds their largest eigenvalue does,
// closely where a run is long; runs that are not of the coefficients are refused.
func TestPenaltyByDefinition(t *testing.T) {
	const d, lambda = 60, 0.5
	p := objpert.Penalty{Shrinkage: 0.3, Rough: []objpert.Roughness{
		{Span: matrix.Span{First: 1, Len: 4}, Weight: 0.1}, {Span: matrix.Span{First: 5, Len: 55}, Weight: 2}}}
	theta := make([]float64, d)
	noise.NewSeeded(1).Gaussian(theta, 1)
	want := 0.0
	for j, v := range theta {
		if want += lambda * v * v; j < d-1 {
			want += 0.3 * v * v
		}
		for _, r := range p.Rough {
			if r.First <= j && j+2 < r.First+r.Len {
				want += r.Weight * math.Pow(v-2*theta[j+1]+theta[j+2], 2)
			}
		}
	}
	q, shrink := p.Quadratic(d), p.Shrink(d)
	for j := range d {
		q.SetSym(j, j, q.At(j, j)+lambda+shrink[j])
	}
	v := mat.NewVecDense(d, theta)
	if got := mat.Inner(v, q, v); !(math.Abs(got-want) <= 1e-12*want) {
		t.Errorf("twice the penalty is %v, want %v", got, want)
	}
	var eigen mat.EigenSym
	eigen.Factorize(q, false)
	if most, bound := slices.Max(eigen.Values(nil)), p.Stiffest(lambda); bound < most || bound > 1.02*most {
		t.Errorf("an eigenvalue of %v, bounded by %v", most, bound)
	}
	for span, fits := range map[matrix.Span]bool{{First: 57, Len: 3}: true, {First: 58, Len: 3}: false,
		{First: 0, Len: 60}: true, {First: 0, Len: 61}: false, {First: 60, Len: 0}: true, {First: 61, Len: 0}: false} {
		p.Rough[0].Span = span
		if err := p.Check(d); (err == nil) != fits {
			t.Errorf("%+v of %d coefficients: %v", span, d, err)
		}
	}
}

// What no penalty can have is refused, each by itself, and the ends of what it can have are not.
func TestPenaltyRefuses(t *testing.T) {
	run := func(first, length int, weight float64) objpert.Penalty {
		of := matrix.Span{First: first, Len: length}
		return objpert.Penalty{Rough: []objpert.Roughness{{Span: of, Weight: weight}}}
	}
	for _, c := range []struct {
		p    objpert.Penalty
		fine bool
	}{{run(0, 0, 0), true}, {run(-1, 3, 1), false}, {run(0, -1, 1), false}, {run(0, 3, -1e-300), false},
		{run(0, 3, math.NaN()), false}, {run(0, 3, math.MaxFloat64/16), true}, {run(0, 3, math.MaxFloat64/15), false},
		{objpert.Penalty{Shrinkage: math.MaxFloat64 / 2}, true}, {objpert.Penalty{Shrinkage: math.MaxFloat64}, false},
		{objpert.Penalty{Shrinkage: -1e-300}, false}, {objpert.Penalty{Shrinkage: math.NaN()}, false}} {
		if err := c.p.Validate(math.MaxFloat64 / 2); (err == nil) != c.fine {
			t.Errorf("%+v: %v", c.p, err)
		}
	}
}

// Records of another length are the same in another unit: σ goes with the length, in closed form and by search.
func TestUnitOfRecords(t *testing.T) {
	for _, l := range []loss.Loss{loss.Logistic{}, loss.PseudoHuber{Threshold: 1}} {
		sigma := func(r float64) float64 {
			return must.Get(objpert.Calibrate(objpert.Config{Loss: l, RowNorm: r, Epsilon: 1, Delta: 1e-6,
				Lambda: 9 * r * r, Adjacency: privacy.AddRemove, Bound: objective.Tight})).Sigma / r
		}
		one := sigma(1)
		for _, r := range []float64{1. / 32, 32} {
			if s := sigma(r); !(math.Abs(s/one-1) <= 1e-9) {
				t.Errorf("%s: σ = %g·R for R = %g, want %g·R", l.Name(), s, r, one)
			}
		}
	}
}
