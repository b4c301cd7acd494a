package objpert_test

import (
	"errors"
	"testing"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// Whether the slopes are too inexact for so many records or the solver has missed the tolerance must not be told apart:
// the one happens from a number of records on.
func TestUncertifiedFitsHaveOneText(t *testing.T) {
	m := objpert.Objective{
		Loss: loss.ClippedAt(loss.Poisson{MaxCount: 1e6}, 1000, 1), RowNorm: 1,
		Lambda: 1e7, Sigma: 1e4, Tolerance: 1e-6, OutputSigma: 1,
	}
	texts := map[string]bool{}
	for _, n := range []int{2, 2000} { // the slopes err by 1e-6 in all at some 140
		rows := matrix.NewDense(n, 1, nil)
		labels := make([]float64, n)
		for i := range labels {
			rows.Data[i], labels[i] = 0.5, float64(i%9)
		}
		_, err := m.Run(rows, labels, noise.NewSeeded(1), &mechanism.Settings{MaxPasses: 1})
		if !errors.Is(err, erm.ErrTolerance) {
			t.Fatalf("n = %d: %v", n, err)
		}
		texts[err.Error()] = true
	}
	if len(texts) != 1 {
		t.Errorf("%d texts for a missed certificate: %v", len(texts), texts)
	}
}
