//go:build unix

package report

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dpnb/notebooks/dpnb/dataset"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/report/jupyter"
	"github.com/dpnb/notebooks/dpnb/report/notebook"
	"github.com/dpnb/notebooks/dpnb/report/toolchain"
)

func TestReportOfNotebooks(t *testing.T) {
	testscale.InTurn(t)
	s := realSetup(t)
	small, failing := "testdata/small.ipynb", "testdata/failing.ipynb"
	o := Options{All: []string{small, failing}, Out: filepath.Join(t.TempDir(), "reports"), Timeout: testTimeout}
	run := func(path string, parameters map[string]string) (Record, *recorder) {
		t.Helper()
		progress := newRecorder()
		o.Notebooks, o.Parameters, o.Progress = []string{path}, parameters, progress
		records := must.Get(Run(context.Background(), s, o))
		return records[0], progress
	}
	other := map[string]string{"epsilon": "0.25", "name": "other"}
	r, progress := run(small, other)
	if r.Verdict() != "passed" || progress.cells["small"] != 5 || progress.ends["small"] != "passed" {
		t.Fatalf("%+v, progress %+v", r, progress)
	}
	page := read(t, filepath.Join(o.Out, "small.html"))
	mustContain(t, "small.html", page,
		`<span class="kd">`,             // Go's keywords, coloured
		"data:image/png;base64,",        // the picture, embedded
		"Where these results come from", // provenance
		"epsilon = 0.25", "gonb v0.11", "band: 20", "small.csv, 7 rows, sha256 0123abcd",
		"Privacy ledger: main", "A simulation protects nobody")
	if strings.Contains(page, "require.min.js") {
		t.Error("small.html loads a script for widgets from elsewhere")
	}
	nb := must.Get(notebook.ReadFile(filepath.Join(o.Out, "small.ipynb")))
	if !nb.Cells[3].HasTag(notebook.TagInjected) {
		t.Fatal("no injected cell after the parameters")
	}
	mustContain(t, "the table", nb.Cells[4].Outputs()[0].Text, "epsilon  0.2500\nname     other\n0 0.25\n", "2 0.0833")

	r, progress = run(failing, nil)
	if r.Verdict() != "failed" || progress.ends["failing"] != "failed" {
		t.Errorf("%+v, progress %+v", r, progress)
	}
	failure := Failed([]Record{r}).Error()
	mustContain(t, "the error", failure, "failing", "cell 3", "cell 2 declares, line 4: return list[3]",
		"index out of range")
	mustContain(t, "failing.html", read(t, filepath.Join(o.Out, "failing.html")), "failed in", "panic: runtime error")
	mustContain(t, "failing.ipynb", read(t, filepath.Join(o.Out, "failing.ipynb")), "before", "index out of range")
	mustContain(t, "index.html", read(t, filepath.Join(o.Out, "index.html")),
		"1 passed, 1 failed", `href="small.html"`, "A small notebook", "return list[3]")

	if _, progress = run(small, other); progress.ends["small"] != upToDate {
		t.Errorf("second run: %v", progress.ends)
	}
	if abandoned := leftovers(t); abandoned != nil {
		t.Errorf("left behind: %v", abandoned)
	}
}

// A target that is mistyped ends the report on one's own data before anything is paid for, with a sentence.
func TestMistypedTarget(t *testing.T) {
	testscale.Slow(t)
	s := realSetup(t)
	o := Options{Notebooks: []string{"../../notebooks/" + templateName}, Out: filepath.Join(t.TempDir(), "reports"),
		Timeout: testTimeout, Parameters: map[string]string{"target": "hapy"}, Progress: newRecorder()}
	records := must.Get(Run(context.Background(), s, o))
	failure := Failed(records).Error()
	mustContain(t, "the error", failure, "dpnb.Valid(", `no column "hapy"`)
	nb := must.Get(notebook.ReadFile(filepath.Join(o.Out, "09_your_data.ipynb")))
	for i, c := range nb.Cells {
		late := i > records[0].Failure.Cell && c.Type() == "code"
		if strings.Contains(c.Stderr(), "goroutine") || late && c.Outputs() != nil {
			t.Errorf("cell %d: %+v", i+1, c.Outputs())
		}
	}
}

