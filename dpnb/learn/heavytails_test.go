package learn_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// incomes returns records with heavy tails: spending = 1000 + 0.3·income − 20·age + noise, and
// rich = spending is above 9,000, with some numbers that are none.
func incomes(t *testing.T, n int) learn.DataFrame {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 9))
	var csv strings.Builder
	csv.WriteString("income,age,spending,rich\n")
	for i := range n {
		income, age := 20_000*math.Exp(0.8*r.NormFloat64()), 18+60*r.Float64()
		spending := 1000 + 0.3*income - 20*age + 500*r.NormFloat64()/math.Sqrt(r.ExpFloat64())
		rich := "no"
		if spending > 9000 {
			rich = "yes"
		}
		in := fmt.Sprintf("%.2f", income)
		if i%500 == 7 {
			in = []string{"Inf", "NaN", "1e300", "x"}[i/500%4]
		}
		fmt.Fprintf(&csv, "%s,%.1f,%.2f,%s\n", in, age, spending, rich)
	}
	table, err := frame.ReadCSV(strings.NewReader(csv.String()), nil)
	if err != nil {
		t.Fatal(err)
	}
	return learn.FromTable(table).WithSchema(learn.Numeric("income", 0, 50_000).Unbounded(), learn.Numeric("age",
		18, 78).Unbounded(),
		learn.Numeric("spending", 0, 20_000).Unbounded(), learn.Categorical("rich", "no", "yes"))
}

// On a budget of δ = 0 the fit is near the truth in the units of the columns, for features and
// a target without bounds, and what is spent is ε alone.
func TestHeavyTails(t *testing.T) {
	df := incomes(t, 20_000)
	data := learn.Regression(df.Drop("rich"), "spending")
	budget := learn.NewBudget(3, 0, learn.Named(t.Name()))
	m, err := learn.HeavyTails{Noise: learn.Seed(3)}.Fit(data, budget.Spend(1))
	if err != nil {
		t.Fatal(err)
	}
	if g := m.Release.Guarantee; g.Epsilon != 1 || g.Delta != 0 || privacy.DeltaUpper(g.Profile, 1) != 0 ||
		privacy.DeltaUpper(g.Profile, 0.99) == 0 {
		t.Errorf("guarantee (%g, %g), δ(1) = %g", g.Epsilon, g.Delta, privacy.DeltaUpper(g.Profile, 1))
	}
	plain, err := learn.HeavyTails{}.FitWithoutPrivacy(data)
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]*learn.Model{"private": m, "plain": plain} {
		units := m.CoefficientsInUnits()
		if units.Err != nil {
			t.Fatal(units.Err)
		}
		got := units.Col("coefficient").Float()
		for j, want := range []float64{0.3, -20, 1000} {
			if room := []float64{0.01, 3, 150}[j]; math.Abs(got[j]-want) > room {
				t.Errorf("%s: coefficient %d is %.4f, want %g", name, j, got[j], want)
			}
		}
	}
	if s, err := budget.State(); err != nil || s.SpentEpsilon != 1 || s.SpentDelta != 0 || len(s.Entries) != 1 {
		t.Errorf("state %+v (%v)", s, err)
	}
	// Records with an infinite number have no part in a score.
	if s, err := plain.Score(df.Drop("rich").Head(1000)); err != nil || s < 0.3 {
		t.Errorf("R² = %.3f (%v)", s, err)
	}
	// A quantile and a planned number; the share of another budget's δ is left there.
	other := learn.NewBudget(3, 1e-6, learn.Named(t.Name()+" with δ"))
	q, err := learn.HeavyTails{Loss: learn.PinballLoss, Tau: 0.9, Radius: 2, Records: 20_000,
		Noise: learn.Seed(4)}.Fit(data, other.Spend(1))
	if err != nil {
		t.Fatal(err)
	}
	if got := below(t, q, df.Drop("rich"), "spending"); math.Abs(got-0.9) > 0.03 {
		// what is smoothed is as wide as the noise of the data here
		t.Errorf("%.3f of the targets are below the 0.9 quantile", got)
	}
	if s, err := other.State(); err != nil || s.SpentDelta != 0 || s.SpentEpsilon != 1 {
		t.Errorf("state %+v (%v)", s, err)
	}
	for _, l := range []learn.HeavyTails{{Loss: learn.HuberLoss}, {Loss: learn.SquaredLoss, MomentBound: 2},
		{MomentBound: 4, WorstCase: true}, {Output: true, Records: 20_000}} {
		l.Noise = learn.Seed(5)
		m, err := l.Fit(data, learn.Simulate(2, 1e-6))
		if err != nil {
			t.Errorf("%+v: %v", l, err)
		} else if m.Release.Guarantee.Delta != 0 {
			t.Errorf("%+v: δ = %g", l, m.Release.Guarantee.Delta)
		}
	}
	few, err := learn.HeavyTails{Records: 100, Noise: learn.Seed(1)}.Fit(data, learn.Simulate(0.1, 0))
	if err != nil || !strings.Contains(few.Display().Warning, "about 156 are needed") {
		t.Errorf("few records: %v, %q", err, few.Display().Warning)
	}
	two := learn.Binary(df.Drop("spending"), "rich")
	for _, l := range []learn.HeavyTails{{Loss: learn.LogisticLoss}, {Loss: learn.HingeLoss}} {
		l.Noise, l.Radius = learn.Seed(5), 10
		m, err := l.Fit(two, learn.Simulate(1, 0))
		if err != nil {
			t.Fatal(err)
		}
		if score, err := m.Score(df.Drop("spending")); err != nil || score < 0.85 {
			t.Errorf("%+v: accuracy %.3f (%v)", l, score, err)
		}
	}
}

