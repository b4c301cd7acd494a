package learn_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// The whole costs what it says: the ledger has one entry of the (ε, δ) that was allowed, the profile keeps to it and
// uses it up, and it is that of the selection theorem for runs whose μ² is the costliest fit's and the score's
// together, worked out here again.
func TestTuneCostsWhatItSays(t *testing.T) {
	data := kinds(t, 400)["Binary"]
	tune := learn.Tune{Learners: []learn.Learner{learn.Logistic{}, learn.SVM{}, learn.Logistic{Lambda: 40}}}
	budget := fresh(1, 1e-5)
	m := must.Get(tune.Fit(data, budget.Spend(1)))
	s, err := budget.State()
	if err != nil || len(s.Entries) != 1 || s.Entries[0].Epsilon != 1 || s.Entries[0].Delta != 1e-5 ||
		!strings.Contains(s.Entries[0].Mechanism, "chosen among several") {
		t.Errorf("the ledger has %+v (%v)", s, err)
	}
	g := m.Release.Guarantee
	if d := privacy.DeltaUpper(g.Profile, 1); g.Epsilon != 1 || g.Delta != 1e-5 || d > 1e-5 || d < 0.99e-5 {
		t.Errorf("(%v, %v), and δ(1) = %v", g.Epsilon, g.Delta, d)
	}
	runs, score, fits := learn.TunedParts(m)
	if runs != 9 || len(fits) != 3 {
		t.Errorf("%v runs of %d fits", runs, len(fits))
	}
	most := 0.0
	for _, p := range fits {
		_, mu, ok := privacy.GaussianMu(p)
		if !ok {
			t.Fatal("a fit is no Gaussian mechanism")
		}
		most = math.Max(most, mu)
	}
	if ratio := 1 / (score * score) / (1/(score*score) + most*most); !(math.Abs(ratio-0.1) <= 1e-6) {
		t.Errorf("the score has %v of μ²", ratio)
	}
	delta := func(mu float64) float64 {
		p := must.Get(privacy.SelectionPoissonProfile(privacy.GaussianProfile(mu, privacy.AddRemove), runs))
		return privacy.DeltaUpper(p, 1)
	}
	mu := math.Hypot(most, 1/score)
	if want, got := delta(mu), privacy.DeltaUpper(g.Profile, 1); !(got >= want && got < want*1.01+1e-8) {
		t.Errorf("δ(1) = %v, the theorem has %v", got, want)
	}
	// What is wrong by a tenth is seen: a fit or a score that is not paid for, noise that is a hundredth less, one run.
	for what, wrong := range map[string]float64{"no score": delta(most), "less noise": delta(mu * 1.01),
		"one run": privacy.DeltaUpper(privacy.GaussianProfile(mu, privacy.AddRemove), 1)} {
		if r := wrong / 1e-5; r > 0.99 && r <= 1 {
			t.Errorf("%s: δ(1) is %v of what is allowed, which is as it should be", what, r)
		}
	}
	// Far out all that is left is that one of the runs may cost more than its μ.
	slack := runs * m.Choice().Slack
	if far := privacy.DeltaUpper(g.Profile, 300); !(far > 0 && far >= slack && far <= 1.01*slack) {
		t.Errorf("δ(300) = %v, and the slack of %v runs is %v", far, runs, slack)
	}
	alone := must.Get(privacy.MuOf(1, 1e-5))
	t.Logf("a fit has %.2f times the noise that it has alone", alone/most)
}

