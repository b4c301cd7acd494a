package explore_test

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/explore"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// A question that is asked again under its name is answered with the numbers of the first time, to the last bit, and
// paid for once; another question under that name is refused.
func TestOnce(t *testing.T) {
	for _, kept := range []bool{false, true} {
		options := []learn.BudgetOption{learn.Named("explore once " + t.TempDir())}
		if kept {
			options = []learn.BudgetOption{learn.Named("explore once kept " + t.TempDir()),
				learn.KeptIn(filepath.Join(t.TempDir(), "budget.json"))}
		}
		budget := learn.NewBudget(3, 1e-6, options...)
		df := people(20_000).WithSchema(learn.Numeric("age", 17, 90), learn.Categorical("city", "Bern", "Rome"),
			learn.Categorical("flag", "Bern", "Rome")).DeriveNumber(learn.Numeric("size", 0, 9),
			func(r learn.Row) float64 { return math.Mod(r.Number("age"), 10) }, "age")
		for name, q := range map[string]explore.Query{
			"mean": explore.Mean("age"), "table": explore.Crosstab("city"), "bars": explore.Histogram("age"),
			"by": explore.Mean("age").By("city"), "keys": explore.Keys("city"),
			"variance": explore.Variance("age"), "sum by": explore.Sum("age").By("flag"),
			"quantiles": explore.QuantilesOf("age", 0.1, 0.5), "summary": explore.Describe(),
			"correlations": explore.Correlations("age", "size"), "count": explore.Count(),
		} {
			first := must.Get(q.Once(name, df, budget.Spend(0.1)))
			before := spent(t, budget)
			again := must.Get(q.Confidence(0.5).Once(name, df, budget.Spend(0.1)))
			same := func(a, b explore.Row) bool { return a.Value == b.Value && a.Name == b.Name }
			if !slices.EqualFunc(first.Rows(), again.Rows(), same) || spent(t, budget) != before {
				t.Errorf("%s: %v, then %v; spent %v, then %v", name, first.Rows(), again.Rows(), before,
					spent(t, budget))
			}
			const then = "This is what was released before"
			other := must.Get(again.WithConfidence(0.9))
			if strings.Contains(first.Display().Text(), then) || !strings.Contains(again.Display().Text(), then) ||
				!strings.Contains(other.Display().Text(), then) {
				t.Errorf("%s: given again as %s", name, again.Display().Text())
			}
			if a, b := first.Guarantee(), again.Guarantee(); a.Epsilon != b.Epsilon || a.Delta != b.Delta {
				t.Errorf("%s: %v, then %v", name, a.Words(), b.Words())
			}
			lo, hi := again.Interval()
			if wide, high := first.Interval(); !(wide <= lo && hi <= high) || name == "mean" && hi == high {
				t.Errorf("%s: half the confidence is [%v, %v] beside [%v, %v]", name, lo, hi, wide, high)
			}
			_, err := explore.Sum("age").Once(name, df, budget.Spend(0.1))
			if err == nil || !strings.Contains(err.Error(), `: the question is "sum of age" and was "`) ||
				spent(t, budget) != before {
				t.Errorf("%s: another question under its name: %v", name, err)
			}
		}
		if _, err := explore.Mean("age").Noise(learn.Seed(1)).Once("seed", df, budget.Spend(0.1)); err == nil {
			t.Error("a simulation is kept as a release")
		}
	}
}

// What was released with bounds that were read off the data is not taken for one with public bounds.
func TestOnceKeepsTheMark(t *testing.T) {
	budget := learn.NewBudget(1, 1e-6, learn.Named(t.TempDir()))
	df := people(500)
	table := must.Get(df.Table())
	age, _ := frame.InferSchema(table).Field("age")
	marked := must.Get(explore.Mean("age").Once("age", df.WithSchema(*age), budget.Spend(0.1)))
	if w := marked.Display().Warning; !strings.Contains(w, "READ OFF THE DATA") || strings.Contains(w, "SIMULATION") {
		t.Errorf("a release by bounds that were read off the data says %q", w)
	}
	stated := df.WithSchema(learn.Numeric("age", age.Lower, age.Upper))
	if _, err := explore.Mean("age").Once("age", stated, budget.Spend(0.1)); err == nil {
		t.Error("an answer by bounds that were read off the data is given as one by public bounds")
	}
}

