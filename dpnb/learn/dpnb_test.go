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
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/ledger"
	"github.com/dpnb/notebooks/dpnb/noise"
)

const people = "age,city,happy\n31,Bern,yes\n40,Bern,no\n64,Rome,no\n18,Rome,yes\n25,Bern,yes\n70,Rome,no\n"

func schema() []learn.Field {
	return []learn.Field{learn.Numeric("age", 18, 98), learn.Categorical("city", "Bern", "Rome"),
		learn.Categorical("happy", "no", "yes")}
}

func frameOf(t *testing.T, text string) learn.DataFrame {
	t.Helper()
	path := filepath.Join(t.TempDir(), "people.csv")
	must.Do(os.WriteFile(path, []byte(text), 0o600))
	return learn.ReadCSV(path).WithSchema(schema()...)
}

func spent(t *testing.T, b *learn.Budget) (float64, int) {
	t.Helper()
	s := must.Get(b.State())
	return s.SpentEpsilon, len(s.Entries)
}

func TestFitSpendsAndIsRefused(t *testing.T) {
	budget := fresh(1, 1e-6)
	data := learn.Binary(frameOf(t, people), "happy", learn.RowNorm(1))
	m := must.Get(learn.Logistic{}.Fit(data, budget.Spend(0.6).For("first")))
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

// A share of all is (ε, δ), which is less noise than a μ where the curvature of a record is paid for; nothing is left
// of the budget then, and where something was spent it is not to be had.
func TestShareOfAll(t *testing.T) {
	testscale.Slow(t)
	data := learn.Regression(frameOf(t, people).Drop("happy"), "age", learn.RowNorm(1))
	epsilon := func(a learn.Allowance) float64 {
		m := must.Get(learn.Linear{Noise: learn.Seed(3), Lambda: 2}.Fit(data, a.Simulated()))
		return m.Release.Guarantee.Epsilon
	}
	b := fresh(1, 1e-6)
	if all, most := epsilon(b.Share(1)), epsilon(b.Share(0.999)); all != 1 || !(most < 0.97) {
		t.Errorf("ε = %v of all, want 1, and %v of nearly all, want less", all, most)
	}
	fit := func(b *learn.Budget, share float64) error {
		_, err := learn.Linear{Noise: learn.Seed(3), Lambda: 2}.Fit(data, b.Share(share))
		return err
	}
	if err := fit(b, 1); err != nil {
		t.Error(err)
	}
	if fit(b, 0.9) == nil {
		t.Error("something was left of all")
	}
	b = fresh(1, 1e-6)
	must.Get(learn.Huber{Noise: learn.Seed(3)}.Fit(data, b.Share(1e-4)))
	if fit(b, 1) == nil {
		t.Error("all could be had of what was not all")
	}
}

func TestSimulationNeedsASeed(t *testing.T) {
	data := learn.Binary(frameOf(t, people), "happy", learn.RowNorm(1))
	b := fresh(1, 1e-6)
	for _, a := range []learn.Allowance{learn.Simulate(1, 1e-6), b.Share(1).Simulated(), b.Spend(0.5).Simulated()} {
		if _, err := (learn.Logistic{}).Fit(data, a); err == nil {
			t.Error("a release without a budget went through")
		}
	}
	must.Get(learn.Logistic{Noise: learn.Seed(3)}.Fit(data, b.Share(1).Simulated()))
	if s := must.Get(b.State()); len(s.Entries) != 0 {
		t.Errorf("a simulation was charged: %+v", s)
	}
	if _, err := (learn.Logistic{Noise: learn.Seed(3)}).Fit(data, b.Share(2).Simulated()); err == nil {
		t.Error("a simulation of two budgets")
	}
	m := must.Get(learn.Logistic{Noise: learn.Seed(3)}.Fit(data, learn.Simulate(1, 1e-6)))
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
	m := must.Get(learn.Logistic{}.FitWithoutPrivacy(learn.Binary(df, "happy")))
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
	says(t, out.String(), "NOT PRIVATE", `no column "nothing"`, "Privacy budget", "boom")
}

// Nothing is released of the first rows of a table but a simulation: which they are depends on others.
func TestHeadIsNotReleased(t *testing.T) {
	head := frameOf(t, people).Head(4)
	data := learn.Binary(head.Filter(func(int) bool { return true }), "happy")
	if _, err := (learn.Logistic{}).Fit(data, fresh(1, 1e-6).Spend(0.5)); err == nil ||
		!strings.Contains(err.Error(), "Head") {
		t.Errorf("a fit to the first rows: %v", err)
	}
	must.Get(learn.Logistic{Noise: learn.Seed(3)}.Fit(learn.Binary(head, "happy"), learn.Simulate(1, 1e-6)))
}

// Intervals have a level between 0 and 1, whatever they cover. Where records fill a small part of the bounds of a
// number that bends, those for the population say so, and not where it is straight.
func TestIntervalsSayWhereTheyMiss(t *testing.T) {
	n := 4000
	x, y, src := make([]float64, n), make([]float64, n), noise.NewSeeded(5)
	for i := range x {
		x[i] = 50 + 4*src.NormFloat64()
		y[i] = x[i] + src.NormFloat64()
	}
	df := learn.FromColumns(learn.Numbers("x", x), learn.Numbers("y", y)).WithSchema(learn.Numeric("x", 0, 100),
		learn.Numeric("y", 0, 100))
	for _, lines := range []bool{false, true} {
		var how []learn.Option
		if lines {
			how = append(how, learn.Lines())
		}
		m := must.Get(learn.Linear{Noise: learn.Seed(1), CurvatureShare: 0.1}.Fit(learn.Regression(df, "y", how...),
			learn.Simulate(4, 1e-6)))
		said := must.Get(m.PopulationIntervals(0.95)).Display().Text()
		if strings.Contains(said, "a small part of the bounds of x") == lines {
			t.Errorf("lines %v: %s", lines, said)
		}
		for _, level := range []float64{95, 0, -1, 1, math.NaN()} {
			for name, ask := range map[string]func(float64) (*learn.Intervals, error){"Intervals": m.Intervals,
				"ProvedIntervals": m.ProvedIntervals, "PopulationIntervals": m.PopulationIntervals} {
				if _, err := ask(level); err == nil {
					t.Errorf("%s of level %v", name, level)
				}
			}
		}
	}
}
