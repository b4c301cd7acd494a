package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// Nothing is written over what the same command reads, by whatever name the file is called, nor over its ledger.
func TestOutputsKeepInputs(t *testing.T) {
	t.Chdir(t.TempDir())
	names := []string{"people.csv", "more.csv", "schema.json", "ledger.json", "model.json"}
	for _, name := range names {
		must.Do(os.WriteFile(name, []byte(name), 0o600))
	}
	must.Do(os.Symlink("people.csv", "link.csv"))
	here := filepath.Join(must.Get(os.Getwd()), ".")
	private := []string{"--schema", "schema.json", "--budget", "ledger.json", "--epsilon", "1"}
	fit := func(file string, more ...string) []string {
		return append(append([]string{"fit", file, "--target", "happy"}, private...), more...)
	}
	for _, args := range [][]string{
		fit("people.csv", "--out", "link.csv"),
		fit("*.csv", "--out", "more.csv"),
		fit("people.csv", "--out", "../"+filepath.Base(here)+"/ledger.json"),
		fit("people.csv", "--budget", "new.json", "--out", filepath.Join(here, "new.json")),
		fit("people.csv", "--card", "schema.json"),
		fit("people.csv", "--out", "happy", "--card", "./happy"),
		append([]string{"evaluate", "model.json", "people.csv", "--calibrated", "model.json"}, private...),
		{"predict", "model.json", "people.csv", "-o", "people.csv"},
		{"predict", "model.json", "people.csv", "-o", "model.json"},
		{"export", "model.json", "-o", "model.json"},
		{"shapes", "model.json", "-o", "model.json"},
	} {
		if _, err := said(args...); err == nil || !strings.Contains(err.Error(), "would be written over") {
			t.Errorf("%q: %v", args, err)
		}
	}
	for _, name := range names {
		if text := must.Get(os.ReadFile(name)); string(text) != name {
			t.Errorf("%s was written over: %s", name, text)
		}
	}
	// What is not read by the command goes on to be looked at.
	if _, err := said("export", "model.json", "-o", "schema.json"); err == nil ||
		strings.Contains(err.Error(), "written over") {
		t.Errorf("an output beside its inputs: %v", err)
	}
}