// What was released for so many rows of a person, by a column, is not given for others: it protects whom it says.
func TestOnceIsOfItsPeople(t *testing.T) {
	budget := learn.NewBudget(1, 1e-6, learn.Named(t.TempDir()))
	df := people(500).WithSchema(learn.Numeric("age", 17, 90))
	for name, q := range map[string]explore.Query{"mean": explore.Mean("age"), "keys": explore.Keys("age")} {
		must.Get(q.Once(name, df.PerPerson("city", 2), budget.Spend(0.1)))
		for want, df := range map[string]learn.DataFrame{"rows is 3 and was 2": df.PerPerson("city", 3),
			`person is "flag" and was "city"`: df.PerPerson("flag", 2), "rows is 1 and was 2": df} {
			_, err := q.Once(name, df, budget.Spend(0.1))
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
	}
}

// What was released of several files is not given for others, of which the first has the same name, and the first file
// that differs is named: what is private of them, their content, is not looked at.
func TestOnceIsOfItsFiles(t *testing.T) {
	dir, budget := t.TempDir(), learn.NewBudget(1, 1e-6, learn.Named(t.TempDir()))
	of := func(rows string, names ...string) learn.DataFrame {
		var files []frame.Scanner
		for _, n := range names {
			path := filepath.Join(dir, n)
			must.Do(os.WriteFile(path, []byte("age,city\n"+rows), 0o600))
			files = append(files, must.Get(frame.ScanCSV(path, nil)))
		}
		return learn.FromScanner(frame.Together(files...)).WithSchema(learn.Numeric("age", 17, 90),
			learn.Categorical("city", "Bern", "Rome"))
	}
	for what, ask := range map[string]func(learn.DataFrame) error{
		"answer": func(df learn.DataFrame) error {
			_, err := explore.Mean("age").Once("answer", df, budget.Spend(0.1))
			return err
		},
		"fit": func(df learn.DataFrame) error {
			stored := learn.StoredIn(learn.Storage{Dir: dir})
			_, err := learn.FitOnce("fit", learn.Logistic{}, learn.Binary(df, "city", stored), budget.Spend(0.1))
			return err
		},
	} {
		if err := ask(of("30,Bern\n", "a.csv", "b.csv", "c.csv")); err != nil {
			t.Fatal(what, err)
		}
		if err := ask(of("30,Bern\n40,Rome\n", "a.csv", "b.csv", "c.csv")); err != nil {
			t.Errorf("%s of files of the same names: %v", what, err)
		}
		for want, names := range map[string][]string{
			`data is with "d.csv" and was with "c.csv". `: {"a.csv", "b.csv", "d.csv"},
			`data is without "b.csv" and was with it. `:   {"a.csv", "c.csv"},
			`data is with "d.csv" and was without it. `:   {"a.csv", "b.csv", "c.csv", "d.csv", "e.csv"},
			"data is the same files in another order. ":   {"a.csv", "c.csv", "b.csv"}} {
			err := ask(of("30,Bern\n", names...))
			if err == nil || !strings.Contains(err.Error(), ": "+want) {
				t.Errorf("%s of %q: %v, want %q", what, names, err, want)
			}
		}
	}
}

// Another confidence gives the intervals that the question would have had with it, of the same noise, at no cost.
func TestWithConfidence(t *testing.T) {
	b := fresh(1, 1e-6)
	for name, q := range map[string]explore.Query{"mean": explore.Mean("age"), "cells": explore.Crosstab("city"),
		"groups": explore.Mean("age").By("city"), "keys": explore.Keys("city")} {
		q = q.Noise(learn.Seed(1))
		s := must.Get(q.Of(people(500), b.Spend(0.1)))
		spentThen := spent(t, b)
		other := must.Get(q.Confidence(0.5).Of(people(500), learn.Simulate(0.1, 1e-6)))
		half := must.Get(s.WithConfidence(0.5))
		back := must.Get(half.WithConfidence(0.95))
		if !reflect.DeepEqual(back.Rows(), s.Rows()) || len(half.Rows()) != len(s.Rows()) {
			t.Errorf("%s: back at 95 %%: %v, want %v", name, back.Rows(), s.Rows())
		}
		for i, r := range half.Rows() {
			if wide := s.Rows()[i]; r.Value != wide.Value || !(r.Upper-r.Lower < wide.Upper-wide.Lower) ||
				!(math.Abs((r.Upper-r.Lower)/(other.Rows()[i].Upper-other.Rows()[i].Lower)-1) <= 0.5) {
				t.Errorf("%s: %+v at 50 %%, %+v at 95 %%", name, r, wide)
			}
		}
		if !strings.Contains(half.Display().Text(), "50 %") || spent(t, b) != spentThen {
			t.Errorf("%s: %s; %v spent", name, half.Display().Text(), spent(t, b))
		}
		for _, c := range []float64{0, 1, math.NaN()} {
			if _, err := s.WithConfidence(c); err == nil {
				t.Errorf("%s: a confidence of %v", name, c)
			}
		}
	}
	if _, err := (*explore.Statistic)(nil).WithConfidence(0.5); err == nil {
		t.Error("of no statistic")
	}
}
