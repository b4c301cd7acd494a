package ours_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/paper/ours"
)

// Where no row is clipped, what is predicted of trainees without noise is the truth, at knots to 0.7 points. A plateau
// or a fall after the kink that is a tenth off would not pass.
func TestTrainees(t *testing.T) {
	data := learn.Regression(ours.Trainees(40_000, 3), "points", learn.Curves(), learn.ClipNorm(50))
	m := must.Get(learn.Huber{}.FitWithoutPrivacy(data))
	for column, at := range [][]float64{{30, 45, 71.4}, {0.5, 2, 4.3}} {
		usual := ours.Trainee{50, 2, 0, 0}
		truth, _ := ours.Along(nil, usual, column, at)
		if got, err := ours.Along(m, usual, column, at); err != nil || floats.Distance(got, truth, math.Inf(1)) > 0.7 {
			t.Errorf("column %d: %.2f, want %.2f (%v)", column, got, truth, err)
		}
	}
	f, err := ours.BesideTruth("age", 0, m.Shape("age"), map[string]*learn.Model{"predicted": m})
	if err == nil {
		_, err = f.PNG()
	}
	if err != nil {
		t.Error(err)
	}
}
