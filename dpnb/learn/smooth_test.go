package learn_test

import (
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/frame/parquet"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/matrix/stored"
	"github.com/dpnb/notebooks/dpnb/paper/scale"
)

// What a smoothed quantile has not is named, with both of what was set.
func TestSmoothAndWhatTakesSteps(t *testing.T) {
	data := learn.Regression(learn.Patients(100, 1), "pressure")
	for name, l := range map[string]learn.Quantile{"CurvatureShare": {Smooth: 0.1, CurvatureShare: 0.2},
		"Steps": {Smooth: 0.1, Steps: 9}, "L1": {Smooth: 0.1, L1: 1}} {
		l.Noise = learn.Seed(1)
		_, err := l.Fit(data, learn.Simulate(1, 1e-6))
		if want := "has no " + name + ": leave one of them out"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A smoothed quantile is as good as one by steps, meets its level, and says what it has not.
func TestSmoothQuantiles(t *testing.T) {
	testscale.InTurn(t)
	train, test := learn.Patients(20_000, 1), learn.Patients(20_000, 2)
	data := learn.Regression(train, "pressure")
	taus := []float64{0.9}
	if testscale.Full() {
		taus = append(taus, 0.1, 0.5)
	}
	for _, tau := range taus {
		steps := must.Get(learn.Quantile{Tau: tau, Noise: learn.Seed(3)}.Fit(data, learn.Simulate(1, 1e-6)))
		m := must.Get(learn.Quantile{Tau: tau, Smooth: 0.1, Noise: learn.Seed(3)}.Fit(data, learn.Simulate(1, 1e-6)))
		want, err := steps.Score(test)
		got, err2 := m.Score(test)
		scores, err3 := m.QuantileScores(test)
		must.Do(errors.Join(err, err2, err3))
		if !(got > want-0.002) {
			t.Errorf("τ = %g: R¹ %.4f, by steps %.4f", tau, got, want)
		}
		if below := scores.Below[0]; !(math.Abs(below-tau) <= 0.015) {
			t.Errorf("τ = %g: %.3f of the targets are below", tau, below)
		}
		if _, err := m.Intervals(0.95); err == nil || !strings.Contains(err.Error(), "CurvatureShare") {
			t.Errorf("intervals: %v", err)
		}
	}
}

// A smoothed quantile takes at most three passes more than Huber.
func TestPassesOfSmoothQuantiles(t *testing.T) {
	testscale.Slow(t)
	dir := t.TempDir()
	g := scale.Invented{Rows: 20_000}
	path := filepath.Join(dir, "a.parquet")
	must.Do(parquet.Write(path, g))
	df := learn.FromScanner(parquet.Open(path, nil)).WithSchema(scale.Schema().Fields...)
	passes := func(l learn.Learner) int {
		var far *there
		by := learn.PassesBy(func(rows stored.Records) (matrix.Rows, error) {
			far = &there{Records: rows}
			return far, nil
		})
		must.Get(l.Fit(learn.Regression(df, "x3", learn.StoredIn(frame.Storage{Dir: dir}), learn.Uncentred(), by),
			learn.Simulate(1, 1e-6)))
		return far.passes
	}
	huber := passes(learn.Huber{Noise: learn.Seed(1)})
	for _, tau := range []float64{0.1, 0.5, 0.9} {
		got := passes(learn.Quantile{Tau: tau, Smooth: 0.1, Noise: learn.Seed(1)})
		if t.Logf("τ = %g: %d passes, Huber %d", tau, got, huber); got > huber+3 || got == 0 {
			t.Errorf("τ = %g: %d passes, Huber %d", tau, got, huber)
		}
	}
}
