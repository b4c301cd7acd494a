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

// A coordinate that cannot move is not in a wrong place, however it is pulled.
func TestFixedCoordinatesStayHeld(t *testing.T) {
	for _, at := range []float64{-1, 0, 1} {
		for _, pull := range []float64{-3, 3} {
			a := newActiveSet(&model{d: 1}, L1{1}, Box{Lower: []float64{at}, Upper: []float64{at}})
			a.next[0], a.gNext[0] = at, pull
			if wrong := a.exchange(); wrong != 0 || a.where[0] != atLower {
				t.Errorf("held at %v with a pull of %v: %d wrong, at place %v", at, pull, wrong, a.where[0])
			}
		}
	}
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
