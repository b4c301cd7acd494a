package learn_test

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/ledger"
)

const people = "age,city,happy\n31,Bern,yes\n40,Bern,no\n64,Rome,no\n18,Rome,yes\n25,Bern,yes\n70,Rome,no\n"

func schema() []learn.Field {
	return []learn.Field{learn.Numeric("age", 18, 98), learn.Categorical("city", "Bern", "Rome"),
		learn.Categorical("happy", "no", "yes")}
}

func frameOf(t *testing.T, text string) learn.DataFrame {
	t.Helper()
	path := filepath.Join(t.TempDir(), "people.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return learn.ReadCSV(path).WithSchema(schema()...)
}

func spent(t *testing.T, b *learn.Budget) (float64, int) {
	t.Helper()
	s, err := b.State()
	if err != nil {
		t.Fatal(err)
	}
	return s.SpentEpsilon, len(s.Entries)
}

func TestFitSpendsAndIsRefused(t *testing.T) {
	budget := fresh(1, 1e-6)
	data := learn.Binary(frameOf(t, people), "happy", learn.RowNorm(1))
	m, err := learn.Logistic{}.Fit(data, budget.Spend(0.6).For("first"))
	if err != nil {
		t.Fatal(err)
	}
	if m.Release.Simulated() || m.Release.Guarantee.Epsilon != 0.6 || m.Release.Guarantee.Delta != 0.54e-6 {
		t.Errorf("release %+v", m.Release)
	}
	if e, n := spent(t, budget); e != 0.6 || n != 1 {
		t.Errorf("spent %v in %d entries", e, n)
	}
	var over *ledger.OverspentError
	if _, err := (learn.Logistic{}).Fit(data, budget.Spend(0.9)); !errors.As(err, &over) {
		t.Errorf("an overspent budget: %v", err)
	}
	if e, n := spent(t, budget); e != 0.6 || n != 1 {
		t.Errorf("a refused fit was charged: %v in %d entries", e, n)
	}
	if _, err := (learn.Logistic{}).Fit(data, budget.Spend(0.4)); err != nil {
		t.Errorf("the rest of the budget cannot be spent: %v", err)
	}
}

// Equal parts of a budget must all be had.
func TestEqualPartsCanBeSpent(t *testing.T) {
	data := learn.Binary(frameOf(t, people), "happy", learn.RowNorm(1))
	for _, c := range []struct {
		epsilon, delta, part float64
		parts                int
	}{{1, 1e-5, 0.1, 10}, {2, 1e-5, 0.4, 5}, {7, 1e-5, 1, 7}, {0.3, 3e-7, 0.1, 3}} {
		b := fresh(c.epsilon, c.delta)
		for k := range c.parts {
			if _, err := (learn.Logistic{}).Fit(data, b.Spend(c.part)); err != nil {
				t.Errorf("part %d of %d: %v", k+1, c.parts, err)
			}
		}
		if _, err := (learn.Logistic{}).Fit(data, b.Spend(c.epsilon)); err == nil {
			t.Errorf("more than the whole of (%v, %v) was spent", c.epsilon, c.delta)
		}
	}
}

func TestSimulationNeedsASeed(t *testing.T) {
	data := learn.Binary(frameOf(t, people), "happy", learn.RowNorm(1))
	if _, err := (learn.Logistic{}).Fit(data, learn.Simulate(1, 1e-6)); err == nil {
		t.Error("a release without a budget went through")
	}
	m, err := learn.Logistic{Noise: learn.Seed(3)}.Fit(data, learn.Simulate(1, 1e-6))
	if err != nil {
		t.Fatal(err)
	}
	if it := m.Display(); !strings.Contains(it.Warning, "SIMULATION") {
		t.Errorf("a simulation is shown without a warning: %+v", it)
	}
}

func TestShowLabelsRawRows(t *testing.T) {
	var out bytes.Buffer
	display.Out = &out
	defer func() { display.Out = nil }()
	df := frameOf(t, people)
	learn.Show(df.Head(2))
	if s := out.String(); !strings.Contains(s, "RAW RECORDS") || !strings.Contains(s, "Bern") {
		t.Errorf("raw rows are shown as\n%s", s)
	}
	out.Reset()
	m, err := learn.Logistic{}.FitWithoutPrivacy(learn.Binary(df, "happy"))
	if err != nil {
		t.Fatal(err)
	}
	learn.Show(m, df.Drop("nothing"), fresh(1, 1e-6), m.Coefficients(), errors.New("boom"))
	if strings.Contains(out.String(), "RAW RECORDS") {
		t.Errorf("coefficients are labelled as records:\n%s", out.String())
	}
	out.Reset()
	table, _ := df.Table()
	learn.Show(df.Gota(), table)
	if n := strings.Count(out.String(), "RAW RECORDS"); n != 2 {
		t.Errorf("a gota dataframe and a table carry %d warnings", n)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("an unknown type is printed, whatever it holds")
			}
		}()
		learn.Show([][]float64{{1, 2}})
	}()
	out.Reset()
	learn.Show(m, df.Drop("nothing"), fresh(1, 1e-6), m.Coefficients(), errors.New("boom"))
	for _, want := range []string{"NOT PRIVATE", `no column "nothing"`, "Privacy budget", "boom"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}

func TestPredictAndScore(t *testing.T) {
	df := frameOf(t, people)
	data := learn.Binary(df, "happy", learn.RowNorm(1))
	m, err := learn.Logistic{Lambda: 1e-3}.FitWithoutPrivacy(data)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Predict(data)
	if err != nil || len(p) != 6 {
		t.Fatal(p, err)
	}
	s, err := m.Score(data)
	if err != nil || s < 5.0/6 {
		t.Errorf("score %v, %v: the classes can be told apart by age and city", s, err)
	}
	if got := learn.Binary(df, "happy").MajorityShare(); got != 0.5 {
		t.Errorf("majority share %v", got)
	}
}

func TestAccuracyCurve(t *testing.T) {
	train, test := learn.Adult()
	a, b := learn.Binary(train.Head(1500), "income", learn.RowNorm(1)), learn.Binary(test.Head(500), "income",
		learn.RowNorm(1))
	c, err := learn.SweepEpsilon(learn.Logistic{Noise: learn.Seed(5)}, a, b, 1e-5, 4, 0.1, 1, 100)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := learn.SweepEpsilon(learn.Logistic{Noise: learn.Seed(5)}, a, b, 1e-5, 4, 0.1, 1, 100)
	for i := range c.Mean {
		if c.Mean[i] != again.Mean[i] || !(c.Lower[i] <= c.Mean[i] && c.Mean[i] <= c.Upper[i]) {
			t.Errorf("point %d: %+v, again %+v", i, c, again)
		}
	}
	if math.Abs(c.Mean[2]-c.NonPrivate) > 0.03 || c.Mean[0] > c.Mean[2] {
		t.Errorf("at ε = 100 accuracy is %v, without privacy %v", c.Mean[2], c.NonPrivate)
	}
	if png, err := c.Figure().PNG(); err != nil || len(png) < 5000 {
		t.Errorf("figure: %d bytes, %v", len(png), err)
	}
}
