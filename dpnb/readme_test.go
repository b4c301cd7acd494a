package dpnb_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

var goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")

// The Go of the README, and that of the page for one's own data, put together in its order as in a notebook, must be a
// program.
func TestReadmeCompiles(t *testing.T) {
	testscale.Slow(t)
	compiles(t, "../README.md", 0, ".Fit(")
	compiles(t, "../docs/your-data.md", 4, "FitOnce(", "github.com/dpnb/notebooks/dpnb/frame/parquet")
}

// The schema that the page for one's own data shows is one.
func TestSchemaOfThePage(t *testing.T) {
	text := must.Get(os.ReadFile("../docs/your-data.md"))
	block := regexp.MustCompile("(?s)```json\n(.*?)```").FindSubmatch(text)
	path := filepath.Join(t.TempDir(), "people.schema.json")
	must.Do(os.WriteFile(path, block[1], 0o600))
	if s, err := frame.LoadSchema(path); err != nil || len(s.Fields) != 5 {
		t.Errorf("%+v, %v", s, err)
	}
}

// compiles vets the Go of a page, of which the block at a given place has a fit.
func compiles(t *testing.T, page string, at int, fit string, packages ...string) {
	t.Helper()
	text := must.Get(os.ReadFile(page))
	blocks := goBlock.FindAllStringSubmatch(string(text), -1)
	if len(blocks) <= max(1, at) || !strings.Contains(blocks[at][1], fit) {
		t.Fatalf("%d examples of Go", len(blocks))
	}
	vet := func(more string) (string, error) {
		program := "package main\n\n"
		for _, p := range append(packages, "github.com/dpnb/notebooks/dpnb") {
			program += "import " + strconv.Quote(p) + "\n"
		}
		program += "\nfunc main() {\n"
		for _, b := range blocks {
			program += b[1]
		}
		file := filepath.Join(t.TempDir(), "main.go")
		must.Do(os.WriteFile(file, []byte(program+more+"}\n"), 0o600))
		out, err := exec.Command("go", "vet", file).CombinedOutput()
		return string(out), err
	}
	if out, err := vet(""); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := vet("unused := 1\n"); err == nil || !strings.Contains(out, "unused") {
		t.Errorf("a variable that is not used is let pass (%v): %s", err, out)
	}
}

// The commands that docs/account.md shows answer what it shows.
func TestAccountAnswers(t *testing.T) {
	testscale.Slow(t)
	text := must.Get(os.ReadFile("../docs/account.md"))
	shown := regexp.MustCompile(`(?m)^    dpnb (.*)\n    (.*)$`).FindAllSubmatch(text, -1)
	if len(shown) != 4 {
		t.Fatalf("%d commands", len(shown))
	}
	for _, s := range shown {
		cmd := exec.Command("go", append([]string{"run", "./dpnb/cmd/dpnb"}, strings.Fields(string(s[1]))...)...)
		cmd.Dir = ".."
		out, err := cmd.Output()
		if err != nil || strings.TrimSpace(string(out)) != string(s[2]) {
			t.Errorf("%s: %v\n%s, and the page says\n%s", s[1], err, out, s[2])
		}
	}
}

// The index of docs/ leads to every page, and so does the site's.
func TestIndexOfDocs(t *testing.T) {
	index := must.Get(os.ReadFile("../docs/README.md"))
	for _, pattern := range []string{"../docs/*.md", "../docs/theory/*.md"} {
		pages, err := filepath.Glob(pattern)
		if err != nil || len(pages) < 5 {
			t.Fatalf("%s: %d pages, %v", pattern, len(pages), err)
		}
		for _, p := range pages {
			name := strings.TrimPrefix(filepath.ToSlash(p), "../docs/")
			if name != "README.md" && !strings.Contains(string(index), "("+name+")") {
				t.Errorf("docs/README.md does not lead to %s", name)
			}
		}
	}
}

// A notebook says what its reader will be able to do. One that names a page of docs/ links to it, so that the link
// works in Jupyter, on GitHub and on the site; but not notebook 09, which is copied elsewhere.
func TestNotebooksPromiseAndLink(t *testing.T) {
	bare := regexp.MustCompile(`[^/]docs/[a-z_/-]+\.md`)
	for name, text := range readNotebooks(t) {
		if !strings.Contains(text, "By the end you will be able to") {
			t.Errorf("%s does not say what its reader will be able to do", name)
		}
		for _, page := range bare.FindAllString(text, -1) {
			if !strings.Contains(name, "09_your_data") {
				t.Errorf("%s names %s and does not link to it", name, page)
			}
		}
	}
}

// The programs of docs/go.md and docs/account.md run, in a module of their own as a reader's would be.
func TestProgramsRun(t *testing.T) {
	testscale.InTurn(t)
	module := must.Get(filepath.Abs(".."))
	var blocks [][]string
	for _, page := range []string{"../docs/go.md", "../docs/account.md"} {
		text := must.Get(os.ReadFile(page))
		blocks = append(blocks, goBlock.FindAllStringSubmatch(string(text), -1)...)
	}
	if len(blocks) != 5 {
		t.Fatalf("%d programs", len(blocks))
	}
	dir := t.TempDir()
	sums := must.Get(os.ReadFile("../go.sum"))
	files := map[string]string{"go.sum": string(sums), "go.mod": "module study\n"}
	for i, b := range blocks {
		files[fmt.Sprintf("program%d/main.go", i)] = b[1]
	}
	for name, content := range files {
		must.Do(os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700))
		must.Do(os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	run := func(name string, args ...string) string {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	run("go", "mod", "edit", "-go=1.26", "-require=github.com/dpnb/notebooks@v0.0.0",
		"-replace=github.com/dpnb/notebooks="+module)
	run("go", "mod", "tidy")
	run("go", "build", "-ldflags=-s -w", "-o", "built/", "./...")
	for i := range blocks {
		if out := run(filepath.Join(dir, "built", fmt.Sprint("program", i))); !regexp.MustCompile(
			`add[-/]remove`).MatchString(out) {
			t.Errorf("the program says no guarantee:\n%s", out)
		}
	}
}

// The picture of the README is the one that notebook 00 draws, and what is said of it are the notebook's numbers.
func TestPictureOfTheReadme(t *testing.T) {
	readme, notebook := must.Get(os.ReadFile("../README.md")), must.Get(os.ReadFile("../notebooks/00_start_here.ipynb"))
	picture := must.Get(os.ReadFile("../docs/images/accuracy.png"))
	if !bytes.Contains(notebook, []byte(base64.StdEncoding.EncodeToString(picture))) {
		t.Error("docs/images/accuracy.png is not drawn in notebook 00")
	}
	said := regexp.MustCompile(`([0-9.]+) % (?:at ε = )?([0-9.]+|without privacy)|all ([0-9]+) fits`).
		FindAllSubmatch(readme, -1)
	if len(said) != 4 {
		t.Fatalf("of the picture the README says %q", said)
	}
	for _, s := range said {
		row := `"Test accuracy of private fits, .*, ` + string(s[3]) + ` seeds`
		if s[3] == nil {
			row = `(?i)"\s*` + regexp.QuoteMeta(string(s[2])) + `\s+([0-9.]+) %`
		}
		got := regexp.MustCompile(row).FindSubmatch(notebook)
		if got != nil && s[3] == nil {
			got[0] = fmt.Appendf(nil, "%.1f", must.Get(strconv.ParseFloat(string(got[1]), 64)))
		}
		if got == nil || s[3] == nil && !bytes.Equal(got[0], s[1]) {
			t.Errorf("the README says %s, and notebook 00 %q", s[0], got)
		}
	}
}
