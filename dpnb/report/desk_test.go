//go:build linux

package report

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/dpnb/notebooks/dpnb/internal/project"
	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/report/jupyter"
	"github.com/dpnb/notebooks/dpnb/report/notebook"
	"github.com/dpnb/notebooks/dpnb/report/toolchain"
)

// A driver that runs nothing: a notebook has the outputs of the file of its title, and fails as another file says.
const driver = `#!/bin/sh
[ "$1" = -m ] && { echo "opens $*" >>"$DESK/asked"; exit 0; }
while IFS= read -r order; do
	printf '%s\n' "$order" >>"$DESK/asked"
	out=${order#*\"out\":\"} out=${out%%\"*} in=${order#*\"notebook\":\"} in=${in%%\"*}
	case $order in
	*'"do":"execute"'*)
		/bin/grep -c output_type "$in" >>"$DESK/asked"
		/bin/cat "$DESK/log" >"$DPNB_SESSION/run.jsonl"
		failure=null
		if /bin/grep -q "that fails" "$in"; then
			failure=$(/bin/cat "$DESK/failure")
			/bin/cp "$DESK/failing.ipynb" "$out"
		elif /bin/grep -q "that breaks" "$in"; then
			echo "the last word" >&2
			echo '{"event": "failed", "message": "no kernel"}'; continue
		else
			/bin/cp "$DESK/small.ipynb" "$out"
		fi
		echo '{"event": "cell", "index": 1}'
		printf '%s\n' "{\"event\": \"executed\", \"failure\": $failure}" ;;
	*'"do":"html"'*)
		/bin/cp "$DESK/inside.html" "$out"
		echo '{"event": "html"}' ;;
	*)
		in=${order#*\"in\":\"} in=${in%%\"*}
		/bin/cp "$in" "$out"
		echo '{"event": "markdown"}' ;;
	esac
done
`

// told is a Progress that writes down what it is told.
type told struct{ to *strings.Builder }

func (p told) Step(text string)                  { fmt.Fprintln(p.to, "step", text) }
func (p told) Begin(name string, cells int)      { fmt.Fprintln(p.to, "begin", name, cells) }
func (p told) Cell(name string, cell, cells int) { fmt.Fprintln(p.to, "cell", name, cell, cells) }
func (p told) End(name, outcome string)          { fmt.Fprintln(p.to, "end", name, outcome) }

