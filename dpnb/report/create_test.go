package report

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/report/notebook"
)

// A new notebook has the template's cells without outputs, and its first cell finds a module in a
// folder with a space and a quote; a file that is there is left as it is.
func TestNew(t *testing.T) {
	root := filepath.Join(t.TempDir(), "a clone's folder")
	if err := os.MkdirAll(filepath.Join(root, "notebooks"), 0o755); err != nil {
		t.Fatal(err)
	}
	const source = `{"cells": [
 {"cell_type": "code", "id": "module", "metadata": {}, "source": "old", "outputs": [], "execution_count": null},
 {"cell_type": "code", "id": "parameters", "metadata": {}, "source": "var (\n\tledger  = \"\"\n)", "outputs": [],
  "execution_count": 1},
 {"cell_type": "code", "id": "a", "metadata": {}, "source": "x", "outputs": [{"output_type": "stream"}],
  "execution_count": 3}
], "metadata": {"dpnb": {"data": ["adult"]}}, "nbformat": 4, "nbformat_minor": 5}`
	if err := os.WriteFile(filepath.Join(root, "notebooks", templateName), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "mine.ipynb")
	if err := New(root, path); err != nil {
		t.Fatal(err)
	}
	nb, err := notebook.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(nb.Cells) != 3 || hasOutputs(nb) || nb.Language() != "go" || nb.Metadata()["dpnb"] != nil {
		t.Errorf("%d cells, outputs %v, metadata %v", len(nb.Cells), hasOutputs(nb), nb.Metadata())
	}
	want := "ledger  = \"mine.budget.json\" // where the budget and what was released are kept\n"
	if !strings.Contains(nb.Cells[1].Source(), want) {
		t.Errorf("%s, want %s", nb.Cells[1].Source(), want)
	}
	// The shell reads the line as the kernel gives it.
	assign, _, _ := strings.Cut(strings.TrimPrefix(nb.Cells[0].Source(), "!*"), " && ")
	for env, want := range map[string]string{"": root, "DPNB_MODULE=/else where": "/else where"} {
		cmd := exec.Command("bash", "-c", assign+` && printf %s "$M"`)
		cmd.Env = []string{env}
		if out, err := cmd.Output(); err != nil || string(out) != want {
			t.Errorf("%s with %q: %q, %v", assign, env, out, err)
		}
	}
	if err := New(root, path); err == nil || !strings.Contains(err.Error(), "choose another name") {
		t.Errorf("a second time: %v", err)
	}
}
