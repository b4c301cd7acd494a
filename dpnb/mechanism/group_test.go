package mechanism_test

import (
	"errors"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/statistic"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// The count of k rows of one person moves by k, so that the best that can be had is known: σ is k times that of one
// row, with as little lost to rounding as 1e-6, at any k and δ.
func TestGroupsOfCountsAreExact(t *testing.T) {
	cells := statistic.Cells{{Levels: 1}}
	for _, c := range []struct{ eps, delta float64 }{{1, 1e-5}, {0.01, 0.001}, {3, 0}} {
		one := must.Get(statistic.CalibrateHistogram(cells, c.eps, c.delta, true))
		for _, k := range []int{2, 7, 1000} {
			m := must.Get(mechanism.ForPeople(k, func(eps, delta float64) (mechanism.Mechanism, error) {
				return of(statistic.CalibrateHistogram(cells, eps, delta, true))
			})(c.eps, c.delta))
			h := m.(mechanism.Group).Of.(statistic.Histogram)
			want := float64(k) * (one.Sigma + one.Scale)
			if got := h.Sigma + h.Scale; got < want*(1-1e-12) || got > want*(1+1e-6) {
				t.Errorf("%v, %d rows: the noise is %v, want %v", c, k, got, want)
			}
		}
	}
}

// What no parameter makes private enough is refused, and so are bounds that are none.
func TestGroupsThatAreRefused(t *testing.T) {
	keys := must.Get(statistic.SelectionConfig{Keys: 1, Epsilon: 1, Delta: 1e-5}.Calibrate())
	for _, rows := range []int{2, 100_000} {
		_, err := mechanism.ForPeople(rows, func(float64, float64) (mechanism.Mechanism, error) { return keys, nil })(1,
			1e-5)
		if err == nil || rows == 2 && !errors.Is(err, privacy.ErrUnsupported) {
			t.Errorf("%d rows: %v", rows, err)
		}
	}
	m, err := mechanism.ForPeople(1, func(float64, float64) (mechanism.Mechanism, error) { return keys, nil })(1, 1e-5)
	if _, grouped := m.(mechanism.Group); err != nil || grouped {
		t.Errorf("a row a person: %v, %v", m, err)
	}
	for _, rows := range []int{0, -1, 100_000} {
		if mechanism.CheckRows(rows) == nil || (mechanism.Group{Of: keys, Rows: rows}).Validate() == nil {
			t.Errorf("%d rows are accepted", rows)
		}
	}
	for _, m := range []mechanism.Mechanism{mechanism.Group{Of: answersForReplacing{keys}, Rows: 3},
		mechanism.Replaced{Of: answersForReplacing{keys}}} {
		if err := m.Validate(); !errors.Is(err, privacy.ErrUnsupported) {
			t.Errorf("%T of an event of replacing: %v", m, err)
		}
	}
}

// answersForReplacing says that it is under add/remove-one, and its event answers by a profile of replacing.
type answersForReplacing struct{ mechanism.Mechanism }

func (m answersForReplacing) Event() (privacy.Event, error) { return m, nil }

func (answersForReplacing) Profile(privacy.Adjacency) (privacy.Profile, error) {
	return privacy.Pure(1, privacy.ReplaceOne).Profile(privacy.ReplaceOne)
}

// What is only nearly Gaussian has about as much noise for k rows as k times that for one, and costs what was asked for
// and hardly less; so at every number of rows.
func TestGroupsOfFits(t *testing.T) {
	testscale.Slow(t)
	for name, l := range map[string]loss.Loss{"huber": loss.Huber{Threshold: 1}, "logistic": loss.Logistic{}} {
		for _, c := range []struct{ eps, delta float64 }{{1, 1e-5}, {0.1, 1e-6}, {4, 1e-4}} {
			choose := func(eps, delta float64) (mechanism.Mechanism, error) {
				return of(objpert.Calibrate(objpert.Config{Loss: l, RowNorm: 1, Epsilon: eps, Delta: delta,
					Adjacency: privacy.AddRemove}))
			}
			one := must.Get(choose(c.eps, c.delta)).(objpert.Objective).Sigma
			for _, k := range []int{2, 20, 100} {
				m := must.Get(mechanism.ForPeople(k, choose)(c.eps, c.delta))
				sigma := m.(mechanism.Group).Of.(objpert.Objective).Sigma / float64(k)
				p := must.Get(mechanism.Profile(m))
				delta := privacy.DeltaUpper(p, c.eps)
				if !(sigma > 0.99*one && sigma < 1.025*one) || !(delta <= c.delta) {
					t.Errorf("%s, %v, %d rows: σ = %v of each, of one %v; δ = %v", name, c, k, sigma, one, delta)
				}
				seen := must.Get(privacy.MuOf(c.eps, delta))
				if most := must.Get(privacy.MuOf(c.eps, c.delta)); !(seen > 0.99*most) {
					t.Errorf("%s, %v, %d rows: μ = %v of %v is used", name, c, k, seen, most)
				}
			}
		}
	}
}

// Replacing a record costs what removing one and adding another does: twice the μ of Gaussian noise, twice a pure ε;
// and what is chosen for (ε, δ) under replace-one has no more. A tenth less is seen, for μ and ε are within a
// thousandth.
func TestReplacingCostsTwice(t *testing.T) {
	bounds := []statistic.Number{{Lower: -2, Upper: 1}}
	sums := func(law statistic.Law) mechanism.Choice {
		return func(epsilon, delta float64) (mechanism.Mechanism, error) {
			return of(statistic.CalibrateSums(statistic.Means{Of: bounds, For: law}, law, epsilon, delta))
		}
	}
	profile := func(m mechanism.Mechanism, err error) privacy.Profile {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		p := must.Get(mechanism.Profile(m))
		return p
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if !(got > 0.999*want && got < 1.001*want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	mu := func(p privacy.Profile) float64 {
		_, mu, ok := privacy.GaussianMu(p)
		if !ok {
			t.Error("no Gaussian mechanism")
		}
		return mu
	}
	epsilon := func(p privacy.Profile) float64 {
		return must.Get(privacy.EpsilonUpper(p, 0))
	}
	normal, err := sums(statistic.Gaussian)(1, 1e-5)
	alone := mu(profile(normal, err))
	near("μ of a replacement", mu(profile(mechanism.Replaced{Of: normal}, nil)), 2*alone)
	near("μ at the same (ε, δ)", mu(profile(mechanism.ForReplacement(sums(statistic.Gaussian))(1, 1e-5))), alone)
	double, err := sums(statistic.Laplace)(1, 0)
	near("ε of a replacement", epsilon(profile(mechanism.Replaced{Of: double}, err)), 2)
	for _, eps := range []float64{1, 1.01} { // at a knot of an interpolated profile, and between two
		asked := epsilon(profile(mechanism.ForReplacement(sums(statistic.Laplace))(eps, 0)))
		if near("ε that was asked for", asked, eps); asked > eps {
			t.Errorf("ε = %v, and %v was asked for", asked, eps)
		}
	}
}

// What rounding takes from μ of so many rows it gives back: never less than k times that of one.
func TestGroupsRoundUp(t *testing.T) {
	one := must.Get(statistic.CalibrateHistogram(statistic.Cells{{Levels: 1}}, 1, 1e-5, true))
	mu := func(m mechanism.Mechanism) float64 {
		p := must.Get(mechanism.Profile(m))
		_, mu, _ := privacy.GaussianMu(p)
		return mu
	}
	for k := 2; k < 40; k++ {
		if got, want := mu(mechanism.Group{Of: one, Rows: k}), float64(k)*mu(one); got < want {
			t.Errorf("%d rows have μ = %v, less than %v", k, got, want)
		}
	}
	double := must.Get(statistic.CalibrateHistogram(statistic.Cells{{Levels: 1}}, 0.1, 0, true))
	epsilon := func(m mechanism.Mechanism) float64 {
		p := must.Get(mechanism.Profile(m))
		eps := must.Get(privacy.EpsilonUpper(p, 0))
		return eps
	}
	for k := 2; k < 40; k++ {
		if got, want := epsilon(mechanism.Group{Of: double, Rows: k}), float64(k)*epsilon(double); got < want {
			t.Errorf("%d rows have ε = %v, less than %v", k, got, want)
		}
	}
	for rows, allowed := range map[int]bool{0: false, 1: true, 10_000: true, 10_001: false} {
		if err := mechanism.CheckRows(rows); (err == nil) != allowed {
			t.Errorf("%d rows of a person: %v", rows, err)
		}
	}
}
