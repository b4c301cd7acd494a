// Package measure has what the checks of several papers measure with: exact laws in one dimension, sums and quadratures
// that are no release of ours, and records to try them on. How small an error a check notices is measured with
// claim.Scaled.
package measure

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/sim"
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

// Exponent is the slope of ln y over ln x by least squares.
func Exponent(x, y []float64) float64 {
	a, b := make([]float64, len(x)), make([]float64, len(y))
	for i := range x {
		a[i], b[i] = math.Log(x[i]), math.Log(y[i])
	}
	_, slope := stat.LinearRegression(a, b, nil, false)
	return slope
}

// UnitRecords returns n records of norm 1 with logistic labels.
func UnitRecords(n, d int, rng *noise.Seeded) (*matrix.Dense, []float64) {
	return LabelledRecords(n, d, 3, rng)
}

// LabelledRecords are those with the slope of the labels' logit along the first feature.
func LabelledRecords(n, d int, slope float64, rng *noise.Seeded) (*matrix.Dense, []float64) {
	rows, labels := matrix.NewDense(n, d, nil), make([]float64, n)
	rng.Gaussian(rows.Data, 1)
	ScaleRows(rows, 1)
	for i := range n {
		labels[i] = Sign(rng.Float64() <= 1/(1+math.Exp(-slope*rows.Data[i*d])))
	}
	return rows, labels
}

// ScaleRows scales every row to the norm.
func ScaleRows(rows *matrix.Dense, norm float64) {
	for i := range rows.N {
		x := rows.Data[i*rows.D : (i+1)*rows.D]
		floats.Scale(norm/floats.Norm(x, 2), x)
	}
}

// Released is what one run of m releases of the coefficients.
func Released(m mechanism.Mechanism, rows matrix.Rows, labels []float64, src noise.Source) []float64 {
	return Must(m.Run(rows, labels, src, &mechanism.Settings{Workers: 1})).Coefficients
}

// Means is the mean over so many trials of each number that a trial gives, with its standard error. Trial k draws from
// stream k of src; what fails ends all.
func Means(ctx context.Context, trials int, src *noise.Seeded,
	trial func(k int, src *noise.Seeded) []float64) []sim.Summary {
	all := Must(sim.Trials(ctx, trials, 0, src, func(_, k int, src *noise.Seeded) ([]float64, error) {
		return trial(k, src), nil
	}))
	means, one := make([]sim.Summary, len(all[0])), make([]float64, trials)
	for i := range means {
		for k, t := range all {
			one[k] = t[i]
		}
		means[i] = sim.Summarize(one)
	}
	return means
}
