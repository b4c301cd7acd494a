package experiment_test

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/dpnb/notebooks/dpnb/dataset"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/paper/experiment"
)

func TestAdultSets(t *testing.T) {
	testscale.Slow(t)
	dir, _ := filepath.Abs("../../../data") // the sample of invented people only
	t.Setenv(dataset.DirEnv, dir)
	for _, load := range []func() (experiment.Set, error){experiment.Adult, experiment.AdultAsPublished} {
		s := must.Get(load())
		n, d := s.Train.Rows.Dims()
		if n < 1000 || d < 50 || len(s.Train.Labels) != n || matrix.MaxNorm(s.Train.Rows) > s.Train.RowNorm ||
			!(math.Abs(s.Test.RowNorm-math.Sqrt2) <= 1e-9) {
			t.Errorf("%s: %d × %d, RowNorm %v", s.Name, n, d, s.Train.RowNorm)
		}
	}
	if _, err := experiment.Synthetic("bad", dataset.Clusters{}); err == nil {
		t.Error("a population of nothing is accepted")
	}
}

func TestAccuracy(t *testing.T) {
	r := &experiment.Records{Rows: matrix.NewDense(4, 1, []float64{1, -1, 2, 0}), Labels: []float64{1, -1, -1, -1},
		RowNorm: 2}
	if a, err := experiment.Accuracy(r, []float64{1}); err != nil || a != 0.75 {
		t.Errorf("accuracy %v, %v", a, err)
	}
	if _, err := experiment.Accuracy(r, []float64{1, 2}); err == nil {
		t.Error("two coefficients for one feature are accepted")
	}
}
