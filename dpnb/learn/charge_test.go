package learn_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// What parameters decide is decided before the charge: whatever they are, a fit is refused for nothing or paid for and
// had.
func TestParametersAreJudgedBeforeTheCharge(t *testing.T) {
	testscale.Slow(t)
	const dtz = objective.DTZ24 // the quick one
	data := kinds(t, 60)
	type maker func(lambda, v float64) learn.Learner
	src := learn.Seed(1)
	refused, models := 0, 0
	try := func(name, from string, l learn.Learner, epsilon float64) {
		budget := fresh(100, 1e-3)
		m, err := l.Fit(data[from], budget.Spend(epsilon).WithDelta(1e-6))
		e, _ := spent(t, budget)
		switch {
		case err == nil && e == epsilon:
			models++
			for _, v := range m.Theta() {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("%s: a coefficient is %v", name, v)
				}
			}
		case err != nil && e == 0:
			refused++
		default:
			t.Errorf("%s: spent %v, and %v", name, e, err)
		}
	}
	values := []float64{1e-300, 1e-30, 1e-15, 1e-9, 1e-6, 1e-4, 0.01, 1, 1e4, 1e9, 1e15, 1e300}
	if !testscale.Full() {
		values = []float64{1e-300, 1e-9, 1e-4, 1, 1e15}
	}
	for name, l := range map[string]struct {
		from  string
		make  maker
		knobs []float64
	}{
		"Logistic": {"Binary", func(lambda, _ float64) learn.Learner {
			return learn.Logistic{Lambda: lambda,
				Noise: src}
		}, nil},
		"SVM": {"Binary", func(lambda, v float64) learn.Learner {
			return learn.SVM{Lambda: lambda, Width: v,
				Noise: src}
		}, values},
		"Linear": {"Regression", func(lambda, v float64) learn.Learner {
			return learn.Linear{Lambda: lambda, Clip: v, Noise: src, Bound: dtz}
		}, values},
		"Huber": {"Regression", func(lambda, v float64) learn.Learner {
			return learn.Huber{Lambda: lambda, Threshold: v, Noise: src, Bound: dtz}
		}, values},
		"Poisson": {"Counts", func(lambda, v float64) learn.Learner {
			return learn.Poisson{Lambda: lambda, Clip: v, Noise: src, Bound: dtz}
		}, values},
		"OneVsRest": {"Classes", func(lambda, _ float64) learn.Learner {
			return learn.OneVsRest{Lambda: lambda,
				Noise: src}
		}, nil},
		"Softmax": {"Classes", func(lambda, _ float64) learn.Learner {
			return learn.Softmax{Lambda: lambda,
				Noise: src}
		}, nil},
	} {
		for _, v := range l.knobs {
			try(fmt.Sprintf("%s, parameter %g", name, v), l.from, l.make(0, v), 1)
		}
		for _, lambda := range values {
			epsilon := 1.0
			if lambda < 1 {
				epsilon = 50 // a smaller one refuses such a λ by its accounting
			}
			try(fmt.Sprintf("%s, λ = %g, ε = %g", name, lambda, epsilon), l.from, l.make(lambda, 0), epsilon)
		}
	}
	if refused < 15 || models < 15 {
		t.Errorf("%d fits were refused and %d made", refused, models)
	}
}

// How many records there are must not decide whether a fit that was paid for comes to anything. The slopes of counts up
// to 10⁶ err by a millionth of the largest slope, which is what is certified, in the sum of 140,819 records.
func TestManyRecordsAreCertified(t *testing.T) {
	var text strings.Builder
	text.WriteString("x,visits\n")
	for i := range 150_000 {
		fmt.Fprintf(&text, "%d,%d\n", i%10, 5+i%7)
	}
	path := filepath.Join(t.TempDir(), "visits.csv")
	must.Do(os.WriteFile(path, []byte(text.String()), 0o600))
	df := learn.ReadCSV(path).WithSchema(learn.Numeric("x", 0, 9), learn.Numeric("visits", 0, 1e6))
	data := learn.Counts(df, "visits", learn.RowNorm(1))
	budget := fresh(1, 1e-6)
	if _, err := (learn.Poisson{Noise: learn.Seed(1), Bound: objective.DTZ24}).Fit(data, budget.Spend(1)); err != nil {
		e, _ := spent(t, budget)
		t.Errorf("spent %v, and %v", e, err)
	}
}

// TestFitsAtAFixedRidgeAddUp: it had not been found what such fits cost as Gaussian mechanisms, the μ of the noise in
// their output had been taken for that of all, and a budget covered any number.
func TestFitsAtAFixedRidgeAddUp(t *testing.T) {
	data := learn.Binary(frameOf(t, people), "happy", learn.RowNorm(1), learn.Uncentred())
	for _, l := range []learn.Logistic{{Lambda: 2}, {Lambda: 2, Bound: objective.DTZ24}} {
		b, fits := fresh(1, 1e-6), 0
		l.Noise = learn.Seed(1)
		for ; fits < 6; fits++ {
			if _, err := l.Fit(data, b.Spend(0.26)); err != nil {
				break
			}
		}
		s := must.Get(b.State())
		if fits != 3 || s.SpentEpsilon < 0.75 {
			t.Errorf("%d fits of ε = 0.26 from a budget of 1, which are ε = %v together", fits, s.SpentEpsilon)
		}
	}
}
