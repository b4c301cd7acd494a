package pure

import (
	"math"
	"math/big"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
)

// The count has Laplace noise of 1/ε₁ exactly, and what it and the fit cost adds up to ε, whatever was counted: with a
// tenth less of noise, or with all of ε for the fit, it does not.
func TestCountAndFitShareEpsilon(t *testing.T) {
	c := config()
	c.Records = 0
	m := Counted{Config: c, Share: 0.1}
	const n, scale = 60, 10.0
	rows, labels := matrix.NewDense(n, c.Features, nil), make([]float64, n)
	for seed := range uint64(20) {
		r := must.Get(m.Run(rows, labels, noise.NewSeeded(seed), nil))
		fit := r.Fitted.(Objective)
		want := []float64{n}
		noise.Exact(noise.NewSeeded(seed)).Laplaces(1).AddRounded(want, scale, exact.Grid(scale))
		if k := math.RoundToEven(max(want[0], 1)); !(math.Abs(k-float64(fit.Records)) <= 1e-9*k) {
			t.Errorf("seed %d: %d counted, want %v", seed, fit.Records, k)
		}
		if eps := 1/scale + fit.Epsilon(); eps > c.Epsilon || eps < 0.999*c.Epsilon {
			t.Errorf("seed %d: the count and the fit cost %v of %v", seed, eps, c.Epsilon)
		}
	}
}

// The two parts add up to ε at most exactly, not only as they are printed.
func TestPartsOfEpsilonAddUpExactly(t *testing.T) {
	exactly := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
	for _, epsilon := range []float64{0.1, 0.3, 0.7, 1, 1.1, 2.3, 3} {
		for _, share := range []float64{0.001, 0.004, 0.02, 0.05, 0.1, 0.3, 0.5, 0.9} {
			c := config()
			c.Records, c.Epsilon = 0, epsilon
			m := Counted{Config: c, Share: share}
			fit := must.Get(m.after(1000))
			scale := 1 / m.share()
			count := new(big.Rat).Inv(exactly(scale))
			if sum := count.Add(count, exactly(fit.Epsilon())); sum.Cmp(exactly(epsilon)) > 0 {
				t.Errorf("ε = %v, a share of %v: %s", epsilon, share, sum.FloatString(25))
			}
		}
	}
}
