package dpnb_test

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb"
	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/ledger"
	"github.com/dpnb/notebooks/dpnb/noise"
)

const people = "age,city,happy\n31,Bern,yes\n40,Bern,no\n64,Rome,no\n18,Rome,yes\n25,Bern,yes\n70,Rome,no\n"

func schema() []dpnb.Field {
	return []dpnb.Field{dpnb.Numeric("age", 18, 98), dpnb.Categorical("city", "Bern", "Rome"), dpnb.Categorical("happy", "no", "yes")}
}

func frameOf(t *testing.T, text string) dpnb.DataFrame {
	t.Helper()
	path := filepath.Join(t.TempDir(), "people.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dpnb.ReadCSV(path).WithSchema(schema()...)
}

func spent(t *testing.T, b *dpnb.Budget) (float64, int) {
	t.Helper()
	s, err := b.State()
	if err != nil {
		t.Fatal(err)
	}
	return s.SpentEpsilon, len(s.Entries)
}

func TestFitSpendsAndIsRefused(t *testing.T) {
	budget := fresh(1, 1e-6)
	data := dpnb.Binary(frameOf(t, people), "happy", dpnb.RowNorm(1))
	m, err := dpnb.Logistic{}.Fit(data, budget.Spend(0.6).For("first"))
	if err != nil {
		t.Fatal(err)
	}
	if m.Release.Simulated() || m.Release.Guarantee.Epsilon != 0.6 || m.Release.Guarantee.Delta != 0.6e-6 {
		t.Errorf("release %+v", m.Release)
	}
	if e, n := spent(t, budget); e != 0.6 || n != 1 {
		t.Errorf("spent %v in %d entries", e, n)
	}
	var over *ledger.OverspentError
	if _, err := (dpnb.Logistic{}).Fit(data, budget.Spend(0.5)); !errors.As(err, &over) {
		t.Errorf("an overspent budget: %v", err)
	}
	if e, n := spent(t, budget); e != 0.6 || n != 1 {
		t.Errorf("a refused fit was charged: %v in %d entries", e, n)
	}
	if _, err := (dpnb.Logistic{}).Fit(data, budget.Spend(0.4)); err != nil {
		t.Errorf("the rest of the budget cannot be spent: %v", err)
	}
}

// Equal parts of a budget must all be had.
func TestEqualPartsCanBeSpent(t *testing.T) {
	data := dpnb.Binary(frameOf(t, people), "happy", dpnb.RowNorm(1))
	for _, c := range []struct {
		epsilon, delta, part float64
		parts                int
	}{{1, 1e-5, 0.1, 10}, {2, 1e-5, 0.4, 5}, {7, 1e-5, 1, 7}, {0.3, 3e-7, 0.1, 3}} {
		b := fresh(c.epsilon, c.delta)
		for k := range c.parts {
			if _, err := (dpnb.Logistic{}).Fit(data, b.Spend(c.part)); err != nil {
				t.Errorf("part %d of %d: %v", k+1, c.parts, err)
			}
		}
		if _, err := (dpnb.Logistic{}).Fit(data, b.Spend(1e-3)); err == nil {
			t.Errorf("more than the whole of (%v, %v) was spent", c.epsilon, c.delta)
		}
	}
}

// countingNoise tells whether noise was drawn.
type countingNoise struct {
	*noise.Seeded
	draws int
}

func (c *countingNoise) Uint64() uint64 {
	c.draws++
	return c.Seeded.Uint64()
}

// Every kind of bad input must give an error that says what to do, before any
// noise is drawn and with the ledger unchanged.
func TestBadInput(t *testing.T) {
	good := func(t *testing.T) *dpnb.Dataset { return dpnb.Binary(frameOf(t, people), "happy", dpnb.RowNorm(1)) }
	type try struct {
		data      *dpnb.Dataset
		fit       dpnb.Logistic
		allowance func(b *dpnb.Budget) dpnb.Allowance
		want      string
	}
	half := func(b *dpnb.Budget) dpnb.Allowance { return b.Spend(0.5) }
	binary := func(text, label string, o ...dpnb.Option) *dpnb.Dataset {
		return dpnb.Binary(frameOf(t, text), label, o...)
	}
	for name, c := range map[string]try{
		"wrong path":        {dpnb.Binary(dpnb.ReadCSV("nowhere/data.csv"), "happy"), dpnb.Logistic{}, half, "nowhere/data.csv"},
		"empty file":        {binary("", "happy"), dpnb.Logistic{}, half, "empty"},
		"column not there":  {binary(people, "sad"), dpnb.Logistic{}, half, `no column "sad"`},
		"dropped not there": {dpnb.Binary(frameOf(t, people).Drop("weight"), "happy"), dpnb.Logistic{}, half, `no column "weight"`},
		"d = 0":             {binary("happy\nyes\nno\n", "happy"), dpnb.Logistic{}, half, "d = 0"},
		"no schema":         {dpnb.Binary(dpnb.ReadCSV(os.DevNull), "happy"), dpnb.Logistic{}, half, "empty"},
		"row norm 0":        {binary(people, "happy", dpnb.RowNorm(0)), dpnb.Logistic{}, half, "RowNorm"},
		"row norm NaN":      {binary(people, "happy", dpnb.RowNorm(math.NaN())), dpnb.Logistic{}, half, "RowNorm"},
		"λ < 0":             {good(t), dpnb.Logistic{Lambda: -1}, half, "Lambda"},
		"λ = NaN":           {good(t), dpnb.Logistic{Lambda: math.NaN()}, half, "Lambda"},
		"λ too small":       {good(t), dpnb.Logistic{Lambda: 1e-9}, half, "larger λ"},
		"ε = 0":             {good(t), dpnb.Logistic{}, func(b *dpnb.Budget) dpnb.Allowance { return b.Spend(0) }, "Epsilon"},
		"ε < 0":             {good(t), dpnb.Logistic{}, func(b *dpnb.Budget) dpnb.Allowance { return b.Spend(-1) }, "Epsilon"},
		"ε = NaN":           {good(t), dpnb.Logistic{}, func(b *dpnb.Budget) dpnb.Allowance { return b.Spend(math.NaN()) }, "Epsilon"},
		"δ = 0":             {good(t), dpnb.Logistic{}, func(b *dpnb.Budget) dpnb.Allowance { return b.Spend(0.5).WithDelta(0) }, "Delta"},
		"δ = 1":             {good(t), dpnb.Logistic{}, func(b *dpnb.Budget) dpnb.Allowance { return b.Spend(0.5).WithDelta(1) }, "Delta"},
		"too much ε":        {good(t), dpnb.Logistic{}, func(b *dpnb.Budget) dpnb.Allowance { return b.Spend(1.1) }, "refused"},
		"too much δ":        {good(t), dpnb.Logistic{}, func(b *dpnb.Budget) dpnb.Allowance { return b.Spend(0.5).WithDelta(1e-5) }, "refused"},
		"no budget":         {good(t), dpnb.Logistic{}, func(*dpnb.Budget) dpnb.Allowance { return dpnb.Allowance{} }, "no budget"},
		"no dataset":        {nil, dpnb.Logistic{}, half, "no dataset"},
	} {
		t.Run(name, func(t *testing.T) {
			budget := fresh(1, 1e-6)
			src := &countingNoise{Seeded: noise.NewSeeded(1)}
			c.fit.Noise = src
			m, err := c.fit.Fit(c.data, c.allowance(budget))
			if err == nil || m != nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("model %v, err = %v, want it to mention %q", m, err, c.want)
			}
			if e, n := spent(t, budget); e != 0 || n != 0 || src.draws != 0 {
				t.Errorf("spent %v in %d entries, %d draws", e, n, src.draws)
			}
		})
	}
	for name, b := range map[string]*dpnb.Budget{
		"ε = 0": fresh(0, 1e-6), "ε < 0": fresh(-1, 1e-6), "ε NaN": fresh(math.NaN(), 0),
		"δ < 0": fresh(1, -1), "δ = 1": fresh(1, 1), "nil": nil,
	} {
		if _, err := (dpnb.Logistic{}).Fit(good(t), b.Spend(0.5)); err == nil {
			t.Errorf("budget with %s is accepted", name)
		}
	}
}