// The best is chosen where choices differ, of every kind of record: a λ that is far off, a clip level, columns without
// which nothing can be learnt. The model says what was chosen, predicts with its own columns, and is the same when it
// was kept. There are no intervals.
func TestTuneChooses(t *testing.T) {
	testscale.InTurn(t)
	data := kinds(t, 4000)
	few := [][]string{{"age", "weight", "smoker", "visits", "pressure"}, {"ward"}}
	for name, test := range map[string]struct {
		tune learn.Tune
		from string
		won  func(m *learn.Model) bool
	}{
		"λ": {learn.Tune{Learners: []learn.Learner{learn.Logistic{Lambda: 1e5}, learn.Logistic{Lambda: 30}}}, "Binary",
			func(m *learn.Model) bool { return m.Lambda() == 30 }},
		"columns": {learn.Tune{Learners: []learn.Learner{learn.SVM{}}, Without: few}, "Binary",
			func(m *learn.Model) bool { return slices.Contains(m.Columns(), "age") }},
		"clip": {learn.Tune{Learners: []learn.Learner{learn.Poisson{Clip: 100}, learn.Poisson{}}}, "Counts",
			func(m *learn.Model) bool { return strings.Contains(m.Release.Mechanism, "|f′| ≤ 5") }},
		"classes": {learn.Tune{Learners: []learn.Learner{learn.Softmax{Lambda: 1e5}, learn.Softmax{}}}, "Classes",
			func(m *learn.Model) bool { return m.Lambda() < 1e5 }},
	} {
		if test.from != "Binary" && !testscale.Full() {
			continue // others take seconds to calibrate
		}
		right := 0
		const seeds = 10
		test.tune.Runs = 12
		for seed := range uint64(seeds) {
			test.tune.Noise = learn.Seed(seed)
			m, err := test.tune.Fit(data[test.from], learn.Simulate(4, 1e-5))
			if err != nil {
				t.Fatal(name, err)
			}
			if test.won(m) {
				right++
			}
			if seed > 0 {
				continue
			}
			if _, err := m.Score(data[test.from]); err != nil {
				t.Error(name, err)
			}
			if _, err := m.Intervals(0.9); err == nil {
				t.Errorf("%s: there are intervals after a choice", name)
			}
			back := kept(t, m)
			if !sameBits(back.Theta(), m.Theta()) || !reflect.DeepEqual(back.Display(), m.Display()) {
				t.Errorf("%s: it is another model after it was kept", name)
			}
			if _, err := m.Card(); err != nil {
				t.Error(name, err)
			}
		}
		if right < seeds-1 {
			t.Errorf("%s: the better one was chosen in %d of %d", name, right, seeds)
		}
		if m, err := test.tune.FitWithoutPrivacy(data[test.from]); err != nil || m.Release != nil {
			t.Errorf("%s, without privacy: %v", name, err)
		}
	}
}

// One record less changes the score of any coefficients by at most one, to the last bit, and by no less than one
// somewhere: of every kind of record.
func TestTuneScoreMovesByOne(t *testing.T) {
	for from, learner := range map[string]learn.Learner{"Binary": learn.Logistic{}, "Regression": learn.Linear{},
		"Counts": learn.Poisson{}, "Classes": learn.Softmax{}} {
		all, fewer := plain(t, 301)[from], plain(t, 300)[from]
		plain := must.Get(learner.FitWithoutPrivacy(all))
		most := 0.0
		for _, scale := range []float64{1, -3, 1e-9, 1e300, math.Inf(1)} {
			theta := plain.Theta()
			for j := range theta {
				theta[j] *= scale
			}
			with, without := learn.TuneScore(all, theta), learn.TuneScore(fewer, theta)
			if !(with-without >= 0 && with-without <= 1) || !(without >= 0 && without <= 300) {
				t.Errorf("%s at %g: %v of 301 records, %v of 300", from, scale, with, without)
			}
			most = max(most, with-without)
		}
		if most < 0.3 {
			t.Errorf("%s: the last record changes nothing", from)
		}
	}
}

// A choice is a learner: FitOnce has it once, and a share of a budget pays for it.
func TestTuneOnce(t *testing.T) {
	data, budget := kinds(t, 50), fresh(1, 1e-5)
	two := []learn.Learner{learn.Logistic{}, learn.SVM{}}
	l := learn.Tune{Learners: two, Without: [][]string{nil, {"age"}}}
	for range 2 {
		if _, err := learn.FitOnce("best", l, data["Binary"], budget.Spend(0.5)); err != nil {
			t.Error(err)
		}
	}
	l.Runs = 5
	if _, err := learn.FitOnce("best", l, data["Binary"], budget.Spend(0.5)); err == nil ||
		!strings.Contains(err.Error(), "Runs is 5 and was not set") {
		t.Error(err)
	}
	if _, n := spent(t, budget); n != 1 {
		t.Errorf("%d entries", n)
	}
}