// What cannot be is refused by public numbers, with a reason, and the ledger stays as it was:
// parameters out of range, δ asked of a pure learner, a learner with δ on a pure budget,
// numbers without bounds given to others.
func TestHeavyTailsRefuses(t *testing.T) {
	df := incomes(t, 100)
	data := learn.Regression(df.Drop("rich"), "spending")
	budget := learn.NewBudget(1, 0, learn.Named(t.Name()))
	larger := learn.NewBudget(1, 1e-3, learn.Named(t.Name()+" with δ"))
	var bad *privacy.ParamError
	inf := math.Inf(1)
	for _, l := range []learn.HeavyTails{
		{Loss: 17}, {Loss: learn.PinballLoss}, {Loss: learn.PinballLoss, Tau: 1}, {Loss: learn.HuberLoss,
			Threshold: -1}, {Loss: learn.SquaredLoss},
		{Radius: -1}, {Radius: inf}, {Moment: 1}, {Moment: math.NaN()}, {MomentBound: -1}, {WorstCase: true},
		{Records: -1}, {Output: true}, {Workers: -1},
		{Tau: 0.3}, {Loss: learn.PinballLoss, Tau: 1.2}, {Threshold: 0.1}, {Moment: 2},
	} {
		if _, err := l.Fit(data, budget.Spend(0.5)); !errors.As(err, &bad) && !errors.Is(err, privacy.ErrUnsupported) {
			t.Errorf("%+v: %v", l, err)
		}
	}
	if _, err := (learn.HeavyTails{}).Fit(data, larger.Spend(0.5).WithDelta(1e-4)); !errors.As(err, &bad) ||
		!strings.Contains(err.Error(), "pure") {
		t.Errorf("δ asked of a pure learner: %v", err)
	}
	if _, err := (learn.HeavyTails{}).Fit(data, budget.Spend(1.5)); err == nil {
		t.Error("more than there is")
	}
	_, err := learn.HeavyTails{Loss: learn.PinballLoss, Tau: 1.2}.Fit(data, budget.Spend(0.5))
	if err == nil || !strings.Contains(err.Error(), "Tau = 1.2") {
		t.Errorf("a level of 1.2: %v", err)
	}
	_, err = learn.Huber{}.Fit(data, larger.Spend(0.5))
	if err == nil || !strings.Contains(err.Error(), "Unbounded") {
		t.Errorf("numbers without bounds: %v", err)
	}
	patients := learn.Regression(learn.Patients(50, 1), "pressure", learn.RowNorm(1))
	ill := learn.Binary(learn.Patients(50, 1), "ill", learn.RowNorm(1))
	for _, l := range []learn.Learner{learn.Linear{}, learn.Huber{}, learn.Quantile{}, learn.Logistic{},
		learn.SVM{}, learn.Logistic{Records: 50}} {
		on := patients
		switch l.(type) {
		case learn.Logistic, learn.SVM:
			on = ill
		}
		if _, err := l.Fit(on, budget.Spend(0.5)); !errors.As(err, &bad) || bad.Name != "Delta" ||
			!strings.Contains(err.Error(), "HeavyTails") {
			t.Errorf("%T on a pure budget: %v", l, err)
		}
	}
	for _, b := range []*learn.Budget{budget, larger} {
		if s, err := b.State(); err != nil || len(s.Entries) != 0 {
			t.Errorf("charged: %+v (%v)", s, err)
		}
	}
	if u := learn.Regression(learn.Patients(50, 1), "pressure", learn.RowNorm(1)); u.Err() == nil {
		m, err := learn.HeavyTails{Noise: learn.Seed(1)}.Fit(u, learn.Simulate(1, 0))
		if err != nil {
			t.Fatal(err)
		}
		if m.CoefficientsInUnits().Err == nil {
			t.Error("rows scaled to a norm have original units")
		}
	}
}
