package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/explore"
	"github.com/dpnb/notebooks/dpnb/internal/registry"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// A shell sees what was spent on what and what is left, of a ledger of any name and rule, and spends nothing by it.
func TestBudgetInTheShell(t *testing.T) {
	for name, opts := range map[string][]learn.BudgetOption{"gaussian": nil, "sums": {learn.Additive()}} {
		path := filepath.Join(t.TempDir(), "people.json")
		b := learn.NewBudget(1, 1e-6, append(opts, learn.Named(name+" of "+t.TempDir()), learn.KeptIn(path))...)
		people := learn.Patients(500, 1)
		must.Get((learn.SVM{}).Fit(learn.Binary(people, "ill"), b.Spend(0.25)))
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

// A notebook and a shell ask about the same people by one ledger, whoever began it: its file has the name.
func TestOneLedgerForNotebookAndShell(t *testing.T) {
	t.Chdir(t.TempDir())
	must.Do(os.WriteFile("people.csv", []byte("age\n30\n40\n50\n"), 0o600))
	must.Do(os.WriteFile("people.schema.json", []byte(`{"version":1,"fields":[{"name":"age","type":"number",
		"lower":0,"upper":100}]}`), 0o600))
	ask := func(ledger string) (string, error) {
		return said("describe", "people.csv", "--schema", "people.schema.json", "--budget", ledger, "--epsilon", "1",
			"--delta", "1e-6", "--share", "0.1", "--mean", "age")
	}
	notebook := learn.NewBudget(1, 1e-6, learn.Named("the notebook of "+t.TempDir()), learn.KeptIn("begun.json"))
	df := learn.ReadCSV("people.csv").WithSchemaFile("people.schema.json")
	must.Get(explore.Mean("age").Of(df, notebook.Share(0.1)))
	if text, err := ask("begun.json"); err != nil {
		t.Errorf("%v: %s", err, text)
	}
	must.Get(ask("shell.json"))
	shell := learn.NewBudget(1, 1e-6, learn.KeptIn("shell.json"))
	must.Get(explore.Mean("age").Of(df, shell.Share(0.1)))
	for _, b := range []*learn.Budget{notebook, shell} {
		if s := must.Get(b.State()); len(s.Entries) != 2 {
			t.Errorf("%d entries of two questions", len(s.Entries))
		}
	}
	if other := learn.NewBudget(1, 1e-6, learn.Named("others"), learn.KeptIn("shell.json")); other.Err() == nil {
		t.Error("another name is taken for the same budget")
	}
}

// Where a second ledger is called as the table is, that is said before it is charged, and the one that is named is
// not.
func TestASecondLedgerIsSaid(t *testing.T) {
	t.Chdir(t.TempDir())
	must.Do(os.WriteFile("folk.csv", []byte("age\n30\n40\n50\n"), 0o600))
	must.Do(os.WriteFile("folk.schema.json", []byte(`{"version":1,"fields":[{"name":"age","type":"number",
		"lower":0,"upper":100}]}`), 0o600))
	must.Do(os.WriteFile("folk.json", []byte("{}"), 0o600))
	must.Do(os.Mkdir("kept", 0o700))
	const other = "is another ledger of folk.csv"
	for _, c := range []struct{ flags, want string }{
		{"--budget folk.budget.json", ""}, {"--budget folk.budget.json", ""}, {"--budget ./folk.budget.json", ""},
		{"--budget folk.ledger.json", "name folk.budget.json " + other},
		{"", "folk.budget.json, folk.ledger.json " + other},
		{"--budget kept/folk.json", "folk.budget.json, folk.ledger.json " + other}, {"--seed 1", ""},
	} {
		text, err := said(append(strings.Fields("describe folk.csv --schema folk.schema.json --epsilon 1 --delta 1e-6 "+
			"--share 0.1 --mean age"), strings.Fields(c.flags)...)...)
		if err != nil || strings.Contains(text, other) != (c.want != "") || !strings.Contains(text, c.want) ||
			c.want != "" && strings.Index(text, other) > strings.Index(text, "age") {
			t.Errorf("%q: %v: %s", c.flags, err, text)
		}
		registry.ForgetAll() // every command is a program of its own
	}
}