// A run is charged as the costliest of all fits, wherever it is in the list.
func TestTuneChargesTheCostliestFit(t *testing.T) {
	testscale.Slow(t)
	data := kinds(t, 400)["Binary"]
	learners := []learn.Learner{learn.Logistic{}, learn.Logistic{Bound: objective.DTZ24, Records: 400}}
	for range 2 {
		m := must.Get(learn.Tune{Learners: learners}.Fit(data, fresh(1, 1e-5).Spend(1)))
		_, _, fits := learn.TunedParts(m)
		var costs []float64
		for _, p := range fits {
			mu, slack, err := privacy.AsGaussian(p, m.Choice().Slack)
			if err != nil || slack > m.Choice().Slack {
				t.Fatal(mu, slack, err)
			}
			costs = append(costs, mu)
		}
		if most := slices.Max(costs); m.Choice().Mu != most || slices.Min(costs) > 0.99*most {
			t.Errorf("fits of μ = %v, and %v is charged", costs, m.Choice().Mu)
		}
		slices.Reverse(learners)
	}
}

// The cost that is told before is that of the fit, whichever learner comes first, and not that of the first alone; of
// one that cannot be chosen among there is none.
func TestCostOfTuneIsThatOfAll(t *testing.T) {
	testscale.Slow(t)
	data := kinds(t, 60)["Binary"]
	logistic, svm := learn.Logistic{}, learn.SVM{}
	for _, learners := range [][]learn.Learner{{logistic, svm}, {svm, logistic}} {
		tune, budget := learn.Tune{Learners: learners}, fresh(1, 1e-5)
		must.Get(logistic.Fit(data, budget.Spend(0.3)))
		after := func(l learn.Learner) string {
			c := must.Get(budget.Spend(0.4).Cost(l, data))
			return c.Display().Rows[1][1]
		}
		told, first := after(tune), after(learners[0])
		must.Get(tune.Fit(data, budget.Spend(0.4)))
		s, err := budget.State()
		if err != nil || told != privacy.FormatUp(s.SpentEpsilon, 4) || told == first {
			t.Errorf("told %s, of the first alone %s; spent %v, %v", told, first, s.SpentEpsilon, err)
		}
	}
	if _, err := fresh(1, 1e-5).Spend(0.5).Cost(learn.Tune{Learners: []learn.Learner{logistic, learn.HeavyTails{
		Loss: learn.LogisticLoss}}}, data); err == nil {
		t.Error("a cost of what is refused")
	}
}

// Choices that learn curves, those that learn straight lines from the same records, and sets of columns are fitted,
// predict, and are the same after they were kept, whichever is chosen.
func TestTuneOfCurves(t *testing.T) {
	testscale.InTurn(t)
	for name, l := range map[string]learn.Tune{
		"learners": {Learners: []learn.Learner{learn.SVM{}, learn.Logistic{Lambda: 3}}},
		"columns":  {Learners: []learn.Learner{learn.SVM{}}, Without: [][]string{nil, {"age", "ward"}}},
	} {
		chosen := map[string]bool{}
		for seed := range uint64(8) {
			data := learn.Binary(learn.Patients(300, 11), "ill")
			l.Noise, l.Runs = learn.Seed(seed), 3
			m, err := l.Fit(data, fresh(1, 1e-5).Spend(1))
			if err != nil {
				t.Fatal(name, err)
			}
			p, err := m.Predict(data)
			q, errBack := kept(t, m).Predict(data)
			if err != nil || errBack != nil || !sameBits(p, q) {
				t.Errorf("%s, seed %d: other predictions (%v, %v)", name, seed, err, errBack)
			}
			names := m.Coefficients().Col("feature").Records()
			none := strings.Contains(m.Release.Mechanism, "none was drawn")
			if slices.Contains(names, "age~1") && !none {
				t.Errorf("%s, seed %d: straight lines have hats: %v", name, seed, names)
			}
			chosen[fmt.Sprint(len(names), m.Lambda() == 3)] = true
		}
		if len(chosen) < 2 {
			t.Errorf("%s: never another choice", name)
		}
	}
}
