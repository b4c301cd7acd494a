package learn_test

import (
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/mechanism/pure"
)

// Every method is what it is called.
func TestHeavyTailsMethods(t *testing.T) {
	data := learn.Regression(incomes(t, 2000).Drop("rich"), "spending")
	for _, c := range []struct {
		l     learn.HeavyTails
		count int
	}{{learn.HeavyTails{}, 0}, {learn.HeavyTails{Method: learn.ByOutput}, 0},
		{learn.HeavyTails{Method: learn.ByDoubleOutput}, 1}, {learn.HeavyTails{Method: learn.ByLocalisation}, 3},
		{learn.HeavyTails{Method: learn.ByLocalisation, Phases: 5}, 5}} {
		c.l.Records, c.l.Noise = 2000, learn.Seed(1)
		fitted := must.Get(c.l.Fit(data, learn.Simulate(8, 0))).Release.Fitted
		p, phased := fitted.(pure.Phases)
		_, once := fitted.(pure.Output)
		if phased != (c.count > 0) || once != (c.l.Method == learn.ByOutput) || p.Count != c.count ||
			phased && !(p.Double && p.Blocks == 1) {
			t.Errorf("%+v: %v", c.l, fitted)
		}
	}
}