func TestSimulationNeedsASeed(t *testing.T) {
	data := dpnb.Binary(frameOf(t, people), "happy", dpnb.RowNorm(1))
	if _, err := (dpnb.Logistic{}).Fit(data, dpnb.Simulate(1, 1e-6)); err == nil {
		t.Error("a release without a budget went through")
	}
	m, err := dpnb.Logistic{Noise: dpnb.Seed(3)}.Fit(data, dpnb.Simulate(1, 1e-6))
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
	dpnb.Show(df.Head(2))
	if s := out.String(); !strings.Contains(s, "RAW RECORDS") || !strings.Contains(s, "Bern") {
		t.Errorf("raw rows are shown as\n%s", s)
	}
	out.Reset()
	m, err := dpnb.Logistic{}.FitWithoutPrivacy(dpnb.Binary(df, "happy"))
	if err != nil {
		t.Fatal(err)
	}
	dpnb.Show(m, df.Drop("nothing"), fresh(1, 1e-6), m.Coefficients(), errors.New("boom"))
	if strings.Contains(out.String(), "RAW RECORDS") {
		t.Errorf("coefficients are labelled as records:\n%s", out.String())
	}
	out.Reset()
	table, _ := df.Table()
	dpnb.Show(df.Gota(), table)
	if n := strings.Count(out.String(), "RAW RECORDS"); n != 2 {
		t.Errorf("a gota dataframe and a table carry %d warnings", n)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("an unknown type is printed, whatever it holds")
			}
		}()
		dpnb.Show([][]float64{{1, 2}})
	}()
	out.Reset()
	dpnb.Show(m, df.Drop("nothing"), fresh(1, 1e-6), m.Coefficients(), errors.New("boom"))
	for _, want := range []string{"NOT PRIVATE", `no column "nothing"`, "Privacy budget", "boom"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}

func TestPredictAndScore(t *testing.T) {
	df := frameOf(t, people)
	data := dpnb.Binary(df, "happy", dpnb.RowNorm(1))
	m, err := dpnb.Logistic{Lambda: 1e-3}.FitWithoutPrivacy(data)
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
	if got := dpnb.Binary(df, "happy").MajorityShare(); got != 0.5 {
		t.Errorf("majority share %v", got)
	}
}

func TestAccuracyCurve(t *testing.T) {
	train, test := dpnb.Adult()
	a, b := dpnb.Binary(train.Head(1500), "income", dpnb.RowNorm(1)), dpnb.Binary(test.Head(500), "income", dpnb.RowNorm(1))
	c, err := dpnb.Logistic{Noise: dpnb.Seed(5)}.MeasureAccuracy(a, b, 1e-5, 4, 0.1, 1, 100)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := dpnb.Logistic{Noise: dpnb.Seed(5)}.MeasureAccuracy(a, b, 1e-5, 4, 0.1, 1, 100)
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
