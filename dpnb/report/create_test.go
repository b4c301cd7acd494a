package report

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/project"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/report/notebook"
	"github.com/dpnb/notebooks/dpnb/report/toolchain"
)

// A new notebook has the template's cells without outputs and exercises and with other parameters, in folders that are
// made for it; a file that is there is left as it is.
func TestNew(t *testing.T) {
	root := filepath.Join(t.TempDir(), "a clone's folder")
	must.Do(os.MkdirAll(filepath.Join(root, "notebooks"), 0o755))
	const source = `{"cells": [
 {"cell_type": "code", "id": "module", "metadata": {}, "source": "old", "outputs": [], "execution_count": null},
 {"cell_type": "code", "id": "parameters", "metadata": {},
  "source": "var (\n\tledger  = \"\"\n\ta, b = \",\", \".\" // two\n\tfile = \"\"\n)",
  "outputs": [],
  "execution_count": 1},
 {"cell_type": "code", "id": "a", "metadata": {}, "source": "x", "outputs": [{"output_type": "stream"}],
  "execution_count": 3},
 {"cell_type": "markdown", "id": "exercises", "metadata": {}, "source": "1. Predict."}
], "metadata": {"dpnb": {"data": ["adult"]}}, "nbformat": 4, "nbformat_minor": 5}`
	must.Do(os.WriteFile(filepath.Join(root, "notebooks", templateName), []byte(source), 0o600))
	path := filepath.Join(t.TempDir(), "a folder", "that is not there", "mine.ipynb")
	parameters := map[string][]string{"file": {"$1.csv"}, "a, b": {"x", "y"}}
	must.Do(New(project.Tree{Dir: root}, path, parameters, map[string]string{"x": "y"}))
	nb := must.Get(notebook.ReadFile(path))
	if len(nb.Cells) != 3 || hasOutputs(nb) || nb.Language() != "go" || nb.Metadata()["dpnb"] != nil {
		t.Errorf("%d cells, outputs %v, metadata %v", len(nb.Cells), hasOutputs(nb), nb.Metadata())
	}
	want := "var (\n\tledger = \"mine.budget.json\"\n\ta, b   = \"x\", \"y\" // two\n\tfile   = \"$1.csv\"\n)"
	if got := nb.Cells[1].Source(); got != want || nb.Cells[2].Source() != "y" {
		t.Errorf("%s, want %s; and %s", got, want, nb.Cells[2].Source())
	}
	if err := New(project.Tree{Dir: root}, path+"3", nil, map[string]string{"1. Predict": "2."}); err == nil {
		t.Error("a text that is not there was written over")
	}
	for _, name := range []string{path, path + "2"} { // one that is there, and a parameter that is not
		if err := New(project.Tree{Dir: root}, name, map[string][]string{"fil": {"x"}}, nil); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	if err := New(project.Tree{Dir: root}, path, nil, nil); err == nil ||
		!strings.Contains(err.Error(), "move or delete it") {
		t.Errorf("a second time: %v", err)
	}
}

// The line by which a cell finds the module takes the folder above if it has the source, then what the kernel says,
// then what it was written with, and has Go require it so; that of each notebook here is the present one.
func TestFindModule(t *testing.T) {
	clone, other, version := filepath.Join(t.TempDir(), "a clone's folder"), t.TempDir(), "v1.2.3"
	for dir, module := range map[string]string{clone: project.ModulePath, other: "example.com/other"} {
		must.Do(os.MkdirAll(dir, 0o755))
		for _, name := range []string{"go.mod", "go.sum"} {
			must.Do(os.WriteFile(filepath.Join(dir, name), []byte("module "+module+"\n"), 0o600))
		}
	}
	const requires = "require github.com/dpnb/notebooks "
	for _, c := range []struct{ above, kernel, written, want string }{
		{clone, "/elsewhere", version, "=> " + clone},
		{other, clone, version, "=> " + clone},
		{other, "", version, requires + version},
		{other, "v2.0.0", version, requires + "v2.0.0"},
		{"", "", clone, "=> " + clone},
		{"", "v2.0.0", clone, requires + "v2.0.0"},
	} {
		dir, above := t.TempDir(), ""
		must.Do(os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module cell\n"), 0o600))
		if c.above != "" {
			above = "$ABOVE"
		}
		line := strings.ReplaceAll(toolchain.FindModule(above, c.written), "\\\n", "")
		cmd := exec.Command("sh", "-c", strings.TrimPrefix(line, "!*"))
		cmd.Dir, cmd.Env = dir, append(os.Environ(), toolchain.ModuleEnv+"="+c.kernel, "ABOVE="+c.above)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%+v: %v\n%s", c, err, out)
		}
		if got := read(t, filepath.Join(dir, "go.mod")); !strings.Contains(strings.ReplaceAll(got, `"`, ""), c.want) {
			t.Errorf("%+v: %s", c, got)
		}
	}
	notebooks, err := filepath.Glob("../../notebooks/*.ipynb")
	if err != nil || len(notebooks) < 10 {
		t.Fatalf("%d notebooks, %v", len(notebooks), err)
	}
	want := toolchain.FindModule("$GONB_DIR/..", project.Release)
	for _, path := range notebooks {
		nb := must.Get(notebook.ReadFile(path))
		for _, c := range nb.Cells {
			if c.ID() == moduleCell && c.Source() != want {
				t.Errorf("%s: %s, want %s", path, c.Source(), want)
			}
		}
	}
}

// What the notebook for one's own data says holds where people have several rows, too: what it counts is rows.
func TestTemplateCountsRows(t *testing.T) {
	nb := must.Get(notebook.ReadFile(filepath.Join("..", "..", "notebooks", templateName)))
	text := ""
	for _, c := range nb.Cells {
		text += c.Source()
	}
	for _, wrong := range []string{"How many people", "number of people,", "Each person is in one bar",
		"share no person"} {
		if strings.Contains(text, wrong) {
			t.Errorf("it says %q, which is wrong of people with several rows", wrong)
		}
	}
}
