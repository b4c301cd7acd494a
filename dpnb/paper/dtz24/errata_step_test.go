package dtz24

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/errata"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

// Figure 6: steps of ½·1/(1 + δ) expand where δ = d/n is small.
func TestDTZ24Step(t *testing.T) {
	// Step times the largest eigenvalue of XᵀX in the limit; a step contracts where curvature 1 is met only if it is
	// below 2.
	edge := func(ratio float64) float64 { return math.Pow(1+1/math.Sqrt(ratio), 2) }
	printed := func(ratio float64) float64 { return edge(ratio) / 2 / (1 + ratio) }
	right := func(ratio float64) float64 { return edge(ratio) / 2 / (1 + 1/ratio) }
	lo, hi := 0.01, 10.0
	for range 100 {
		if mid := math.Sqrt(lo * hi); printed(mid) > 2 {
			lo = mid
		} else {
			hi = mid
		}
	}
	for ratio := 0.001; ratio < 1000; ratio *= 1.1 {
		if right(ratio) > 1+1e-12 {
			t.Errorf("d/n = %.3g: the other step times the eigenvalue is %.4g", ratio, right(ratio))
		}
	}
	// 138 records of 7 features with entries ±1/√d, as in the figure.
	const n, d = 138, 7
	src := noise.NewSeeded(51)
	var product measure.Mean
	x := mat.NewDense(n, d, nil)
	for range 200 {
		for i := range n {
			for j := range d {
				x.Set(i, j, math.Copysign(1/math.Sqrt(d), src.NormFloat64()))
			}
		}
		var gram mat.SymDense
		gram.SymOuterK(1, x.T())
		var eig mat.EigenSym
		eig.Factorize(&gram, false)
		product.Add(eig.Values(nil)[d-1] / 2 / (1 + float64(d)/n))
	}
	if !(product.M > 8 && math.Abs(product.M/printed(float64(d)/n)-1) < 0.15) {
		t.Errorf("step times the largest eigenvalue: drawn %.3f ± %.2g, limit %.3f", product.M, product.Err(),
			printed(float64(d)/n))
	}
	errata.Quote(t, "dtz24-51", "%.3f", hi)
	errata.Quote(t, "dtz24-51", "%.1f", product.M)
	errata.Quote(t, "dtz24-51", "%.1f", printed(float64(d)/n))
}
