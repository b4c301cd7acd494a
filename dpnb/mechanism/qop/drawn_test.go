package qop

import (
	"math"
	"math/big"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
)

// The matrix is as near to σ²(GGᵀ + c) of the float64 next to G as is granted, with what the exact G may differ on top,
// and the bound is not far too large.
func TestDrawnMatrix(t *testing.T) {
	const d, hidden = 6, 13
	m := Perturbation{Loss: loss.Squared{}, RowNorm: 1, Interpolation: AssumeInterpolation(make([]float64, d), 0),
		HiddenDimension: hidden, Sigma2: 3.7, Shift: 0.3}
	for seed := range uint64(20) {
		q, eta := m.draw(noise.Exact(noise.NewSeeded(seed)))
		g := make([]float64, d*hidden)
		near := noise.Exact(noise.NewSeeded(seed)).FillNormal(g, 1)
		number := func(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }
		var square float64
		for i := range d {
			for j := range d {
				sum := number(0)
				for k := range hidden {
					sum.Add(sum, new(big.Float).SetPrec(300).Mul(number(g[i*hidden+k]), number(g[j*hidden+k])))
				}
				if i == j {
					sum.Add(sum, number(m.Shift))
				}
				sum.Mul(sum, number(m.Sigma2))
				apart, _ := sum.Sub(sum, number(q.At(i, j))).Float64()
				square += apart * apart
			}
		}
		coupled := 2 * m.Sigma2 * near * floats.Norm(g, 2)
		if distance := math.Sqrt(square); !(distance+coupled <= eta) || eta > 200*(distance+coupled) {
			t.Errorf("seed %d: %g and %g for the coupling, η = %g", seed, distance, coupled, eta)
		}
	}
}

// What is released is on the public grid.
func TestReleaseIsOnTheGrid(t *testing.T) {
	rows, labels, star := interpolated(50, 4, 1)
	m := must.Get(Calibrate(config(star, 0)))
	r := must.Get(m.Run(rows, labels, noise.NewSecure(), nil))
	for _, v := range r.Coefficients {
		if k := v / exact.Grid(m.OutputSigma); k != math.Trunc(k) {
			t.Errorf("%v is no multiple of the grid", v)
		}
	}
}
