package learn_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// A model of step functions is shown cell by cell, predicts, and is the same when it was kept and loaded again.
func TestStepFunctionsAreKept(t *testing.T) {
	df := oddFrame(t, strings.Repeat("50,Bern,130,2,no\n20,Rome,90,1,yes\n", 200))
	m := learn.AllMechanisms[slices.IndexFunc(learn.AllMechanisms, func(m learn.Mechanism) bool {
		return m.Name() == "DP-EBM"
	})]
	for from, data := range map[string]*learn.Dataset{"classes": learn.Binary(df, "ill", learn.Curves()),
		"numbers": learn.Regression(df, "pressure", learn.RowNorm(1))} {
		budget := fresh(8, 1e-5)
		model := must.Get(m.Fit(data, budget.Spend(8), nil))
		first := model.Coefficients().Elem(0, 0).String()
		if first != "age from 18 to 19.25" || model.CoefficientsInUnits().Err == nil {
			t.Errorf("%s: the first coefficient is of %q", from, first)
		}
		p := must.Get(model.Predict(df.Head(2)))
		if from == "classes" && !(p[0] < 0.3 && p[1] > 0.7) || from == "numbers" && !(p[0] > 120 && p[1] < 100) {
			t.Errorf("%s: predicted %v", from, p)
		}
		path := filepath.Join(t.TempDir(), "steps.json")
		must.Do(model.Save(path))
		again := must.Get(learn.Load(path))
		if q, err := again.Predict(df.Head(2)); err != nil || !slices.Equal(p, q) {
			t.Errorf("%s: %v, %v when loaded (%v)", from, p, q, err)
		}
	}
}
