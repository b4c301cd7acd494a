//go:build unix

package report

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dpnb/notebooks/dpnb/report/notebook"
)

func TestReportOfNotebooks(t *testing.T) {
	s := realSetup(t)
	progress := newRecorder()
	o := Options{
		Notebooks: []string{"testdata/small.ipynb", "testdata/failing.ipynb"},
		Out:       filepath.Join(t.TempDir(), "reports"), Timeout: testTimeout, Progress: progress,
	}
	records, err := Run(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	if records[0].Verdict() != "passed" || records[1].Verdict() != "failed" {
		t.Fatalf("verdicts: %+v", records)
	}
	if progress.cells["small"] != 7 || progress.ends["small"] != "passed" || progress.ends["failing"] != "failed" {
		t.Errorf("progress: %+v", progress)
	}

	failure := Failed(records).Error()
	mustContain(t, "the error", failure, "failing", "cell 4", "cell 3 declares, line 2: return list[3]", "index out of range")
	page := read(t, filepath.Join(o.Out, "small.html"))
	mustContain(t, "small.html", page,
		`<span class="kd">`,             // Go's keywords, coloured
		"data:image/png;base64,",        // the picture, embedded
		"Where these results come from", // provenance
		"gonb v0.11", "band: 20", "small.csv, 7 rows, sha256 0123abcd",
		"Privacy ledger: main", "A simulation protects nobody")
	if strings.Contains(page, "require.min.js") {
		t.Error("small.html loads a script for widgets from elsewhere")
	}
	nb, err := notebook.ReadFile(filepath.Join(o.Out, "small.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	if out := nb.Cells[4].Outputs(); len(out) != 1 || !strings.HasPrefix(out[0].Text, "epsilon  1.0000\nname     census\n0 1\n") {
		t.Errorf("small.ipynb: %+v", out)
	}
	mustContain(t, "failing.html", read(t, filepath.Join(o.Out, "failing.html")), "failed in", "panic: runtime error")
	mustContain(t, "failing.ipynb", read(t, filepath.Join(o.Out, "failing.ipynb")), "before", "index out of range")
	mustContain(t, "index.html", read(t, filepath.Join(o.Out, "index.html")),
		"1 passed, 1 failed", `href="small.html"`, "A small notebook", "return list[3]")

	// Again: what passed is kept, what failed is run.
	progress = newRecorder()
	o.Progress = progress
	if _, err := Run(context.Background(), s, o); err != nil {
		t.Fatal(err)
	}
	if progress.ends["small"] != "up to date" || progress.ends["failing"] != "failed" {
		t.Errorf("second run: %v", progress.ends)
	}
	if abandoned := leftovers(t); abandoned != nil {
		t.Errorf("left behind: %v", abandoned)
	}
}

// leftovers lists folders of runs that nobody holds any more.
func leftovers(t *testing.T) []string {
	t.Helper()
	var left []string
	found, err := filepath.Glob(filepath.Join(os.TempDir(), runPrefix+"*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range found {
		if len(tagged(sessionEnv+"="+dir)) == 0 {
			left = append(left, dir)
		}
	}
	return left
}

func TestReportWithParameters(t *testing.T) {
	s := realSetup(t)
	o := Options{
		Notebooks: []string{"testdata/small.ipynb"}, Out: t.TempDir(), Timeout: testTimeout, Progress: newRecorder(),
		Parameters: map[string]string{"epsilon": "0.25", "name": "other"},
	}
	records, err := Run(context.Background(), s, o)
	if err != nil || Failed(records) != nil {
		t.Fatal(err, Failed(records))
	}
	nb, err := notebook.ReadFile(filepath.Join(o.Out, "small.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	if !nb.Cells[4].HasTag(notebook.TagInjected) {
		t.Fatal("no injected cell after the parameters")
	}
	mustContain(t, "the table", nb.Cells[5].Outputs()[0].Text, "epsilon  0.2500", "name     other", "2 0.0833")
	mustContain(t, "the report", read(t, filepath.Join(o.Out, "small.html")), "epsilon = 0.25")
}

func TestUpdateAndRerun(t *testing.T) {
	s := realSetup(t)
	source := strings.ReplaceAll(read(t, "testdata/small.ipynb"), "$GONB_DIR/../../..", s.Root)
	path := filepath.Join(t.TempDir(), "small.ipynb")
	if err := os.WriteFile(path, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	o := Options{Notebooks: []string{path}, Timeout: testTimeout, Progress: newRecorder()}
	rerun := func() error {
		t.Helper()
		results, err := Rerun(context.Background(), s, o)
		if err != nil {
			t.Fatal(err)
		}
		return results[0]
	}
	if err := rerun(); err == nil || !strings.Contains(err.Error(), "without outputs") {
		t.Errorf("never run: %v", err)
	}
	update := o
	update.Out, update.Update = t.TempDir(), true
	if _, err := Run(context.Background(), s, update); err != nil {
		t.Fatal(err)
	}
	if err := rerun(); err != nil {
		t.Errorf("unchanged: %v", err)
	}
	committed := read(t, path)
	if strings.Contains(committed, notebook.TagProvenance) {
		t.Error("the notebook itself got the provenance")
	}
	changed := strings.Replace(committed, "0.3333333333333333", "0.3333433333333333", 1)
	if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	err := rerun()
	if err == nil {
		t.Fatal("a changed number passes")
	}
	mustContain(t, "the difference", err.Error(), "cell 5", "- 2 0.33334333", "+ 2 0.33333333")
}

func TestMistakesCostNoRun(t *testing.T) {
	python := filepath.Join(t.TempDir(), "python.ipynb")
	content := `{"nbformat":4,"cells":[],"metadata":{"language_info":{"name":"python"}}}`
	if err := os.WriteFile(python, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		o    Options
		want string
	}{
		"no such file":      {Options{Notebooks: []string{"testdata/absent.ipynb"}}, "absent.ipynb"},
		"another language":  {Options{Notebooks: []string{python}}, "a notebook in python"},
		"no notebook":       {Options{Notebooks: []string{"report.go"}}, "not a notebook"},
		"no parameters":     {Options{Notebooks: []string{"testdata/failing.ipynb"}, Parameters: map[string]string{"x": "1"}}, "no parameters"},
		"unknown parameter": {Options{Notebooks: []string{"testdata/small.ipynb"}, Parameters: map[string]string{"delta": "1"}}, `no parameter "delta"; it has epsilon, name, rows`},
		"wrong type":        {Options{Notebooks: []string{"testdata/small.ipynb"}, Parameters: map[string]string{"rows": "2.5"}}, "no value of type int"},
		"update":            {Options{Notebooks: []string{"testdata/small.ipynb"}, Parameters: map[string]string{"rows": "2"}, Update: true}, "its own parameters"},
		"same name":         {Options{Notebooks: []string{"testdata/small.ipynb", "./testdata/small.ipynb"}}, "same report"},
	} {
		if err := Check(c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestInterruptEndsEverything(t *testing.T) {
	s := realSetup(t)
	ctx, cancel := context.WithCancel(context.Background())
	progress := &atCell{recorder: newRecorder(), n: 3, f: cancel}
	start := time.Now()
	_, err := Run(ctx, s, Options{Notebooks: []string{"testdata/small.ipynb"}, Out: t.TempDir(), Timeout: testTimeout, Progress: progress})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error: %v", err)
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("took %v to stop", took)
	}
	if left := leftovers(t); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

// atCell calls f when a cell begins.
type atCell struct {
	*recorder
	n int
	f func()
}

func (a *atCell) Cell(_ string, cell, _ int) {
	if cell == a.n {
		a.f()
	}
}
