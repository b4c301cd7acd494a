package learn_test

import (
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/pure"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Every method costs the ε that it was given and no δ, is what it is called, and is near the fit without privacy where
// the noise is small; objective perturbation is the nearest where it is not, all on the same records and seeds.
func TestHeavyTailsMethods(t *testing.T) {
	df := incomes(t, 20_000)
	data := learn.Regression(df.Drop("rich"), "spending")
	plain := must(learn.HeavyTails{}.FitWithoutPrivacy(data)).Theta()
	far := func(l learn.HeavyTails, eps float64, seeds int) (mean float64, fitted mechanism.Mechanism) {
		l.Records = 20_000
		for seed := range seeds {
			l.Noise = learn.Seed(uint64(seed))
			m := must(l.Fit(data, learn.Simulate(eps, 1e-6)))
			g := m.Release.Guarantee
			if g.Epsilon != eps || g.Delta != 0 || privacy.DeltaUpper(g.Profile, eps) != 0 ||
				privacy.DeltaUpper(g.Profile, 0.99*eps) == 0 {
				t.Errorf("%+v: guarantee (%g, %g)", l, g.Epsilon, g.Delta)
			}
			mean += floats.Distance(m.Theta(), plain, 2) / float64(seeds)
			fitted = m.Release.Fitted
		}
		return mean, fitted
	}
	objective, _ := far(learn.HeavyTails{}, 1, 8)
	for _, c := range []struct {
		l     learn.HeavyTails
		name  string
		count int
		// most is how far from the plain fit it may end at ε = 100.
		most float64
	}{
		{learn.HeavyTails{Method: learn.ByOutput}, "output perturbation, pure ε", 0, 0.015},
		{learn.HeavyTails{Method: learn.ByDoubleOutput}, "localised double output perturbation, pure ε", 1, 0.015},
		{learn.HeavyTails{Method: learn.ByLocalisation}, "localised double output perturbation, pure ε", 3, 0.015},
		{learn.HeavyTails{Method: learn.ByLocalisation, Phases: 5}, "localised double output perturbation, pure ε", 5,
			0.015},
	} {
		noisy, fitted := far(c.l, 1, 8)
		if name := fitted.Describe().Name; name != c.name {
			t.Errorf("%+v: %s", c.l, name)
		}
		p, phased := fitted.(pure.Phases)
		if phased != (c.count > 0) || p.Count != c.count || phased && !(p.Double && p.Blocks == 1) {
			t.Errorf("%+v: %v", c.l, fitted)
		}
		exact, _ := far(c.l, 100, 2)
		t.Logf("%+v: %.3f from the fit without privacy at ε = 1, objective %.3f; %.4f at ε = 100", c.l.Method, noisy,
			objective, exact)
		if noisy < 2*objective || exact > c.most {
			t.Errorf("%+v: %.3f from the fit without privacy, %.3f by objective perturbation; %.3f at ε = 100", c.l,
				noisy, objective, exact)
		}
	}
}
