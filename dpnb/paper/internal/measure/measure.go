// Package measure has what the checks of several papers measure with: exact laws in one dimension, sums and quadratures
// that are no release of ours, and records to try them on. How small an error a check notices is measured with
// claim.Scaled.
package measure

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// GaussianDelta is δ(ε) of the Gaussian mechanism with μ = sensitivity/σ.
func GaussianDelta(mu, eps float64) float64 {
	return privacy.DeltaUpper(privacy.GaussianProfile(mu, privacy.AddRemove), eps)
}

// HalfNormal is δ(ε) of W = k + a²/2 + a|N|; NaN where there is no such law.
func HalfNormal(k, a, eps float64) float64 {
	p, err := privacy.HalfNormal{K: k, A: a}.Profile(privacy.AddRemove)
	if err != nil {
		return math.NaN()
	}
	return privacy.DeltaUpper(p, eps)
}

// Kolmogorov returns √n times the largest distance of the empirical law of u to the uniform one.
func Kolmogorov(u []float64) float64 {
	slices.Sort(u)
	n := float64(len(u))
	var d float64
	for i, v := range u {
		d = math.Max(d, math.Max(float64(i+1)/n-v, v-float64(i)/n))
	}
	return d * math.Sqrt(n)
}

// UnitRecords returns n records of norm 1 with logistic labels.
func UnitRecords(n, d int, rng *noise.Seeded) (*matrix.Dense, []float64) {
	rows, labels := matrix.NewDense(n, d, nil), make([]float64, n)
	rng.Gaussian(rows.Data, 1)
	for i := range n {
		x := rows.Data[i*d : (i+1)*d]
		floats.Scale(1/floats.Norm(x, 2), x)
		labels[i] = 1
		if rng.Float64() > 1/(1+math.Exp(-3*x[0])) {
			labels[i] = -1
		}
	}
	return rows, labels
}
