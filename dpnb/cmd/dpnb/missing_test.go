package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	public := []string{"--schema", schema, "--epsilon", "1", "--delta", "1e-6"}
	must.Get(call(t, newFitCommand(), append(public, people, "--target", "pain", "--learner", "linear",
		"--missing", "n/a,-9",
		"--out", model, "--budget", filepath.Join(dir, "ledger.json"), "--share", "0.5")...))
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
