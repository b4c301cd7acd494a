package report

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/report/notebook"
)

func TestDress(t *testing.T) {
	nb := must.Get(notebook.Parse([]byte(`{"nbformat":4,"cells":[
		{"cell_type":"code","source":"","metadata":{},"outputs":[{"output_type":"display_data","metadata":{},
			"data":{"image/png":"eA==","text/plain":["[figure: it rises]"]}}]}]}`)))
	inside := []byte(`<h1 id="A">A</h1><h2 id="B">B<a class="anchor-link" href="#B">¶</a></h2>
		<div class="jp-InputPrompt">In [1]:</div><table><tr><td>1</td></tr></table>
		<div class="jp-CodeCell"><div class="highlight"><pre>import "x"</pre></div></div>
		<div class="jp-CodeCell"><div class="highlight"><pre>a
b</pre></div><div class="jp-RenderedImage"><img src="data:image/png;base64,eA==" alt="nothing"></div></div>`)
	r := Record{Name: "02", Title: "A", Seconds: 1.25, Failure: &Failure{Cell: 1, Message: "a < b"}}
	o := Options{All: []string{"01.ipynb", "02.ipynb", "03.ipynb"}}
	content := must.Get(dress("", "", nb, inside, reportPage(r, o)))
	mustContain(t, "the page", string(content), `<html lang="en">`, "failed in 1.2 s", "a &lt; b", `alt="it rises"`,
		`<li><a href="#B">B</a></li>`, `<details class="code"><summary>code, 1 line</summary>`,
		`<details class="code" open=""><summary>code, 2 lines</summary>`, `<a rel="prev" href="01.html">`,
		`<a rel="next" href="03.html">`, `aria-label="table"><table>`, `id="figure-1"`, `id="hide-code"`)
	for _, unwanted := range []string{"In [1]", "<script", "nothing", "http"} {
		if strings.Contains(string(content), unwanted) {
			t.Errorf("the page has %q", unwanted)
		}
	}
}

func TestLinks(t *testing.T) {
	root := t.TempDir()
	for _, file := range []string{"notebooks/01.ipynb", "docs/a.md", "docs/theory/b.md", "docs/images/c.png",
		"README.md", "dpnb/x.go"} {
		path := filepath.Join(root, file)
		must.Do(os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(os.WriteFile(path, []byte("x"), 0o600))
	}
	for _, c := range []struct{ file, address, want string }{
		{"notebooks/01.ipynb", "../docs/a.md#here", "docs/a.html#here"},
		{"notebooks/01.ipynb", "../docs/theory/b.md", "docs/theory/b.html"},
		{"docs/theory/b.md", "../a.md", "../a.html"},
		{"docs/a.md", "../notebooks/01.ipynb", "../01.html"},
		{"docs/a.md", "../README.md#x", "about.html#x"},
		{"README.md", "docs/a.md", "a.html"},
		{"README.md", "docs/images/c.png", "data:image/png;base64,eA=="},
		{"docs/a.md", "../dpnb/x.go", sources + "dpnb/x.go"},
		{"docs/a.md", "../dpnb/none.go", "../dpnb/none.go"},
		{"docs/a.md", "../../outside.md", "../../outside.md"},
		{"docs/a.md", "#there", "#there"},
		{"docs/a.md", "https://example.org/a.md", "https://example.org/a.md"},
	} {
		if got := links(root, c.file, path.Dir(place(c.file)))(c.address); got != c.want {
			t.Errorf("%s in %s: %s, want %s", c.address, c.file, got, c.want)
		}
	}
}

// The pages of docs are made anew when the program, a page, a picture or README.md has changed.
func TestKeyOfDocs(t *testing.T) {
	root := t.TempDir()
	write := func(file, content string) {
		t.Helper()
		path := filepath.Join(root, file)
		must.Do(os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(os.WriteFile(path, []byte(content), 0o600))
	}
	key := func(base fingerprint) string {
		t.Helper()
		return must.Get(base.ofDocs(context.Background(), root))
	}
	write("docs/a.md", "a")
	write("docs/images/b.png", "b")
	write("README.md", "c")
	last := key("one")
	if key("one") != last {
		t.Error("another key of the same")
	}
	if key("two") == last {
		t.Error("the program has changed and the key has not")
	}
	for _, file := range []string{"docs/a.md", "docs/images/b.png", "README.md"} {
		write(file, "changed")
		if k := key("one"); k == last {
			t.Errorf("%s has changed and the key has not", file)
		} else {
			last = k
		}
	}
}
