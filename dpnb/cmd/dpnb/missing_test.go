//go:build linux

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

// What meant "missing" where a model was fitted does so where it predicts and is evaluated, and it is said.
func TestMissingIsAsItWasFitted(t *testing.T) {
	testscale.Slow(t)
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // where records are stored
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		must.Do(os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	people := write("people.csv", "age,pain\n"+strings.Repeat("20,3\n60,5\n-9,4\n", 50))
	schema := write("schema.json", `{"version": 1, "fields": [{"name": "age", "type": "number", "lower": 18,
		"upper": 98, "missing": true}, {"name": "pain", "type": "number", "lower": 0, "upper": 10}]}`)
	model, out := filepath.Join(dir, "pain.json"), filepath.Join(dir, "out.csv")
	public := []string{"--schema", schema, "--epsilon", "1", "--delta", "1e-6", "--budget",
		filepath.Join(dir, "missing.budget.json")}
	must.Get(call(t, newFitCommand(), append(public, people, "--target", "pain", "--learner", "linear",
		"--missing", "n/a,-9",
		"--out", model, "--share", "0.5")...))
	predicted := func(table string, more ...string) (said, text string) {
		said = must.Get(call(t, newPredictCommand(), append([]string{model, table, "--force", "-o", out}, more...)...))
		return said, string(must.Get(os.ReadFile(out)))
	}
	coded := write("coded.csv", "age\n-9\nn/a\n")
	said, as := predicted(coded)
	if _, want := predicted(write("plain.csv", "age\nn/a\nn/a\n"), "--missing", "n/a"); as != want ||
		!strings.Contains(said, `is read as the table of `+model+` was, --missing n/a,-9;`) {
		t.Errorf("%q, predicted %q, want %q", said, as, want)
	}
	if said, other := predicted(coded, "--missing", "n/a"); other == as || strings.Contains(said, "as the table of") {
		t.Errorf("--missing counts for nothing: %q, %q", said, other)
	}
	said = must.Get(call(t, newEvaluateCommand(), append(public, model, people, "--price", "--records", "100",
		"--share", "0.1")...))
	if !strings.Contains(said, `is read as the table of `+model+` was, --missing n/a,-9;`) {
		t.Errorf("evaluate says %q", said)
	}
}

// A table is read by the marks of the one that the model was fitted to, unless flags say otherwise, and what is then no
// number, no date or no category is counted where it is predicted for, though it was silently missing where it was
// learnt from.
func TestMarksAreAsTheyWereFitted(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		must.Do(os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	people := write("people.csv", "of 2024\nLohn;since;town;paid\n"+
		strings.Repeat("Fr. 1'200,5;02.01.2006;Z\xfcrich.;no\nFr. 5'300;31.12.2010;Bern.;yes\nn/a;;;no\n", 50))
	schema := write("schema.json", `{"version": 1, "fields": [{"name": "wage", "type": "number", "lower": 0,
		"upper": 9000}, {"name": "since", "type": "date, in days", "layout": "02.01.2006", "lower": "2000-01-01",
		"upper": "2020-01-01"}, {"name": "town", "type": "category", "categories": ["Bern", "Zürich"]},
		{"name": "paid", "type": "category", "categories": ["no", "yes"]}]}`)
	model, out := filepath.Join(dir, "paid.json"), filepath.Join(dir, "out.csv")
	must.Get(call(t, newFitCommand(), people, "--schema", schema, "--epsilon", "1", "--delta", "1e-6", "--seed", "1",
		"--target", "paid", "--out", model, "--separator", ";", "--decimal", ",", "--thousands", "'", "--encoding",
		"Latin-1", "--skip", "1", "--rename", "Lohn=wage", "--trim-suffix", ".", "--trim-prefix", "Fr.",
		"--missing", "n/a,a;b", "--store", dir))
	predicted := func(table string, more ...string) (said, text string) {
		var warned strings.Builder
		c := newPredictCommand()
		c.SetErr(&warned)
		said = must.Get(call(t, c, append([]string{model, table, "--force", "-o", out}, more...)...))
		return said + warned.String(), string(must.Get(os.ReadFile(out)))
	}
	said, as := predicted(people)
	if !strings.Contains(said, " was, --separator ';' --decimal , --thousands \"'\" --encoding Latin-1 --skip 1 "+
		"--rename Lohn=wage --trim-suffix . --trim-prefix Fr. --missing 'n/a,a;b';") ||
		strings.Contains(said, "no number") {
		t.Errorf("it says %q", said)
	}
	otherwise := []string{"--separator", ",", "--decimal", ".", "--encoding", "UTF-8", "--skip", "0", "--rename", "x=x"}
	if _, want := predicted(write("wide.csv", "x,wage,since,town\n"+strings.Repeat("1,1200.5,02.01.2006,Zürich\n"+
		"2,5300,31.12.2010,Bern\n3,,,\n", 50)), otherwise...); as != want {
		t.Errorf("predicted %.200q, want %.200q", as, want)
	}
	said, _ = predicted(write("odd.csv", "x,wage,since,town\n1,1 200,2006-01-02,Bern\n2,1'300,02.01.2006,zürich\n"+
		"3,,02.01.2006,Basel\n"), otherwise...)
	for _, want := range []string{`"wage" is no number in 1 of its records, where it counts as missing (lines 2); ` +
		`it is one with --thousands ' '`, `"since" is no date as 02.01.2006 in 1 of its records, where it counts`,
		`"town" is outside the categories in 1 of its records (lines 4)`,
		`"town" is outside the categories, but for capital letters in 1 of its records (lines 3)`} {
		if !strings.Contains(said, want) {
			t.Errorf("of entries that are none it says %q, want %q", said, want)
		}
	}
}

// What a stumble would cost is said before: a model after its table, a fit of all of a budget, quantiles that nothing
// can be asked of, and of groups.
func TestStumblesAreForeseen(t *testing.T) {
	_, table := visits(t)
	run := func(c *cobra.Command, args string) (string, error) {
		var warned strings.Builder
		c.SetErr(&warned)
		said, err := call(t, c, slices.Concat(table, strings.Fields(args))...)
		return warned.String() + said, err
	}
	const all = "This spends all of the budget that all.json keeps"
	for _, c := range []struct{ args, says, not string }{
		{"--target city --budget all.json --out city.json", all, "none"},
		{"--target city --budget all.json", "Private", all},
		{"--target city --budget half.json --share 0.5", "Private", "This spends"},
	} {
		said, err := run(newFitCommand(), "--store . --person id "+c.args)
		if err != nil || !strings.Contains(said, c.says) || strings.Contains(said, c.not) {
			t.Errorf("%s: %s (%v)", c.args, said, err)
		}
	}
	for _, c := range []struct {
		command    *cobra.Command
		args, want string
	}{
		{newFitCommand(), "--target age --learner quantiles --held-out 0.2", "--learner quantile --tau 0.5"},
		{newDescribeCommand(), "--quantiles age --by city --seed 1", "a mean, a sum or a variance of each group"},
		{newEvaluateCommand(), "city.json", "city.json is a model: name it first"},
	} {
		if said, err := run(c.command, c.args); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %s (%v), want %q", c.args, said, err, c.want)
		}
	}
	if _, err := call(t, newPredictCommand(), "*.csv", "city.json"); err == nil ||
		!strings.Contains(err.Error(), "city.json is a model: name it first") {
		t.Errorf("a pattern before a model: %v", err)
	}
}
