package learn_test

import (
	"errors"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/ledger"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Ten logistic fits of a tenth each have ε ≈ 0.28, and what the ten releases are together, by their own profiles, is
// the budget and within 1 % of it.
func TestTenSharesOfAGaussianBudget(t *testing.T) {
	b, data := fresh(1, 1e-5), peopleData(t)
	square := 0.0
	for range 10 {
		m := must.Get(learn.Logistic{Noise: learn.Seed(1)}.Fit(data, b.Share(0.1)))
		g := m.Release.Guarantee
		if !(math.Abs(g.Epsilon-0.28) <= 0.006) || g.Delta != 1e-5 {
			t.Errorf("each is (%v, %v)", g.Epsilon, g.Delta)
		}
		if d := privacy.DeltaUpper(g.Profile, g.Epsilon); d > g.Delta {
			t.Errorf("each says δ = %v and has %v", g.Delta, d)
		}
		_, mu, ok := privacy.GaussianMu(g.Profile)
		if !ok {
			t.Fatal("logistic regression is no Gaussian mechanism")
		}
		square += mu * mu
	}
	whole := privacy.GaussianProfile(math.Sqrt(square), privacy.AddRemove)
	if eps, _ := privacy.EpsilonUpper(whole, 1e-5); eps > 1 || eps < 0.99 {
		t.Errorf("ten fits are ε = %v together", eps)
	}
	var over *ledger.OverspentError
	if _, err := (learn.Logistic{}).Fit(data, b.Spend(0.01)); !errors.As(err, &over) {
		t.Errorf("an eleventh: %v", err)
	}
}

// What is less than Gaussian is charged more than its ε says, shares keep within their μ, and the whole budget may go
// to any one release.
func TestSharesOfEveryLearner(t *testing.T) {
	data := kinds(t, 60)
	worth := must.Get(privacy.MuOf(4, 1e-5))
	type from struct {
		records string
		l       learn.Learner
	}
	learners := map[string]from{"SVM": {"Binary", learn.SVM{Noise: learn.Seed(1)}}}
	if testscale.Full() {
		learners["Linear"] = from{"Regression", learn.Linear{Noise: learn.Seed(1)}}
		learners["Softmax"] = from{"Classes", learn.Softmax{Noise: learn.Seed(1)}}
	}
	for name, c := range learners {
		b := fresh(4, 1e-5)
		for range 4 {
			if _, err := c.l.Fit(data[c.records], b.Share(0.25)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		s, err := b.State()
		if err != nil || s.Used > 1 || s.SpentEpsilon > 4 {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
		for _, e := range s.Entries {
			if e.Mu > worth/2 {
				t.Errorf("%s: a quarter costs μ = %v of %v", name, e.Mu, worth)
			}
		}
		t.Logf("%s: ε = %.3f each, %.3f together", name, s.Entries[0].Epsilon, s.SpentEpsilon)
		all := fresh(1, 1e-5)
		if _, err := c.l.Fit(data[c.records], all.Spend(1)); err != nil {
			t.Errorf("%s with the whole budget: %v", name, err)
		}
		if s, _ := all.State(); s.SpentEpsilon != 1 || s.Used != 1 {
			t.Errorf("%s with the whole budget: %+v", name, s)
		}
	}
}

// almostPure is a mechanism of pure ε but for a probability of δ, which its μ leaves out.
type almostPure struct {
	mechanism.Mechanism
	epsilon, delta float64
}

func (almostPure) String() string { return "almost pure" }

func (almostPure) Describe() mechanism.Description {
	return mechanism.Description{Name: "almost pure", Adjacency: privacy.AddRemove}
}

func (m almostPure) Event() (privacy.Event, error) {
	return privacy.Approx{Epsilon: m.epsilon, Delta: m.delta, Adj: privacy.AddRemove}, nil
}

// The probability for which a release is not μ-GDP is charged beside its μ, as much as there is of it, and adds up in
// what is said of all releases.
func TestSlackIsCharged(t *testing.T) {
	const slack = 1e-16
	b := fresh(1, 1e-5)
	choose := func(epsilon, _ float64, _ bool) (mechanism.Mechanism, error) {
		return almostPure{epsilon: epsilon / 2, delta: slack}, nil
	}
	for range 2 {
		must.Two(b.Spend(0.1).Pay(learn.Seed(1), "almost", peopleData(t), choose, nil))
	}
	s := must.Get(b.State())
	square := 0.0
	for _, e := range s.Entries {
		if square += e.Mu * e.Mu; !(e.Mu > 0) || e.Slack != slack {
			t.Errorf("charged %+v, want a slack of %g", e, slack)
		}
	}
	// Far out, where the Gaussian mechanism of the same μ has next to nothing, there is nothing else.
	if d := s.DeltaUpper(20 * math.Sqrt(square)); !(d >= 2*slack && d < 2.1*slack) {
		t.Errorf("δ = %g far out, want %g", d, 2*slack)
	}
}

// A share buys a fit of pure ε, which is a fifth of the ε that a Gaussian fit has of it: within its μ, and most of it.
func TestSharesOfPureFits(t *testing.T) {
	data := learn.Regression(incomes(t, 100).Drop("rich"), "spending")
	for _, f := range []float64{1, 0.1} {
		b := fresh(1, 1e-5)
		m, err := learn.HeavyTails{Records: 100, Noise: learn.Seed(1)}.Fit(data, b.Share(f))
		if err != nil {
			t.Errorf("a share of %v: %v", f, err)
			continue
		}
		s, err := b.State()
		if err != nil || s.Used > f || s.Used < f/2 || m.Release.Guarantee.Delta != 0 || s.Entries[0].Delta != 0 {
			t.Errorf("a share of %v: %+v, %v", f, s, err)
		}
		if d := privacy.DeltaUpper(m.Release.Guarantee.Profile, m.Release.Guarantee.Epsilon); d != 0 {
			t.Errorf("a share of %v has δ = %v", f, d)
		}
	}
}