// What is written of notebooks, with a driver and a go command that are none, and what is asked of these, is as it was:
// testdata/desk.txt.
func TestWhatIsWritten(t *testing.T) {
	testscale.Slow(t)
	kept := must.Get(filepath.Abs("testdata/desk.txt"))
	dir := filepath.Join(must.Get(filepath.EvalSymlinks(t.TempDir())), "tree")
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		must.Do(os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(os.WriteFile(path, []byte(text), 0o755))
		return path
	}
	const small = `{"cells": [{"cell_type": "markdown", "id": "title", "metadata": {}, "source": ["# A small: $x^2$"]},
		{"cell_type": "code", "execution_count": null, "id": "parameters", "metadata": {"tags": ["parameters"]},
		"outputs": [], "source": ["var epsilon = 1.0"]}], "metadata": {"language_info": {"name": "go"}}, "nbformat": 4,
		"nbformat_minor": 5}`
	failing := string(must.Get(os.ReadFile("testdata/failing.ipynb")))
	const output = `"outputs": [{"name": "stdout", "output_type": "stream", "text": ["1.5\n"]},
		{"data": {"image/png": "iVBORw0KGgo=", "text/plain": ["a plot"]}, "metadata": {}, "output_type":
		"display_data"}]`
	ran := strings.Replace(small, `"outputs": []`, output, 1)
	write("small.ipynb", ran)
	write("failing.ipynb", strings.Replace(failing, `"outputs": []`, `"outputs": [{"name": "stdout", "output_type":
		"stream", "text": ["before\n"]}]`, 1))
	write("failure",
		`{"kind": "error", "message": "index out of range", "cell": 2, "program":
		"package main\n\nfunc third() {\n\treturn list[3]\n}\n"}`)
	write("inside.html",
		`<main><div class="jp-Cell jp-MarkdownCell"><h1 id="A">A title<a class="anchor-link" href="#A">¶</a></h1>
<p>See <a href="02_b.ipynb">that</a>,
<a href="../docs/a.md#x">this</a>, <a href="https://example.org">there</a>.</p></div>
<div class="jp-Cell jp-CodeCell"><div class="highlight"><pre>!go version</pre></div></div>
<div class="jp-Cell jp-CodeCell"><div class="highlight"><pre>fmt.Println(1)
fmt.Println(2)</pre></div><img src="a.png"></div></main>`)
	python := write("python", driver)
	write("bin/go", "#!/bin/sh\necho \"${PWD##*/}: go $*\" >>\"$DESK/asked\"\ncase \"$1 $2\" in\n\"env GOVERSION\") "+
		"echo go1.99 ;;\n\"env GOROOT\") echo \"/it's/go\" ;;\nlist*) echo github.com/janpfeifer/gonb@v9.8.7 ;;\n"+
		"build*) case $4 in *broken*) echo no >&2; exit 1;; esac; echo built >\"$3\" ;;\nesac\n")
	for name, value := range map[string]string{"PATH": filepath.Join(dir, "bin"), "DESK": dir, "TMPDIR": dir,
		"HOME":           dir,
		"XDG_CACHE_HOME": filepath.Join(dir, "cache"), "XDG_DATA_HOME": "", "JUPYTER_DATA_DIR": "", "JUPYTER_PATH": "",
		"DPNB_DATA": filepath.Join(dir, "data"), "GOFLAGS": "", "GOEXPERIMENT": ""} {
		t.Setenv(name, value)
	}
	write("go.mod", "module github.com/dpnb/notebooks\n\nrequire (\n\ta.b/c v1.2.3\n\ta.b/d v1.2.4 // indirect\n)\n")
	write("log", `{"kind":"seed","value":{"name":"band","seed":20}}
{"kind":"data","value":{"name":"census","path":"small.csv","sha256":"0123abcd","rows":7,"public":true}}
{"kind":"note","value":{"text":"a note | of it"}}
{"kind":"ledger","value":{"name":"main","adjacency":"replace one","epsilon":1,"delta":1e-05,"entries":[{"label":"fit",
"mechanism":"objective perturbation","epsilon":0.5,"delta":1e-06}],"epsilon_spent":0.5,"delta_spent":1e-06}}
`)
	write("log", strings.ReplaceAll(string(must.Get(os.ReadFile(filepath.Join(dir, "log")))), "\"fit\",\n", `"fit",`))
	a := write("notebooks/01_a.ipynb", small)
	b := write("notebooks/02_b.ipynb", failing)
	broken := write("notebooks/03_c.ipynb", strings.ReplaceAll(failing, "that fails", "that breaks"))
	write("docs/README.md", "# Pages\n\nSee [a](a.md) and $x^2$.\n")
	write("docs/a.md", "# A page\n\n[back](README.md), [code](../dpnb/x.go), [up](../notebooks/01_a.ipynb)\n")
	write("go.sum", "")
	write("dpnb/x.go", "package x\n")
	write("README.md", "# All\n")
	write("asked", "")
	t.Chdir(dir)

	var all strings.Builder
	after := func(name string, err error) {
		fmt.Fprintf(&all, "== %s: %v\n", name, err)
		if asked, _ := os.ReadFile("asked"); len(asked) > 0 {
			fmt.Fprintf(&all, "asked:\n%s", asked)
		}
		must.Do(os.WriteFile("asked", nil, 0o600))
	}
	ctx, cache := t.Context(), filepath.Join(dir, "cache")
	settings := toolchain.Settings{Module: dir, Cache: cache, Progress: func(text string) {
		fmt.Fprintln(&all, "progress", text)
	}}
	k, err := toolchain.Ensure(ctx, settings)
	after("kernel", err)
	settings.Editor, settings.Module = true, "v1.0.0"
	edit, err := toolchain.Ensure(ctx, settings)
	after("kernel for people", err)
	after("completion", edit.Completion(ctx, settings))
	after("completion again", edit.Completion(ctx, settings))
	must.Do(os.MkdirAll(filepath.Join(cache, "kernel", ".part-1", "x"), 0o755))
	_, err = toolchain.Ensure(ctx, settings)
	_, gone := os.Stat(filepath.Join(cache, "kernel", ".part-1"))
	after(fmt.Sprint("again, parts left: ", gone == nil), err)
	for _, kernel := range []*toolchain.Kernel{k, edit} {
		key := kernel.Key // of this system
		fmt.Fprintln(&all, strings.ReplaceAll(fmt.Sprintf("%+v", *kernel), key, "KEY"), len(key))
		spec := string(must.Get(os.ReadFile(filepath.Join(kernel.Path, "kernels", "gonb", "kernel.json"))))
		fmt.Fprintln(&all, strings.ReplaceAll(spec, key, "KEY"))
	}
	script := string(must.Get(os.ReadFile(filepath.Join(k.Bin, "go"))))
	fmt.Fprintln(&all, len(script), strings.Count(script, `'/it'\''s/go/bin/go'`))
	for range 2 {
		where, ok, err := edit.Register()
		after(fmt.Sprint("registered in ", where, " ", ok), err)
	}
	for _, name := range []string{"XDG_DATA_HOME", "JUPYTER_DATA_DIR"} {
		t.Setenv(name, filepath.Join(dir, "of", name))
		where, ok, err := k.Register()
		must.Do(os.Unsetenv(name))
		after(fmt.Sprint("by ", name, " ", where, " ", ok), err)
	}
	write(".local/share/jupyter/kernels/gonb/kernel.json", `{"argv": ["another"]}`)
	where, ok, err := k.Register()
	after(fmt.Sprint("another's stays in ", where, " ", ok), err)
	for _, above := range []string{"", "../.."} {
		fmt.Fprintln(&all, toolchain.FindModule(above, "it's"))
	}

	s := &Setup{Tree: project.Tree{Dir: dir}, Cache: cache, Kernel: k, Jupyter: &jupyter.Jupyter{Python: python,
		Versions: map[string]string{"nbclient": "1.2", "nbconvert": "3.4"}}}
	o := Options{Notebooks: []string{a, b}, All: []string{a, b, broken}, Out: filepath.Join(dir, "out"), Jobs: 1,
		Timeout: time.Minute, Progress: told{&all}, Parameters: nil,
		Below: map[string]string{"docs/a.md": "\nMeasured.\n"}}
	run := func(name string, s *Setup, o Options) {
		records, err := Run(ctx, s, o)
		for _, r := range records {
			fmt.Fprintln(&all, "record", r.Name, r.Title, len(r.Key), r.Verdict(), r.Failure, len(r.HTML), len(r.Files))
		}
		after(name, err)
		fmt.Fprintln(&all, "failed:", Failed(records))
	}
	run("reports", s, o)
	shown := func(out string) {
		must.Do(filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text := string(must.Get(os.ReadFile(path)))
			fmt.Fprintf(&all, "== file %s\n", path)
			if ext := filepath.Ext(path); ext == ".html" || ext == ".ipynb" || ext == ".md" {
				fmt.Fprintln(&all, text)
			}
			return nil
		}))
	}
	shown("out")
	run("again", s, o)
	o.Force, o.Notebooks = true, []string{broken}
	run("broken", s, o)
	o.Parameters = map[string]string{"epsilon": "2.5"}
	installed := *s
	installed.Tree.Version = "v1.2.3"
	o.Notebooks, o.Out, o.All = []string{a}, filepath.Join(dir, "out2"), nil
	run("installed, with parameters", &installed, o)
	o.Parameters = nil
	write("notebooks/01_a.ipynb", ran)
	o.Update, o.Notebooks, o.All = true, []string{a, b}, []string{a, b}
	run("update", s, o)
	fmt.Fprintln(&all, string(must.Get(os.ReadFile(a))))
	write("notebooks/02_b.ipynb", strings.Replace(ran, "1.5", "1.6", 1))
	for _, paths := range [][]string{{a, b}, {broken}} {
		results, err := Rerun(ctx, s, Options{Notebooks: paths, Jobs: 1, Progress: told{&all}})
		after(fmt.Sprint("rerun ", results), err)
	}
	_, err = Rerun(ctx, s, Options{Notebooks: []string{a}, Jobs: -1})
	after("no jobs", err)
	o.Out = filepath.Join(dir, "site")
	after("site", Site(ctx, s, o))
	must.Do(os.RemoveAll("site/02_b.ipynb"))
	shown("site")
	to, err := Unpack(project.Tree{Dir: dir}, "unpacked")
	after("unpacked to "+to, err)
	for _, name := range []string{"", "jupyterlab", "notebook"} {
		s.Jupyter.Versions[name] = "5"
		after("lab "+name, Lab(ctx, s, LabOptions{Folder: "notebooks", IP: "localhost", Port: 8, NoBrowser: true}))
		delete(s.Jupyter.Versions, name)
	}
	after("lab of nothing", LabOptions{Folder: "none"}.Valid())
	nb := must.Get(notebook.ReadFile(a))
	nb.SetKernel("other", "Other", "python")
	nb.Cells[0].MapProse(strings.ToUpper)
	nb.Cells[1].SetSource("x\ny")
	nb.Cells[0].TakeOutputs(nb.Cells[1])
	fmt.Fprintln(&all, nb.Setting("none"), nb.Language(), nb.Cells[1].ID(), nb.Cells[1].Marked("mark"),
		string(must.Get(nb.Encode())))
	quoted := string(must.Get(json.Marshal(dir)))
	text := strings.ReplaceAll(all.String(), strings.Trim(quoted, `"`), "DIR")
	text = strings.ReplaceAll(text, " on "+runtime.GOOS+"/"+runtime.GOARCH, " on SYSTEM")
	for _, c := range [][2]string{{`(?s)<style>.*?</style>`, "STYLE"}, {`(?s)<script>.*?</script>`, "SCRIPT"},
		{`dpnb-run-\d+`, "dpnb-run-N"}, {`\.part-\d+`, ".part-N"}, {`\d+\.\d s`, "so many s"},
		{`\d{4}-\d\d-\d\d \d\d:\d\d UTC`, "THEN"}, {` --allow-root`, ""}, {k.Key, "KEY"}, {edit.Key, "KEY"}} {
		text = regexp.MustCompile(c[0]).ReplaceAllString(text, c[1])
	}
	golden.Compare(t, kept, text)
}
