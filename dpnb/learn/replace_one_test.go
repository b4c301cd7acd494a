package learn_test

import (
	"math"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/sgd"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Quantiles for records that are replaced have (ε, δ) for that, hardly less is spent, the noise is what a record more
// or less has at half of μ, and the report says which neighbours are meant; the budget is charged (ε, δ). With a tenth
// less noise, or that of a record more or less, (ε, δ) does not hold.
func TestQuantilesReplaceOne(t *testing.T) {
	testscale.Slow(t)
	data := learn.Regression(learn.Patients(900, 1), "pressure", learn.RowNorm(1))
	for name, l := range map[string]func(replace bool) learn.Learner{
		"median":    func(r bool) learn.Learner { return learn.Median{ReplaceOne: r} },
		"planned":   func(r bool) learn.Learner { return learn.Median{ReplaceOne: r, Records: 900} },
		"quantiles": func(r bool) learn.Learner { return learn.Quantiles{ReplaceOne: r} },
		"intervals": func(r bool) learn.Learner { return learn.Median{ReplaceOne: r, CurvatureShare: 0.2} },
	} {
		const eps, delta = 1.0, 1e-6
		budget := fresh(eps, delta)
		m, err := l(true).Fit(data, budget.Spend(eps))
		if err != nil {
			t.Fatal(name, err)
		}
		other, err := l(false).Fit(data, fresh(eps, delta).Spend(eps))
		if err != nil {
			t.Fatal(name, err)
		}
		g := m.Release.Guarantee
		if d := privacy.DeltaUpper(g.Profile, eps); g.Adjacency != privacy.ReplaceOne || d > delta || d < 0.95*delta {
			t.Errorf("%s: δ(%g) = %g, %v", name, eps, d, g.Adjacency)
		}
		if ratio := m.Release.NoiseScale / other.Release.NoiseScale; ratio < 2 || ratio > 2.01 {
			t.Errorf("%s: the noise is %g times that for a record more or less", name, ratio)
		}
		if q, ok := m.Release.Fitted.(sgd.Quantiles); ok && name == "planned" {
			q.NoiseMultiplier *= 0.9
			for what, wrong := range map[string]mechanism.Mechanism{"a tenth less noise": q,
				"the noise for a record more or less": other.Release.Fitted} {
				p, err := mechanism.Profile(mechanism.Replaced{Of: wrong})
				if err != nil || privacy.DeltaUpper(p, eps) <= delta {
					t.Errorf("%s goes unnoticed (%v)", what, err)
				}
			}
		} else if name == "planned" {
			t.Errorf("fitted by %v", m.Release.Fitted)
		}
		if s, err := budget.State(); err != nil || !(math.Abs(s.SpentEpsilon-eps) <= 1e-9) {
			t.Errorf("%s: spent %v (%v)", name, s.SpentEpsilon, err)
		}
		if text := m.Display().Text(); !strings.Contains(text, "replacing any one record") {
			t.Errorf("%s: not said whom it protects:\n%s", name, text)
		}
	}
}
