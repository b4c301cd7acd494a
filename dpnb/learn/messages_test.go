package learn_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/learn"
)

// What is refused is called by the name and has the value that the user gave it, and the message says what to do.
func TestRefusalsSpeakOfWhatWasStated(t *testing.T) {
	people := learn.Patients(40, 1)
	binary := learn.Binary(people, "ill", learn.RowNorm(1))
	number := learn.Regression(people, "pressure", learn.RowNorm(1))
	count := learn.Counts(people, "visits", learn.RowNorm(1))
	class := learn.Classes(people, "ward", learn.RowNorm(1))
	simulated := learn.Simulate(1, 1e-6)
	fit := func(l learn.Learner, d *learn.Dataset, a learn.Allowance) error {
		_, err := l.Fit(d, a)
		return err
	}
	plain := func(l learn.Learner, d *learn.Dataset) error {
		_, err := l.FitWithoutPrivacy(d)
		return err
	}
	seed := learn.Seed(1)
	for name, c := range map[string]struct {
		err  error
		says []string
	}{
		"clip": {
			fit(learn.Linear{Clip: -1, Noise: seed}, number, simulated),
			[]string{"Clip = -1", "or 0 to have it chosen"},
		},
		"clip of counts": {
			fit(learn.Poisson{Clip: math.NaN(), Noise: seed}, count, simulated),
			[]string{"Clip = NaN"},
		},
		"clip, infinite": {
			fit(learn.Poisson{Clip: math.Inf(1), Noise: seed}, count, simulated),
			[]string{"Clip = +Inf"},
		},
		"threshold": {
			fit(learn.Huber{Threshold: -2, Noise: seed}, number, simulated),
			[]string{"Threshold = -2"},
		},
		"width": {
			fit(learn.SVM{Width: -3, Noise: seed}, binary, simulated),
			[]string{"Width = -3"},
		},
		"width, without privacy": {plain(learn.SVM{Width: -3}, binary), []string{"Width = -3"}},
		"δ = 0": {
			fit(learn.Logistic{CurvatureShare: 0.1, Noise: seed}, binary, learn.Simulate(1, 0)),
			[]string{"CurvatureShare", "Logistic spends no δ"},
		},
		"δ = 0, classes": {
			fit(learn.Softmax{Noise: seed}, class, learn.Simulate(1, 0)),
			[]string{"Delta = 0", "for example 1e-6"},
		},
		"ε too small": {
			fit(learn.Logistic{Noise: seed}, binary, learn.Simulate(1e-12, 1e-18)),
			[]string{"take a larger ε"},
		},
		"no schema": {
			learn.Binary(ofGota(people.Gota()), "ill").Err(),
			[]string{"WithSchema", "InferBounds"},
		},
		"compare at ε = 0": {
			learn.Compare(binary, 0, learn.AllMechanisms...).Err(),
			[]string{"Epsilon = 0"},
		},
		"compare at δ = 1": {
			learn.CompareWith(learn.CompareSettings{Delta: 1}, binary, 1, learn.AllMechanisms...).Err(),
			[]string{"Delta = 1"},
		},
		"compare nothing": {
			learn.Compare(binary, 1, nil).Err(),
			[]string{"is nil"},
		},
		"no option": {
			learn.Binary(people, "ill", nil).Err(),
			[]string{"leave it out"},
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
	a := learn.NewBudget(1, 1e-6, learn.KeptIn(path), learn.Named("messages-a"))
	if err := a.Err(); err != nil {
		t.Fatal(err)
	}
	binary := learn.Binary(learn.Patients(40, 1), "ill", learn.RowNorm(1))
	if _, err := (learn.Logistic{Noise: learn.Seed(1)}).Fit(binary, a.Spend(0.5)); err != nil {
		t.Fatal(err)
	}
	b := learn.NewBudget(1, 1e-6, learn.KeptIn(path), learn.Named("messages-b"))
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
	said := func(df learn.DataFrame, opts ...learn.Option) string {
		data := learn.Binary(df, "ill", append(opts, learn.RowNorm(1))...)
		m, err := learn.Logistic{Noise: learn.Seed(1)}.Fit(data, learn.Simulate(1, 1e-6))
		if err != nil {
			t.Fatal(err)
		}
		notes := strings.Join(m.Display().Notes, "\n")
		if want := "a positive one favours ill yes"; !strings.Contains(notes, want) {
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
}

// Intervals that have no end say what would give them one.
func TestIntervalsWithoutAnEndSayWhatWouldHelp(t *testing.T) {
	data := learn.Binary(learn.Patients(40, 1), "ill", learn.Uncentred())
	m, err := learn.Logistic{CurvatureShare: 0.1, Noise: learn.Seed(1)}.Fit(data, learn.Simulate(0.1, 1e-6))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		of   func(float64) (*learn.Intervals, error)
		want bool
	}{"population": {m.PopulationIntervals, true}, "minimiser": {m.ProvedIntervals, false}} {
		iv, err := c.of(0.95)
		if err != nil {
			t.Fatal(err)
		}
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
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