// leftovers lists folders of runs that nobody holds any more.
func leftovers(t *testing.T) []string {
	t.Helper()
	var left []string
	found := must.Get(filepath.Glob(filepath.Join(os.TempDir(), runPrefix+"*")))
	for _, dir := range found {
		if len(tagged(sessionEnv+"="+dir)) == 0 {
			left = append(left, dir)
		}
	}
	return left
}

// The verdict on a run, without a kernel; TestUpdateAndRerun has one.
func TestJudge(t *testing.T) {
	const text = `{"nbformat":4,"cells":[{"cell_type":"code","source":"a","metadata":{},"outputs":[
		{"output_type":"stream","name":"stdout","text":"0 1\n2 0.3333333333333333\n"}]}]}`
	parse := func(text string) *notebook.Notebook {
		return must.Get(notebook.Parse([]byte(text)))
	}
	j := &job{original: parse(text)}
	if verdict, err := j.judge(&execution{notebook: parse(text)}); verdict != nil || err != nil {
		t.Errorf("unchanged: %v, %v", verdict, err)
	}
	verdict, err := j.judge(&execution{notebook: parse(strings.Replace(text, "0.33333333", "0.33334333", 1))})
	if verdict == nil || err != nil {
		t.Fatalf("a changed number passes, %v", err)
	}
	mustContain(t, "the difference", verdict.Error(), "cell 1", "- 2 0.33333333", "+ 2 0.33334333")
	failure := &Failure{Cell: 1, Message: "panic"}
	if verdict, _ := j.judge(&execution{notebook: parse(text), failure: failure}); verdict != failure {
		t.Errorf("a failed run: %v", verdict)
	}
}

// A notebook that is updated has under each cell what that cell gave.
func TestUpdateTakesEachCellsOutputs(t *testing.T) {
	const cell = `{"cell_type":"code","source":"","metadata":{},"outputs":[%s]}`
	book := func(outputs ...string) *notebook.Notebook {
		var cells []string
		for _, text := range outputs {
			if text != "" {
				text = fmt.Sprintf(`{"output_type":"stream","name":"stdout","text":%q}`, text)
			}
			cells = append(cells, fmt.Sprintf(cell, text))
		}
		return must.Get(notebook.Parse(fmt.Appendf(nil, `{"nbformat":4,"cells":[%s]}`, strings.Join(cells, ","))))
	}
	j := &job{path: filepath.Join(t.TempDir(), "a.ipynb"), original: book("", "old")}
	must.Do(j.update(book("first", "second")))
	for i, c := range must.Get(notebook.ReadFile(j.path)).Cells {
		if out := c.Outputs(); len(out) != 1 || out[0].Text != []string{"first", "second"}[i] {
			t.Errorf("cell %d has %+v", i+1, out)
		}
	}
}

// Committed outputs are compared where the data are that they were made with, and nowhere else.
func TestMissingData(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", dataset.DirEnv} {
		t.Setenv(name, dir)
	}
	of := func(set string) (verdict, err error) {
		text := fmt.Sprintf(`{"nbformat":4,"metadata":{"dpnb":{"data":[%q]}},"cells":[]}`, set)
		return missingData(must.Get(notebook.Parse([]byte(text))))
	}
	if _, err := of("nothing"); err == nil {
		t.Error("an unknown data set")
	}
	for _, f := range dataset.Sets["adult"] {
		var missing *NotCompared
		if verdict, err := of("adult"); err != nil || !errors.As(verdict, &missing) {
			t.Errorf("without %s: %v, %v", f.Name, verdict, err)
		}
		must.Do(os.WriteFile(f.Name, nil, 0o600))
	}
	if verdict, err := of("adult"); verdict != nil || err != nil {
		t.Errorf("with all files: %v, %v", verdict, err)
	}
}

// What a session has started ends with it: a kernel that stays would have the records in its memory.
func TestEndTagged(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip(err)
	}
	const entry = "DPNB_TEST_SESSION=of this test"
	cmd := exec.Command("sleep", "60")
	cmd.Env = append(os.Environ(), entry)
	must.Do(cmd.Start())
	endTagged(entry)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		t.Error("a process of the session is left", cmd.Process.Kill())
	}
}

