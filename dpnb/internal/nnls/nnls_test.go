package nnls

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// The least value over x ≥ 0 is attained where each entry is 0 with a slope upwards, or positive with none; sizes from
// 1e-8 to 1e8, and tables of which some entries repel each other.
func TestQuadratic(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	zeros, positive := 0, 0
	for trial := range 300 {
		n, size := 1+trial%7, math.Pow(10, float64(trial%17-8))
		a := mat.NewDense(n+1, n, nil)
		for i := range n + 1 {
			for j := range n {
				a.Set(i, j, rng.NormFloat64())
			}
		}
		slope := mat.NewVecDense(n, nil)
		for j := range n {
			slope.SetVec(j, size*rng.NormFloat64())
		}
		var q mat.Dense
		q.Mul(a.T(), a)
		x, ok := Quadratic(&q, slope)
		if !ok {
			t.Fatal("singular")
		}
		var g mat.VecDense
		g.MulVec(&q, x)
		g.AddVec(&g, slope)
		slack := 1e-9 * (mat.Norm(&q, 2)*mat.Norm(x, 2) + size)
		for j := range n {
			switch {
			case x.AtVec(j) == 0 && g.AtVec(j) >= -slack:
				zeros++
			case x.AtVec(j) > 0 && math.Abs(g.AtVec(j)) <= slack:
				positive++
			default:
				t.Errorf("trial %d: x[%d] = %g with slope %g, granted %g", trial, j, x.AtVec(j), g.AtVec(j), slack)
			}
		}
	}
	if min(zeros, positive) < 300 {
		t.Errorf("%d zeros and %d others: the trials are of one kind", zeros, positive)
	}
	// Computed, xᵀqx is below 0 where x₁ = −x₂.
	if _, ok := Quadratic(mat.NewDense(2, 2, []float64{1, 2, 2, 1}), mat.NewVecDense(2, nil)); ok {
		t.Error("a table that has no least value is taken")
	}
	// What is not symmetric counts by its even part.
	x, _ := Quadratic(mat.NewDense(2, 2, []float64{2, 1, 0, 2}), mat.NewVecDense(2, []float64{-5, -5}))
	for j := range 2 {
		if !(math.Abs(x.AtVec(j)-2) <= 1e-9) {
			t.Errorf("x[%d] = %g, want 2", j, x.AtVec(j))
		}
	}
}

// In other units of a and b, powers of two, x is the same number in those of b/a, to the last bit.
func TestUnits(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	for trial := range 50 {
		n := 2 + trial%6
		a, b := mat.NewDense(n+1, n, nil), mat.NewVecDense(n+1, nil)
		for i := range n + 1 {
			for j := range n {
				a.Set(i, j, 1+rng.NormFloat64())
			}
			b.SetVec(i, rng.NormFloat64())
		}
		want := least(a, b)
		for _, of := range [][2]int{{40, 0}, {-40, 0}, {0, 40}, {0, -40}, {60, 60}, {-60, -60}} {
			var largeA mat.Dense
			var largeB, x mat.VecDense
			largeA.Scale(math.Ldexp(1, of[0]), a)
			largeB.ScaleVec(math.Ldexp(1, of[1]), b)
			if x.ScaleVec(math.Ldexp(1, of[0]-of[1]), least(&largeA, &largeB)); !mat.Equal(&x, want) {
				t.Errorf("trial %d, a·2^%d, b·2^%d: %v, want %v", trial, of[0], of[1], x.RawVector().Data,
					want.RawVector().Data)
			}
		}
	}
}
