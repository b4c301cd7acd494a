package dpnb_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dpnb/notebooks/dpnb"
	"github.com/dpnb/notebooks/dpnb/internal/registry"
	"github.com/dpnb/notebooks/dpnb/internal/runlog"
	"github.com/dpnb/notebooks/dpnb/ledger"
)

var freshBudgets atomic.Int64

func unusedName() string { return fmt.Sprintf("test %d", freshBudgets.Add(1)) }

// fresh states a budget that no other test has: of a name of its own.
func fresh(epsilon, delta float64) *dpnb.Budget {
	return dpnb.NewBudget(epsilon, delta, dpnb.Named(unusedName()))
}

func peopleData(t *testing.T) *dpnb.Dataset {
	t.Helper()
	return dpnb.Binary(frameOf(t, people), "happy", dpnb.RowNorm(1))
}

// A budget is what its name says, not what its variable does: in a plain program
// three fits of a whole budget each are one fit and two refusals.
func TestABudgetIsStatedOnce(t *testing.T) {
	for where, option := range map[string]func(name string) dpnb.BudgetOption{
		"in memory": dpnb.Named,
		"in a file": func(name string) dpnb.BudgetOption { return dpnb.KeptIn(filepath.Join(t.TempDir(), "l.json")) },
	} {
		name := unusedName()
		options := []dpnb.BudgetOption{dpnb.Named(name), option(name)}
		for k := range 3 {
			_, err := dpnb.Logistic{}.Fit(peopleData(t), dpnb.NewBudget(1, 1e-6, options...).Spend(1))
			var over *ledger.OverspentError
			if k == 0 && err != nil || k > 0 && !errors.As(err, &over) {
				t.Errorf("%s: fit %d: %v", where, k+1, err)
			}
		}
		for _, b := range []*dpnb.Budget{
			dpnb.NewBudget(2, 1e-6, options...), dpnb.NewBudget(1, 1e-5, options...),
			dpnb.NewBudget(1, 1e-6, append(options, dpnb.KeptIn(filepath.Join(t.TempDir(), "other.json")))...),
		} {
			if err := b.Err(); err == nil || !strings.Contains(err.Error(), "cannot be changed") {
				t.Errorf("%s: a budget was restated: %v", where, err)
			}
		}
		if _, err := (dpnb.Logistic{}).Fit(peopleData(t), fresh(1, 1e-6).Spend(1)); err != nil {
			t.Errorf("%s: a budget of another name: %v", where, err)
		}
	}
}

// An empty name is none: it must not stand for a ledger that is forgotten.
func TestEmptyNamesAreRefused(t *testing.T) {
	for _, b := range []*dpnb.Budget{dpnb.NewBudget(1, 1e-6, dpnb.Named("")), dpnb.NewBudget(1, 1e-6, dpnb.Named(unusedName()), dpnb.KeptIn(""))} {
		if b.Err() == nil {
			t.Error("an empty name is taken")
		}
	}
}

// In a notebook each cell is a process: the ledger must survive, and the budget
// must not be restated, neither its (ε, δ) nor its place.
func TestBudgetSurvivesCells(t *testing.T) {
	t.Setenv(runlog.DirEnv, t.TempDir())
	data, name, kept := peopleData(t), unusedName(), unusedName()
	// cell states a budget in a process that knows nothing of earlier ones.
	cell := func(name string, epsilon float64, options ...dpnb.BudgetOption) *dpnb.Budget {
		registry.Forget(name)
		return dpnb.NewBudget(epsilon, 1e-6, append(options, dpnb.Named(name))...)
	}
	if _, err := (dpnb.Logistic{Noise: dpnb.Seed(1)}).Fit(data, cell(name, 1).Spend(0.7)); err != nil {
		t.Fatal(err)
	}
	if _, err := (dpnb.Logistic{}).Fit(data, cell(name, 1).Spend(0.7)); err == nil {
		t.Error("the next cell has a fresh budget")
	}
	if err := cell(name, 5).Err(); err == nil {
		t.Error("the next cell restated the budget")
	}
	if err := cell(kept, 5).Err(); err != nil {
		t.Errorf("a budget for other data: %v", err)
	}
	dir, _ := runlog.Dir()
	log, err := runlog.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(log.Ledgers) != 2 || len(log.Data) != 1 || len(log.Seeds) != 1 || float64(log.Ledgers[0].EpsilonSpent) != 0.7 {
		t.Errorf("the run log has %+v", log)
	}
	kept = unusedName()
	files := t.TempDir()
	a, b := filepath.Join(files, "a.json"), filepath.Join(files, "b.json")
	if err := os.Symlink("a.json", filepath.Join(files, "link.json")); err != nil {
		t.Skip(err)
	}
	for _, options := range [][]dpnb.BudgetOption{{dpnb.KeptIn(a)}, {dpnb.KeptIn(filepath.Join(files, "link.json"))}} {
		if err := cell(kept, 1, options...).Err(); err != nil {
			t.Errorf("a ledger in a file: %v", err)
		}
	}
	for _, options := range [][]dpnb.BudgetOption{{}, {dpnb.KeptIn(b)}} {
		if err := cell(kept, 1, options...).Err(); err == nil || !strings.Contains(err.Error(), "cannot be changed") {
			t.Errorf("the next cell keeps the budget elsewhere: %v", err)
		}
	}
	if err := cell(name, 1, dpnb.KeptIn(b)).Err(); err == nil {
		t.Error("a budget of the kernel was begun anew in a file")
	}
}
