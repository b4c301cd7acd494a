package learn_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// below returns the share of records of which the target is below what m predicts.
func below(t *testing.T, m *learn.Model, df learn.DataFrame, target string) float64 {
	t.Helper()
	q, err := m.Predict(df)
	if err != nil {
		t.Fatal(err)
	}
	count := 0.0
	for i, y := range df.Gota().Col(target).Float() {
		if y < q[i] {
			count++
		}
	}
	return count / float64(len(q))
}

// A share τ of new targets lies below the prediction; the private fit is near the ordinary
// one; and what it releases has the guarantee that was asked for, and hardly a better one.
func TestQuantile(t *testing.T) {
	train, test := learn.Patients(6000, 1), learn.Patients(6000, 2)
	data := learn.Regression(train, "pressure", learn.RowNorm(1))
	for _, tau := range []float64{0, 0.9} {
		want := tau
		if tau == 0 {
			want = 0.5
		}
		l := learn.Quantile{Tau: tau, Noise: learn.Seed(3)}
		plain, err := l.FitWithoutPrivacy(data)
		if err != nil {
			t.Fatal(err)
		}
		if got := below(t, plain, test, "pressure"); math.Abs(got-want) > 0.02 {
			t.Errorf("τ = %g: %.3f of the targets are below the ordinary fit", want, got)
		}
		m, err := l.Fit(data, learn.Simulate(2, 1e-6))
		if err != nil {
			t.Fatal(err)
		}
		if got := below(t, m, test, "pressure"); math.Abs(got-want) > 0.03 {
			t.Errorf("τ = %g: %.3f of the targets are below the private fit", want, got)
		}
		if got := privacy.DeltaUpper(m.Release.Guarantee.Profile, 2) / 1e-6; got > 1 || got < 0.99 {
			t.Errorf("τ = %g: δ(ε) is %.4f of what was asked for", want, got)
		}
	}
}

// The result is that of the records and the noise, not of the workers, nor of the unit
// in which the target is stated.
func TestQuantileOfAnyWorkers(t *testing.T) {
	data := learn.Regression(learn.Patients(900, 1), "pressure", learn.RowNorm(1))
	var first []float64
	for _, workers := range []int{1, 2, 5} {
		m, err := learn.Quantile{Tau: 0.2, Steps: 20, Noise: learn.Seed(3), Workers: workers}.Fit(data, learn.Simulate(1, 1e-6))
		if err != nil {
			t.Fatal(err)
		}
		if theta := m.Release.Coefficients; first == nil {
			first = theta
		} else if !slices.Equal(theta, first) {
			t.Errorf("%d workers: other coefficients", workers)
		}
	}
}

// What is out of range is refused, and nothing is charged.
func TestQuantileRefuses(t *testing.T) {
	data := learn.Regression(learn.Patients(50, 1), "pressure", learn.RowNorm(1))
	budget := learn.NewBudget(1, 1e-6, learn.Named(t.Name()))
	var bad *privacy.ParamError
	for _, l := range []learn.Quantile{{Tau: 1}, {Tau: -0.1}, {Tau: math.NaN()}, {Radius: -1}, {Radius: math.Inf(1)}, {Steps: -1}, {Workers: -1}} {
		if _, err := l.Fit(data, budget.Spend(0.5)); !errors.As(err, &bad) {
			t.Errorf("%+v: %v", l, err)
		}
		if s, err := budget.State(); err != nil || len(s.Entries) != 0 {
			t.Fatalf("%+v: charged (%v)", l, err)
		}
	}
	var task *learn.TaskError
	if _, err := (learn.Median{}).Fit(learn.Binary(learn.Patients(50, 1), "ill"), budget.Spend(0.5)); !errors.As(err, &task) {
		t.Errorf("two classes: %v", err)
	}
}