// Of a run that does not begin no folder is left.
func TestNoSession(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := &Setup{Cache: t.TempDir(), Kernel: &toolchain.Kernel{}, Jupyter: &jupyter.Jupyter{Python: "/no/python"}}
	if _, err := s.newSession(t.Context()); err == nil {
		t.Error("a session without Python")
	}
	if left := must.Get(os.ReadDir(os.TempDir())); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

func TestUpdateAndRerun(t *testing.T) {
	testscale.SkipUnlessFull(t)
	s := realSetup(t)
	source := strings.ReplaceAll(read(t, "testdata/small.ipynb"), "$GONB_DIR/../../..", s.Tree.Dir)
	dir := t.TempDir()
	path, edited := filepath.Join(dir, "small.ipynb"), filepath.Join(dir, "edited.ipynb")
	write := func(path, content string) {
		t.Helper()
		must.Do(os.WriteFile(path, []byte(content), 0o644))
	}
	write(path, source)
	o := Options{Notebooks: []string{path}, Timeout: testTimeout, Progress: newRecorder()}
	rerun := func() []error {
		t.Helper()
		return must.Get(Rerun(context.Background(), s, o))
	}
	if err := rerun()[0]; err == nil || !strings.Contains(err.Error(), "without outputs") {
		t.Errorf("never run: %v", err)
	}
	update := o
	update.Out, update.Update = t.TempDir(), true
	must.Get(Run(context.Background(), s, update))
	committed := read(t, path)
	if strings.Contains(committed, notebook.TagProvenance) {
		t.Error("the notebook itself got the provenance")
	}
	write(edited, strings.Replace(committed, "0.3333333333333333", "0.3333433333333333", 1))
	o.Notebooks = []string{path, edited}
	results := rerun()
	if results[0] != nil {
		t.Errorf("unchanged: %v", results[0])
	}
	if results[1] == nil {
		t.Fatal("a changed number passes")
	}
	mustContain(t, "the difference", results[1].Error(), "cell 4", "- 2 0.33334333", "+ 2 0.33333333")
}

func TestMistakesCostNoRun(t *testing.T) {
	python := filepath.Join(t.TempDir(), "python.ipynb")
	content := `{"nbformat":4,"cells":[],"metadata":{"language_info":{"name":"python"}}}`
	must.Do(os.WriteFile(python, []byte(content), 0o644))
	for name, c := range map[string]struct {
		o    Options
		want string
	}{
		"no such file":     {Options{Notebooks: []string{"testdata/absent.ipynb"}}, "absent.ipynb"},
		"another language": {Options{Notebooks: []string{python}}, "a notebook in python"},
		"no notebook":      {Options{Notebooks: []string{"report.go"}}, "not a notebook"},
		"no parameters": {Options{Notebooks: []string{"testdata/failing.ipynb"},
			Parameters: map[string]string{"x": "1"}}, "no parameters"},
		"unknown parameter": {Options{Notebooks: []string{"testdata/small.ipynb"},
			Parameters: map[string]string{"delta": "1"}}, `no parameter "delta"; it has epsilon, name, rows`},
		"wrong type": {Options{Notebooks: []string{"testdata/small.ipynb"},
			Parameters: map[string]string{"rows": "2.5"}}, "no value of type int"},
		"update": {Options{Notebooks: []string{"testdata/small.ipynb"}, Parameters: map[string]string{"rows": "2"},
			Update: true}, "its own parameters"},
		"same name": {Options{Notebooks: []string{"testdata/small.ipynb", "./testdata/small.ipynb"}}, "same report"},
	} {
		if err := Check(c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestInterruptEndsEverything(t *testing.T) {
	testscale.InTurn(t)
	s := realSetup(t)
	ctx, cancel := context.WithCancel(context.Background())
	var start time.Time
	progress := &atCell{recorder: newRecorder(), n: 2, f: func() {
		start = time.Now()
		cancel()
	}}
	o := Options{Notebooks: []string{"testdata/small.ipynb"}, Out: t.TempDir(), Timeout: testTimeout}
	o.Progress = progress
	_, err := Run(ctx, s, o)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error: %v", err)
	}
	// On a machine with nothing else to do it takes a second.
	if took := time.Since(start); took > 2*time.Minute {
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
