// Package nnls finds least squares whose unknowns are not negative, by the active sets of Lawson and Hanson (1974).
package nnls

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Quadratic returns the x ≥ 0 at which ½xᵀqx + slopeᵀx is least, q a square matrix that is symmetric but for rounding.
// ok is false if q is singular as computed.
func Quadratic(q mat.Matrix, slope *mat.VecDense) (x *mat.VecDense, ok bool) {
	m, _ := q.Dims()
	even := mat.NewSymDense(m, nil)
	for i := range m {
		for j := i; j < m; j++ {
			even.SetSym(i, j, (q.At(i, j)+q.At(j, i))/2)
		}
		even.SetSym(i, i, even.At(i, i)*(1+1e-13))
	}
	var chol mat.Cholesky
	if !chol.Factorize(even) {
		return nil, false
	}
	var upper mat.TriDense
	chol.UTo(&upper)
	var half mat.VecDense // ½‖Ux + U⁻ᵀslope‖², UᵀU = q
	if half.SolveVec(upper.T(), slope) != nil && half.IsEmpty() {
		return nil, false
	}
	half.ScaleVec(-1, &half)
	return least(mat.DenseCopyOf(&upper), &half), true
}

// least returns the x ≥ 0 at which ‖ax − b‖ is least.
func least(a *mat.Dense, b *mat.VecDense) *mat.VecDense {
	rows, n := a.Dims()
	x, free := mat.NewVecDense(n, nil), make([]bool, n)
	// solve returns the least squares over the free entries.
	solve := func() *mat.VecDense {
		var at []int
		for j, f := range free {
			if f {
				at = append(at, j)
			}
		}
		out := mat.NewVecDense(n, nil)
		part, z := mat.NewDense(rows, len(at), nil), new(mat.VecDense)
		for k, j := range at {
			part.SetCol(k, mat.Col(nil, j, a))
		}
		if z.SolveVec(part, b) != nil && z.IsEmpty() {
			return out
		}
		for k, j := range at {
			out.SetVec(j, z.AtVec(k))
		}
		return out
	}
	steep, size := mat.Norm(b, 2)*mat.Norm(a, 2), mat.Norm(b, 2)/mat.Norm(a, 2) // of slopes and of x
	for range 10 * n {
		var rest, slope mat.VecDense
		rest.MulVec(a, x)
		rest.SubVec(b, &rest)
		slope.MulVec(a.T(), &rest)
		best := -1
		for j := range n {
			if !free[j] && slope.AtVec(j) > 1e-13*steep && (best < 0 || slope.AtVec(j) > slope.AtVec(best)) {
				best = j
			}
		}
		if best < 0 {
			break
		}
		free[best] = true
		for range n + 1 {
			z, step := solve(), 1.0
			for j, f := range free {
				if f && z.AtVec(j) <= 0 {
					step = math.Min(step, x.AtVec(j)/(x.AtVec(j)-z.AtVec(j)))
				}
			}
			for j, f := range free {
				if v := x.AtVec(j) + step*(z.AtVec(j)-x.AtVec(j)); f {
					if free[j] = v > 1e-15*size || step == 1; free[j] {
						x.SetVec(j, v)
					} else {
						x.SetVec(j, 0)
					}
				}
			}
			if step == 1 {
				break
			}
		}
	}
	return x
}
