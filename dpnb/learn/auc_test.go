package learn_test

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// AUC is that of Predict's probabilities, which order the records as xᵀθ does.
func TestModelAUC(t *testing.T) {
	data := kinds(t, 400)
	m := must.Get(learn.Logistic{}.FitWithoutPrivacy(data["Binary"]))
	a, err := m.AUC(data["Binary"])
	if err != nil || a < 0.55 || a > 1 {
		t.Errorf("AUC %v (%v)", a, err)
	}
	noisy := must.Get(learn.Logistic{Noise: learn.Seed(1)}.Fit(data["Binary"], learn.Simulate(0.01, 1e-6)))
	if b, err := noisy.AUC(data["Binary"]); err != nil || math.IsNaN(b) || b >= a {
		t.Errorf("AUC %v at ε = 0.01, %v without noise (%v)", b, a, err)
	}
	other := must.Get(learn.Linear{}.FitWithoutPrivacy(data["Regression"]))
	if _, err := other.AUC(data["Regression"]); err == nil {
		t.Error("AUC of a number")
	}
}
