package report

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/project"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/report/jupyter"
	"github.com/dpnb/notebooks/dpnb/report/notebook"
	"github.com/dpnb/notebooks/dpnb/report/toolchain"
)

// chapterIn writes a notebook of a title, of which the given settings are strings, with a picture for each text.
func chapterIn(t *testing.T, dir, name, title, settings string, pictures ...string) string {
	t.Helper()
	cells := fmt.Sprintf(`{"cell_type":"markdown","source":%q,"metadata":{}}`, title)
	for _, text := range pictures {
		cells += fmt.Sprintf(`,{"cell_type":"code","source":"","metadata":{},"outputs":[{"output_type":"display_data",
			"metadata":{},"data":{"image/png":%q,"text/plain":%q}}]}`, "picture-of-"+text, "[figure: "+text+"]")
	}
	path := filepath.Join(dir, name+".ipynb")
	text := fmt.Sprintf(`{"nbformat":4,"metadata":{"dpnb":{%s}},"cells":[%s]}`, settings, cells)
	must.Do(os.WriteFile(path, []byte(text), 0o600))
	return path
}

// TestIndex: each notebook stands in the index as what it is: passed, failed or not run, with the picture that it asks
// for and its neighbours; the gallery has the figures of those that have any.
func TestIndex(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	in := t.TempDir()
	chapters := []string{
		chapterIn(t, in, "one", "# First", `"audience":"all","summary":"short","picture":"2"`, "left", "right"),
		chapterIn(t, in, "two", "# Second", `"picture":"3"`, "only"),
		chapterIn(t, in, "three", "", ``),
	}
	run := func(o Options, failed ...string) string {
		t.Helper()
		o.Out = t.TempDir()
		for i, path := range chapters[:2] {
			r := &Record{Name: Name(path), Title: fmt.Sprint("Title ", i+1), Seconds: 1.25 + float64(i)}
			if i < len(failed) && failed[i] != "" {
				r.Failure = &Failure{Cell: 1, Message: failed[i]}
			}
			must.Do(writeReport(o.Out, r, []byte("page"), must.Get(notebook.ReadFile(path))))
		}
		must.Do(writeSite(t.Context(), nil, o, "")) // of named notebooks alone: docs are not asked for
		return o.Out
	}
	out := run(Options{Notebooks: chapters}, "", "it broke")
	index := read(t, filepath.Join(out, indexName))
	mustContain(t, "the index", index, `href="one.html"`, "Title 1", "<p>short</p>", "For all", `picture-of-right`,
		`alt="right"`, "passed</span> in 1.2 s", "picture-of-only", "failed</span> in 2.2 s", "it broke",
		"three · not run", "All figures", "1 passed, 1 failed, 1 not run.")
	if n := strings.Count(index, ".ipynb"); n != 2 || strings.Contains(index, "picture-of-left") {
		t.Errorf("%d notebooks are linked in %s", n, index[strings.Index(index, "<main>"):])
	}
	gallery := read(t, filepath.Join(out, "gallery.html"))
	mustContain(t, "the gallery", gallery, `<a href="one.html">Title 1`, `one.html#figure-1`, `one.html#figure-2`,
		`two.html#figure-1`, "picture-of-left", "picture-of-right", "picture-of-only")
	if strings.Contains(gallery, "three") {
		t.Error("a notebook without figures is in the gallery")
	}
	index = read(t, filepath.Join(run(Options{Notebooks: chapters[2:]}), indexName))
	if mustContain(t, "the index", index, "not run"); strings.Contains(index, " passed, ") ||
		strings.Contains(index, "All figures") {
		t.Errorf("nothing was run: %s", index[strings.Index(index, "<main>"):])
	}
	// A notebook without a record has the title of its first cell, or its name.
	for i, want := range []string{"First", "Second", "three"} {
		if row := newIndexRow(chapters[i], Options{Out: t.TempDir()}); row.Title != want || row.Address != "" {
			t.Errorf("%+v, want %s", row, want)
		}
	}
}

// TestNeighbours: the page of a chapter leads to the one before and the one after, of all of the project's and those
// from elsewhere; one that is in both stands once.
func TestNeighbours(t *testing.T) {
	in := t.TempDir()
	var chapters []string
	for _, name := range []string{"one", "two", "three"} {
		chapters = append(chapters, chapterIn(t, in, name, "# The "+name, ""))
	}
	o := Options{All: chapters[:2], Notebooks: chapters[1:]}
	for i, want := range [][2]string{{"", "two.html"}, {"one.html", "three.html"}, {"two.html", ""}} {
		p := reportPage(Record{Name: Name(chapters[i])}, o)
		if got := [2]string{p.Previous.Address, p.Next.Address}; got != want {
			t.Errorf("%s has %q beside it", chapters[i], got)
		}
	}
	failed := reportPage(Record{Name: "one", Seconds: 2.5, Failure: &Failure{Cell: 3, Message: "it broke"}}, o)
	mustContain(t, "a page", failed.Failure+failed.Verdict+failed.Note, "cell 3", "it broke", "failed", "2.5 s")
}

// TestUpToDateCostsNoRun: what is as it would be made is left alone, without Jupyter, and is said to be.
func TestUpToDateCostsNoRun(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("DPNB_DATA", "")
	root, out := t.TempDir(), t.TempDir()
	for _, name := range []string{"go.mod", "go.sum"} {
		must.Do(os.WriteFile(filepath.Join(root, name), nil, 0o600))
	}
	path, progress := chapterIn(t, root, "one", "# First", ""), newRecorder()
	s := &Setup{Tree: project.Tree{Dir: root}, Kernel: &toolchain.Kernel{}, Jupyter: &jupyter.Jupyter{}}
	o := Options{Notebooks: []string{path}, Out: out, Progress: progress}
	jobs, base := must.Get(load(o)), must.Get(newFingerprint(t.Context(), s))
	r := &Record{Name: "one", Key: must.Get(base.of(jobs[0].nb)), Title: "First", Seconds: 3}
	must.Do(writeReport(out, r, []byte("page"), jobs[0].nb))
	records, err := Run(t.Context(), s, o)
	if err != nil || len(records) != 1 || records[0].Seconds != 3 || progress.ends["one"] != upToDate {
		t.Errorf("%+v, %v, %v", records, progress.ends, err)
	}
	if mustContain(t, "the index", read(t, filepath.Join(out, indexName)), "1 passed"); len(progress.cells) > 0 {
		t.Errorf("cells have run: %v", progress.cells)
	}
}
