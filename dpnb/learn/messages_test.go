package learn_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// A ledger's file that is of another name is not for another name, but for another file.
func TestALedgerOfAnotherNameIsForAnotherFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.json")
	a := learn.NewBudget(1, 1e-6, learn.KeptIn(path), learn.Named(path+" a"))
	must.Do(a.Err())
	binary := learn.Binary(learn.Patients(40, 1), "ill", learn.RowNorm(1))
	must.Get((learn.Logistic{Noise: learn.Seed(1)}).Fit(binary, a.Spend(0.5)))
	b := learn.NewBudget(1, 1e-6, learn.KeptIn(path), learn.Named(path+" b"))
	_, err := b.State()
	if err == nil {
		err = b.Err()
	}
	if err == nil || !strings.Contains(err.Error(), "another file for other data") {
		t.Errorf("said %v", err)
	}
}

// A model of few coefficients says what a positive one means, as one of many does, too.
func TestAModelSaysWhatAPositiveCoefficientMeans(t *testing.T) {
	people := learn.Patients(40, 1)
	want := "a positive one favours ill = yes"
	said := func(df learn.DataFrame, opts ...learn.Option) string {
		data := learn.Binary(df, "ill", append(opts, learn.RowNorm(1))...)
		m := must.Get(learn.Logistic{Noise: learn.Seed(1)}.Fit(data, learn.Simulate(1, 1e-6)))
		notes := strings.Join(m.Display().Notes, "\n")
		if !strings.Contains(notes, want) || strings.Contains(notes, "ill ill") {
			t.Errorf("%q is not in\n%s", want, notes)
		}
		return notes
	}
	said(people.Drop("pressure", "visits", "ward"))
	eleven := learn.Categorical("region", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k")
	df := learn.ReadCSV(writeFile(t, "region,ill\na,yes\nb,no\n")).
		WithSchema(eleven, learn.Categorical("ill", "no", "yes"))
	if notes := said(df, learn.NoBias()); !strings.Contains(notes, "a positive one favours") {
		t.Errorf("eleven coefficients: %s", notes)
	}
	want = "a positive one favours ill"
	said(learn.ReadCSV(writeFile(t, "region,ill\na,ill\nb,well\n")).
		WithSchema(eleven, learn.Categorical("ill", "well", "ill")), learn.NoBias())
	svm := must.Get(learn.SVM{Noise: learn.Seed(1)}.Fit(learn.Binary(people, "ill"), learn.Simulate(1, 1e-6)))
	if notes := strings.Join(svm.Display().Notes, "\n"); !strings.Contains(notes, "the unit is that of margins") {
		t.Errorf("a support vector machine: %s", notes)
	}
}

// Intervals that have no end say what would give them one.
func TestIntervalsWithoutAnEndSayWhatWouldHelp(t *testing.T) {
	data := learn.Binary(learn.Patients(40, 1), "ill", learn.Uncentred())
	m := must.Get(learn.Logistic{CurvatureShare: 0.1, Noise: learn.Seed(1)}.Fit(data, learn.Simulate(0.1, 1e-6)))
	for name, c := range map[string]struct {
		of   func(float64) (*learn.Intervals, error)
		want bool
	}{"population": {m.PopulationIntervals, true}, "minimiser": {m.ProvedIntervals, false}} {
		iv := must.Get(c.of(0.95))
		if said := strings.Contains(strings.Join(iv.Display().Notes, "\n"), "reach to infinity"); said != c.want {
			t.Errorf("%s: said %v", name, said)
		}
		// Those of the population say so in the title.
		if title := iv.Display().Title; strings.Contains(title, "of the population") != (name == "population") {
			t.Errorf("%s: the title is %q", name, title)
		}
	}
}

func writeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "people.csv")
	must.Do(os.WriteFile(path, []byte(text), 0o600))
	return path
}
