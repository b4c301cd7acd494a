package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// A shell sees what was spent on what and what is left, of a ledger of any name and rule, and spends nothing by it.
func TestBudgetInTheShell(t *testing.T) {
	for name, opts := range map[string][]learn.BudgetOption{"gaussian": nil, "sums": {learn.Additive()}} {
		path := filepath.Join(t.TempDir(), "people.json")
		b := learn.NewBudget(1, 1e-6, append(opts, learn.Named("shown "+name), learn.KeptIn(path))...)
		people := learn.Patients(500, 1)
		if _, err := (learn.SVM{}).Fit(learn.Binary(people, "ill"), b.Spend(0.25)); err != nil {
			t.Fatal(err)
		}
		before := must.Get(os.ReadFile(path))
		out, err := said("budget", path)
		if err != nil || !strings.Contains(out, "objective perturbation") || !strings.Contains(out, "0.25") ||
			!strings.Contains(out, "remaining budget") {
			t.Errorf("%s: %s (%v)", name, out, err)
		}
		if after := must.Get(os.ReadFile(path)); string(after) != string(before) {
			t.Errorf("%s: the ledger was changed: %s", name, after)
		}
	}
}

// No list has a default that nobody would type.
func TestDefaultsOfListsAreAsTyped(t *testing.T) {
	for _, command := range []string{"fit", "describe", "price", "predict"} {
		if out, err := said(command, "--help"); err != nil || strings.Contains(out, "(default [") {
			t.Errorf("dpnb %s --help: %s (%v)", command, out, err)
		}
	}
}
