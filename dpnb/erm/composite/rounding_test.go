package composite

import (
	"math/big"
	"testing"

	"github.com/dpnb/notebooks/dpnb/matrix"
)

// exactGradient returns coordinate j of the gradient of the smooth terms for the squared loss, summed in 300 bits.
func exactGradient(p *Problem, theta []float64, j int) float64 {
	f := func(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }
	mul := func(a, b *big.Float) *big.Float { return f(0).Mul(a, b) }
	sum := f(0)
	rows := p.Rows.(*matrix.Dense)
	for i := range rows.N {
		slope := f(-p.Labels[i])
		for k := range rows.D {
			slope.Add(slope, mul(f(rows.At(i, k)), f(theta[k])))
		}
		sum.Add(sum, mul(slope, f(rows.At(i, j))))
	}
	for k := range rows.D {
		delta := f(theta[k])
		delta.Sub(delta, f(p.Centre[k]))
		sum.Add(sum, mul(f(p.Quadratic.At(j, k)), delta))
	}
	sum.Add(sum, f(p.Linear[j]))
	sum.Add(sum, mul(f(p.Lambda), f(theta[j])))
	v, _ := sum.Float64()
	return v
}

// A point near a corner of the cube around a ball is outside of the ball.
func TestCornersAreOutsideOfABall(t *testing.T) {
	for _, theta := range [][]float64{{0.75, 0.75}, {-0.75, 0.75}, {0.5, 0.5, 0.5, 0.5, 0.01}} {
		if (Ball{Radius: 1}).Contains(theta) {
			t.Errorf("%v is in the ball of radius 1", theta)
		}
	}
	if !(Ball{Radius: 1}).Contains([]float64{0.5, 0.5, 0.5, 0.5}) {
		t.Error("a point on the sphere is not in its ball")
	}
}
