package dpnb_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb"
)

// What is refused is called by the name and has the value that the user gave it, and
// the message says what to do.
func TestRefusalsSpeakOfWhatWasStated(t *testing.T) {
	people := dpnb.Patients(40, 1)
	binary := dpnb.Binary(people, "ill", dpnb.RowNorm(1))
	number := dpnb.Regression(people, "pressure", dpnb.RowNorm(1))
	count := dpnb.Counts(people, "visits", dpnb.RowNorm(1))
	class := dpnb.Classes(people, "ward", dpnb.RowNorm(1))
	simulated := dpnb.Simulate(1, 1e-6)
	fit := func(l dpnb.Learner, d *dpnb.Dataset, a dpnb.Allowance) error {
		_, err := l.Fit(d, a)
		return err
	}
	plain := func(l dpnb.Learner, d *dpnb.Dataset) error {
		_, err := l.FitWithoutPrivacy(d)
		return err
	}
	seed := dpnb.Seed(1)
	for name, c := range map[string]struct {
		err  error
		says []string
	}{
		"clip": {
			fit(dpnb.Linear{Clip: -1, Noise: seed}, number, simulated),
			[]string{"Clip = -1", "or 0 to have it chosen"},
		},
		"clip of counts": {
			fit(dpnb.Poisson{Clip: math.NaN(), Noise: seed}, count, simulated),
			[]string{"Clip = NaN"},
		},
		"clip, infinite": {
			fit(dpnb.Poisson{Clip: math.Inf(1), Noise: seed}, count, simulated),
			[]string{"Clip = +Inf"},
		},
		"threshold": {
			fit(dpnb.Huber{Threshold: -2, Noise: seed}, number, simulated),
			[]string{"Threshold = -2"},
		},
		"width": {
			fit(dpnb.SVM{Width: -3, Noise: seed}, binary, simulated),
			[]string{"Width = -3"},
		},
		"width, without privacy": {plain(dpnb.SVM{Width: -3}, binary), []string{"Width = -3"}},
		"δ = 0": {
			fit(dpnb.Logistic{Noise: seed}, binary, dpnb.Simulate(1, 0)),
			[]string{"Delta = 0", "for example 1e-6", "Gaussian noise"},
		},
		"δ = 0, classes": {
			fit(dpnb.Softmax{Noise: seed}, class, dpnb.Simulate(1, 0)),
			[]string{"Delta = 0", "for example 1e-6"},
		},
		"ε too small": {
			fit(dpnb.Logistic{Noise: seed}, binary, dpnb.Simulate(1e-12, 1e-18)),
			[]string{"take a larger ε"},
		},
		"no schema": {
			dpnb.Binary(dpnb.FromGota(people.Gota()), "ill").Err(),
			[]string{"WithSchema", "InferBounds"},
		},
		"compare at ε = 0": {
			dpnb.Compare(binary, 0, dpnb.AllMechanisms...).Err(),
			[]string{"Epsilon = 0"},
		},
		"compare at δ = 1": {
			dpnb.CompareWith(dpnb.CompareSettings{Delta: 1}, binary, 1, dpnb.AllMechanisms...).Err(),
			[]string{"Delta = 1"},
		},
	} {
		if c.err == nil {
			t.Errorf("%s: not refused", name)
			continue
		}
		for _, want := range c.says {
			if !strings.Contains(c.err.Error(), want) {
				t.Errorf("%s: %q does not say %q", name, c.err, want)
			}
		}
	}
}

// A ledger's file that is of another name is not for another name, but for another file.
func TestALedgerOfAnotherNameIsForAnotherFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.json")
	a := dpnb.NewBudget(1, 1e-6, dpnb.KeptIn(path), dpnb.Named("messages-a"))
	if err := a.Err(); err != nil {
		t.Fatal(err)
	}
	binary := dpnb.Binary(dpnb.Patients(40, 1), "ill", dpnb.RowNorm(1))
	if _, err := (dpnb.Logistic{Noise: dpnb.Seed(1)}).Fit(binary, a.Spend(0.5)); err != nil {
		t.Fatal(err)
	}
	b := dpnb.NewBudget(1, 1e-6, dpnb.KeptIn(path), dpnb.Named("messages-b"))
	_, err := b.State()
	if err == nil {
		err = b.Err()
	}
	if err == nil || !strings.Contains(err.Error(), "another file for other data") {
		t.Errorf("said %v", err)
	}
}

// A model of few coefficients says what a positive one means, as one of many does,
// and one that is left out is a coefficient, not coefficients.
func TestAModelSaysWhatAPositiveCoefficientMeans(t *testing.T) {
	people := dpnb.Patients(40, 1)
	said := func(df dpnb.DataFrame, opts ...dpnb.Option) string {
		data := dpnb.Binary(df, "ill", append(opts, dpnb.RowNorm(1))...)
		m, err := dpnb.Logistic{Noise: dpnb.Seed(1)}.Fit(data, dpnb.Simulate(1, 1e-6))
		if err != nil {
			t.Fatal(err)
		}
		notes := strings.Join(m.Display().Notes, "\n")
		if want := "a positive one speaks for ill yes"; !strings.Contains(notes, want) {
			t.Errorf("%q is not in\n%s", want, notes)
		}
		return notes
	}
	said(people.Drop("pressure", "visits", "ward"))
	eleven := dpnb.Categorical("region", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k")
	df := dpnb.ReadCSV(writeFile(t, "region,ill\na,yes\nb,no\n")).
		WithSchema(eleven, dpnb.Categorical("ill", "no", "yes"))
	if notes := said(df, dpnb.NoBias()); !strings.Contains(notes, "… and 1 smaller coefficient;") {
		t.Errorf("eleven coefficients: %s", notes)
	}
}

// Intervals that have no end say what would give them one.
func TestIntervalsWithoutAnEndSayWhatWouldHelp(t *testing.T) {
	data := dpnb.Binary(dpnb.Patients(40, 1), "ill", dpnb.RowNorm(1))
	m, err := dpnb.Logistic{CurvatureShare: 0.1, Noise: dpnb.Seed(1)}.Fit(data, dpnb.Simulate(0.1, 1e-6))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		of   func(float64) (*dpnb.Intervals, error)
		want bool
	}{"population": {m.PopulationIntervals, true}, "minimiser": {m.ProvedIntervals, false}} {
		iv, err := c.of(0.95)
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(strings.Join(iv.Display().Notes, "\n"), "reach to infinity"); said != c.want {
			t.Errorf("%s: said %v", name, said)
		}
	}
}

func writeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "people.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
