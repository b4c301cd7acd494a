package geometry

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/matrix"
)

// space is what is orthogonal to some directions of features, with coordinates: reflections take each direction to a
// feature, and the others are the coordinates.
type space struct {
	turns []matrix.Direction // u of I − 2uuᵀ
	gone  []int              // the features that directions are taken to, in rising order
}

// without returns the space that is orthogonal to orthonormal directions.
func without(directions []matrix.Direction) (s space) {
	for _, v := range directions {
		x := make([]float64, v.First+len(v.Weights))
		v.Add(x, 1)
		for _, u := range s.turns { // those of other features leave it as it is
			if u.First < len(x) {
				if more := u.First + len(u.Weights) - len(x); more > 0 {
					x = append(x, make([]float64, more)...)
				}
				reflect(u, x)
			}
		}
		pivot := -1
		for j, w := range x {
			if !slices.Contains(s.gone, j) && (pivot < 0 || math.Abs(w) > math.Abs(x[pivot])) {
				pivot = j
			}
		}
		if pivot < 0 {
			continue // there is nothing else
		}
		x[pivot] += math.Copysign(1, x[pivot])
		first := slices.IndexFunc(x, func(w float64) bool { return w != 0 })
		floats.Scale(1/floats.Norm(x, 2), x)
		s.turns = append(s.turns, matrix.Direction{First: first, Weights: x[first:]})
		s.gone = append(s.gone, pivot)
	}
	slices.Sort(s.gone)
	return s
}

// apart returns what is left of a direction of d features without what it has of orthonormal others: itself, if that is
// nothing but rounding; ok is false if nothing is left.
func apart(v matrix.Direction, others []matrix.Direction, d int) (rest matrix.Direction, ok bool) {
	const rounding = 1e-9
	x, changed := make([]float64, d), false
	v.Add(x, 1)
	for range 2 { // once more for what the first round has left by rounding
		for _, u := range others {
			if of := u.Along(x); math.Abs(of) > rounding {
				u.Add(x, -of)
				changed = true
			}
		}
	}
	norm := math.Sqrt(matrix.SumSquares(x))
	if !changed || norm < 1e-6 {
		return v, !changed
	}
	floats.Scale(1/norm, x)
	return matrix.Direction{Weights: x}, true
}

// reflect replaces x by (I − 2uuᵀ)x.
func reflect(u matrix.Direction, x []float64) { u.Add(x, -2*u.Along(x)) }

// to returns the coordinates of x, in x. What follows the features stays.
func (s *space) to(x []float64) []float64 {
	if len(s.gone) == 0 {
		return x
	}
	for _, u := range s.turns {
		reflect(u, x)
	}
	next, k := 0, 0
	for j, v := range x {
		if k < len(s.gone) && s.gone[k] == j {
			k++
			continue
		}
		x[next] = v
		next++
	}
	return x[:next]
}

// from returns the point that has the coordinates.
func (s *space) from(y []float64) []float64 {
	x := make([]float64, 0, len(y)+len(s.gone))
	for _, v := range y {
		for slices.Contains(s.gone, len(x)) {
			x = append(x, 0)
		}
		x = append(x, v)
	}
	for slices.Contains(s.gone, len(x)) {
		x = append(x, 0)
	}
	for _, u := range slices.Backward(s.turns) {
		reflect(u, x)
	}
	return x
}

// longer bounds the norm of what to makes of a vector of norm 1: a computed reflection errs by no more than (2k +
// 16)·2⁻⁵¹ of that, k the features that it is of.
func (s *space) longer() float64 {
	more := 1.0
	for _, u := range s.turns {
		more *= 1 + float64(2*len(u.Weights)+16)*0x1p-51
	}
	return more * (1 + 0x1p-48)
}

// roughest returns so many directions in which coefficients of hats have the largest second differences.
func roughest(s matrix.Span, count int) (out []matrix.Direction) {
	second := mat.NewDense(max(s.Len-2, 1), s.Len, nil)
	for i := range s.Len - 2 {
		for j, w := range []float64{1, -2, 1} {
			second.Set(i, i+j, w)
		}
	}
	var svd mat.SVD
	svd.Factorize(second, mat.SVDThin)
	var v mat.Dense
	svd.VTo(&v)
	for j := range count {
		out = append(out, matrix.Direction{First: s.First, Weights: mat.Col(nil, j, &v)})
	}
	return out
}
