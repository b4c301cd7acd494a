package objpert_test

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// TestCentre: of the logistic loss it is the log-odds; a fit whose records say nothing has its intercept there, with
// the privacy of the fit without it.
func TestCentre(t *testing.T) {
	for _, rate := range []float64{0.01, 0.25, 0.5, 0.9} {
		got, want := objpert.CentreOf(loss.Logistic{}, rate), math.Log(rate/(1-rate))
		if !(math.Abs(got-want) <= 1e-9) {
			t.Errorf("rate %v: %v, want %v", rate, got, want)
		}
	}
	for _, l := range []loss.Loss{loss.Logistic{}, loss.Softplus{Width: 1}} { // records with weights are as any
		if of, want := objpert.CentreOf(loss.Weighted{Of: l}, 0.2), objpert.CentreOf(l, 0.2); of != want {
			t.Errorf("%s with weights: %v, want %v", l.Name(), of, want)
		}
	}
	for _, rate := range []float64{-1, 0, 1, 2} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a rate of %v has a centre", rate)
				}
			}()
			objpert.CentreOf(loss.Logistic{}, rate)
		}()
	}
	if a, b := objpert.CentreOf(loss.Softplus{Width: 1}, 0.3), objpert.CentreOf(loss.Softplus{Width: 1},
		0.7); !(math.Abs(a+b) <= 1e-9) || a >= 0 {
		t.Errorf("softplus: %v and %v", a, b)
	}
	m := must.Get(objpert.Calibrate(objpert.Config{Loss: loss.Logistic{}, RowNorm: math.Sqrt2, Epsilon: 1, Delta: 1e-6,
		Adjacency: privacy.AddRemove}))
	planned := objpert.Planned{Records: 100, Features: 3}
	with, without := m.Suited(planned, true, 0.2), m.Suited(planned, true, 0)
	if with.Shrinkage != 0 || with.Lambda != without.Lambda+without.Shrinkage ||
		with.Centre != objpert.CentreOf(loss.Logistic{}, 0.2) || without.Centre != 0 {
		t.Errorf("with a base rate %v, without %v", with, without)
	}
	a := must.Get(with.Profile())
	b := must.Get(m.Profile())
	if x, y := privacy.DeltaUpper(a, 1), privacy.DeltaUpper(b, 1); x > y {
		t.Errorf("δ = %v with a centre, %v without", x, y)
	}
	// The objective: minimised by another solver's problem with the square written out.
	rows, labels := matrix.NewDense(40, 3, nil), make([]float64, 40)
	rng := noise.NewSeeded(2)
	rng.Gaussian(rows.Data, 0.3)
	for i := range labels {
		rows.Data[3*i+2], labels[i] = 1, math.Copysign(1, rng.NormFloat64())
	}
	// Two fits from one seed: their difference is what the centre does to one noise.
	with.Sigma, with.OutputSigma = 1e-7, 1e-9
	r := must.Get(with.Run(rows, labels, noise.NewSeeded(3), nil))
	sol := must.Get(erm.Minimize(&erm.Problem{Rows: rows, Labels: labels, Loss: loss.Logistic{}, Lambda: with.Lambda,
		Linear: []float64{0, 0, -with.Lambda * with.Centre}}, nil))
	for j, v := range sol.Theta {
		if !(math.Abs(r.Coefficients[j]-v) <= 1e-6) {
			t.Errorf("coefficient %d: %v, want %v", j, r.Coefficients[j], v)
		}
	}
}
