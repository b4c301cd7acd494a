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
)

// What meant "missing" where a model was fitted does so where it predicts and is evaluated, and it is said.
func TestMissingIsAsItWasFitted(t *testing.T) {
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
		said = must.Get(call(t, newPredictCommand(), append([]string{model, table, "-o", out}, more...)...))
		return said, string(must.Get(os.ReadFile(out)))
	}
	coded := write("coded.csv", "age\n-9\nn/a\n")
	said, as := predicted(coded)
	if _, want := predicted(write("plain.csv", "age\nn/a\nn/a\n"), "--missing", "n/a"); as != want ||
		!strings.Contains(said, `these texts mean "missing": n/a, -9.`) {
		t.Errorf("%q, predicted %q, want %q", said, as, want)
	}
	if said, other := predicted(coded, "--missing", "n/a"); other == as || strings.Contains(said, "mean") {
		t.Errorf("--missing counts for nothing: %q, %q", said, other)
	}
	said = must.Get(call(t, newEvaluateCommand(), append(public, model, people, "--price", "--records", "100",
		"--share", "0.1")...))
	if !strings.Contains(said, `these texts mean "missing": n/a, -9.`) {
		t.Errorf("evaluate says %q", said)
	}
}

// What a stumble would cost is said before: a model after its table, a fit of all of a budget, quantiles that nothing
// can be asked of, and of groups; and that numbers are straight, where they could bend.
func TestStumblesAreForeseen(t *testing.T) {
	_, table := visits(t)
	run := func(c *cobra.Command, args string) (string, error) {
		var warned strings.Builder
		c.SetErr(&warned)
		said, err := call(t, c, slices.Concat(table, strings.Fields(args))...)
		return warned.String() + said, err
	}
	const all, straight = "This spends all of the budget that all.json keeps", "--curves lets them bend"
	for _, c := range []struct{ args, says, not string }{
		{"--target city --budget all.json --out city.json", all, "none"},
		{"--target city --budget all.json", straight, all},
		{"--target city --budget half.json --share 0.5", straight, "This spends"},
		{"--target city --seed 1 --curves", "Private", straight},
		{"--target city --seed 1 --lines", "Private", straight},
		{"--target age --seed 1 --learner linear --in-units --lines", "Private", straight},
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
