package dtz24

import (
	"context"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

// What is prepared from the public half is what the theory assumes, up to its own chance; where its assumptions hold it
// predicts, and where they do not it is near.
func TestWhitened(t *testing.T) {
	testscale.InTurn(t)
	const d = 8
	w := measure.Must(WhitenedAdult(d, 2))
	n, columns := w.Pool.Rows.Dims()
	if columns != d || w.Pool.RowNorm != 2 || n < 500 {
		t.Fatalf("%d records of %d features, norm %v", n, columns, w.Pool.RowNorm)
	}
	if norm := matrix.MaxNorm(w.Pool.Rows); norm > 2*(1+1e-12) {
		t.Errorf("a row has norm %v", norm)
	}
	x, positive := w.Pool.Rows.(*matrix.Dense), 0
	for j := range d {
		var mean, square float64
		for i := range n {
			mean += x.At(i, j) / float64(n)
			square += x.At(i, j) * x.At(i, j) * d / float64(n)
		}
		if !(math.Abs(mean) <= 0.2/math.Sqrt(d)) || !(math.Abs(square-1) <= 0.3) {
			t.Errorf("feature %d has mean %v and d times variance %v", j, mean, square)
		}
	}
	for _, y := range w.Pool.Labels {
		if y > 0 {
			positive++
		}
	}
	if share := float64(positive) / float64(n); !(math.Abs(share-0.5) <= 0.08) {
		t.Errorf("%.2f of the labels are positive", share)
	}
	f := measure.Must(w.Forecast(context.Background(), 250, 4, 1e-5, 40, 1))
	if z := (f.GaussianRows.MSE.Mean - f.PredictedMSE) / f.GaussianRows.MSE.StdErr; !(math.Abs(z) <= 4.5) {
		t.Errorf("Gaussian rows: squared error %v, predicted %v", f.GaussianRows.MSE, f.PredictedMSE)
	}
	if !(math.Abs(f.GaussianRows.Error.Mean-f.PredictedError) <= 0.02) ||
		!(math.Abs(f.Real.Error.Mean-f.PredictedError) <= 0.15) {
		t.Errorf("errors %v and %v, predicted %v", f.GaussianRows.Error, f.Real.Error, f.PredictedError)
	}
	for _, bad := range []int{0, n + 1} {
		if _, err := w.Forecast(context.Background(), bad, 4, 1e-5, 2, 1); err == nil {
			t.Errorf("%d records are accepted", bad)
		}
	}
	if _, err := WhitenedAdult(10_000, 2); err == nil {
		t.Error("more features than there are")
	}
	if _, err := WhitenedAdult(5, 0.5); err == nil {
		t.Error("a radius below 1 is accepted")
	}
}
