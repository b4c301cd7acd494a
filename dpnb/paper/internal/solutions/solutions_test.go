package solutions

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/paper/internal/errata"
	"github.com/dpnb/notebooks/dpnb/report/notebook"
)

// Solutions fold out below the exercises of a notebook: as many, each with Go that runs after the notebook's
// declarations, and with what it prints.
//
//	<details><summary>Solutions</summary>
//	1. … ```go … ``` ```text … ```
var (
	item     = regexp.MustCompile(`(?m)^\d+\. `)
	solution = regexp.MustCompile("(?s)```go\n(.*?)```\\s*```text\n(.*?)```")
)

// solutionFaults returns what is wrong with the exercises and solutions of a text, before anything runs.
func solutionFaults(text string) (problems []string) {
	_, rest, exercises := strings.Cut(text, "## Exercises\n")
	if !exercises {
		return nil
	}
	asked, rest, _ := strings.Cut(rest, "<details><summary>Solutions</summary>")
	folded, _, folds := strings.Cut(rest, "</details>")
	n, parts := len(item.FindAllString(asked, -1)), item.Split(folded, -1)[1:]
	if n == 0 || !folds || len(parts) != n {
		return []string{fmt.Sprintf("%d exercises, %d solutions that fold out", n, len(parts))}
	}
	for k, part := range parts {
		if n := len(solution.FindAllString(part, -1)); n == 0 || n != strings.Count(part, "```go") {
			problems = append(problems, fmt.Sprintf("solution %d has %d programs with what they print", k+1, n))
		}
	}
	return problems
}

// ended is printed after each solution, and left before it of one that was not run.
const ended, left = "%% end of a solution\n", "%% not run\n"

// long are parts of the six solutions, of some hundred, that take two thirds of the time of all. They are compiled, and
// run where every test was asked for.
var long = []string{
	"for _, degrees := range []float64{10, 30, 60, 90}",
	"cop.Prices(eps, delta, 1.1)",
	"heavytail.RateFigure(p, []int{3000}, epsilon, 40",
	"[]int{2000, 5000, 5700, 10_000, 20_000}",
	"dtz24.NewFrontier(kappa, 1e-6, []float64{0.1, 1, 10}",
	"audit.Losses(n, privacy.Add, 20_000, 0,",
}

// isLong reports whether a solution is one of those.
func isLong(code string) bool {
	return slices.ContainsFunc(long, func(part string) bool { return strings.Contains(code, part) })
}

// Each of those is one solution.
func TestLongSolutions(t *testing.T) {
	times := map[string]int{}
	notebooks := must.Get(filepath.Glob(filepath.Join(errata.Root(t), "notebooks", "*.ipynb")))
	for _, path := range notebooks {
		for _, c := range must.Get(notebook.ReadFile(path)).Cells {
			for _, s := range solution.FindAllStringSubmatch(c.Source(), -1) {
				for _, part := range long {
					times[part] += strings.Count(s[1], part)
				}
			}
		}
	}
	for _, part := range long {
		if times[part] != 1 {
			t.Errorf("%s: in %d solutions", part, times[part])
		}
	}
}

// solutionsOf returns a program of a notebook's declarations and its solutions; "" if there are none.
func solutionsOf(nb *notebook.Notebook) string {
	program, steps := "package main\n\n", ""
	for _, c := range nb.Cells {
		source := c.Source()
		switch {
		case c.Type() == "code" && !strings.HasPrefix(source, "%%") && !strings.HasPrefix(source, "!"):
			declared, _, _ := strings.Cut(source, "\n%%")
			program += declared + "\n\n"
		case c.Type() == "markdown":
			for _, s := range solution.FindAllStringSubmatch(source, -1) {
				if isLong(s[1]) && !testscale.Full() && os.Getenv("DPNB_GOLDEN") == "" {
					steps += fmt.Sprintf("\t_ = func() {\n%s\n}\n\tfmt.Print(%q)\n", s[1], left+ended)
				} else {
					steps += fmt.Sprintf("\tfunc() {\n%s\n}()\n\tfmt.Print(%q)\n", s[1], ended)
				}
			}
		}
	}
	if steps == "" {
		return ""
	}
	return program + "func main() {\n" + steps + "}\n"
}

// pruned drops the imports that a program does not use, as the kernel does.
func pruned(program string) (string, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "main.go", program, parser.ParseComments)
	if err != nil {
		return "", err
	}
	used := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				used[x.Name] = true
			}
		}
		return true
	})
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.IMPORT {
			continue
		}
		kept := g.Specs[:0]
		for _, s := range g.Specs {
			spec := s.(*ast.ImportSpec)
			name := path.Base(strings.Trim(spec.Path.Value, `"`))
			if spec.Name != nil {
				name = spec.Name.Name
			}
			if used[name] {
				kept = append(kept, s)
			}
		}
		g.Specs = kept
	}
	var b strings.Builder
	err = format.Node(&b, set, file)
	return b.String(), err
}

// build builds one program of programs by name, which runs the one that is its argument: packages below a folder of
// this room that an overlay pretends is there. Linked once it takes half the time of one for each.
func build(t *testing.T, programs map[string]string) (built string) {
	t.Helper()
	dir, room := t.TempDir(), filepath.Join(errata.Root(t), "dpnb", "paper", "internal", "solutions", "all")
	overlay := map[string]string{}
	write := func(name, text string) {
		file := filepath.Join(dir, strings.ReplaceAll(name, "/", "-"))
		must.Do(os.WriteFile(file, []byte(text), 0o644))
		overlay[filepath.Join(must.Get(filepath.Abs(room)), name)] = file
	}
	main, imports := "", ""
	for _, name := range slices.Sorted(maps.Keys(programs)) {
		text := strings.Replace(must.Get(pruned(programs[name])), "package main\n", "package solutions\n", 1)
		write("n"+name+"/solutions.go", strings.Replace(text, "\nfunc main() {\n", "\nfunc Main() {\n", 1))
		imports += fmt.Sprintf("import n%s %q\n", name, here+"/all/n"+name)
		main += fmt.Sprintf("\tcase %q:\n\t\tn%s.Main()\n", name, name)
	}
	write("main.go", "package main\n\nimport \"os\"\n"+imports+"\nfunc main() {\n\tswitch os.Args[1] {\n"+main+
		"\t}\n}\n")
	file := filepath.Join(dir, "overlay.json")
	must.Do(os.WriteFile(file, must.Get(json.Marshal(map[string]any{"Replace": overlay})), 0o644))
	built = filepath.Join(dir, "solutions")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-overlay="+file, "-o", built,
		here+"/all")
	cmd.Dir = errata.Root(t)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return built
}

// here is where this room is imported from.
const here = "github.com/dpnb/notebooks/dpnb/paper/internal/solutions"

// run returns what the program of that name prints, in a folder of its own.
func run(t *testing.T, built, name string) string {
	t.Helper()
	cmd := exec.Command(built, name)
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// The solutions of the exercises run and print what they say; DPNB_GOLDEN=1 writes what they print into the notebooks.
func TestSolutions(t *testing.T) {
	t.Parallel()
	testscale.InTurn(t)
	notebooks, err := filepath.Glob(filepath.Join(errata.Root(t), "notebooks", "*.ipynb"))
	if err != nil || len(notebooks) < 10 {
		t.Fatalf("%d notebooks: %v", len(notebooks), err)
	}
	books, programs := map[string]*notebook.Notebook{}, map[string]string{}
	for _, path := range notebooks {
		nb, name := must.Get(notebook.ReadFile(path)), strings.TrimSuffix(filepath.Base(path), ".ipynb")
		books[name] = nb
		if program := solutionsOf(nb); program != "" {
			programs[name] = program
		}
	}
	built := build(t, programs)
	for _, path := range notebooks {
		name := strings.TrimSuffix(filepath.Base(path), ".ipynb")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nb := books[name]
			for _, c := range nb.Cells {
				for _, p := range solutionFaults(c.Source()) {
					t.Error(p)
				}
			}
			if programs[name] == "" {
				return
			}
			prints := strings.Split(run(t, built, name), ended)
			for _, c := range nb.Cells {
				if c.Type() != "markdown" {
					continue
				}
				source := solution.ReplaceAllStringFunc(c.Source(), func(s string) string {
					parts := solution.FindStringSubmatch(s)
					got, want := tidy(prints[0]), tidy(parts[2])
					prints = prints[1:]
					if got == want || got == tidy(left) && isLong(parts[1]) {
						return s
					}
					if os.Getenv("DPNB_GOLDEN") == "" {
						t.Errorf("the solution prints\n%s\nand the notebook says\n%s", got, want)
					}
					return "```go\n" + parts[1] + "```\n\n```text\n" + got + "\n```"
				})
				if os.Getenv("DPNB_GOLDEN") != "" && source != c.Source() {
					c.SetSource(source)
				}
			}
			if os.Getenv("DPNB_GOLDEN") == "" {
				return
			}
			text, err := nb.Encode()
			if err == nil {
				err = os.WriteFile(path, text, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// tidy is a text without the spaces at the ends of lines, and without empty lines.
func tidy(s string) string {
	return regexp.MustCompile(`[ \t]*\n\s*`).ReplaceAllString(strings.TrimSpace(s), "\n")
}

// A solution that is missing, does not fold out, does not run or does not say what it prints is found; and a program
// that is another prints something else.
func TestSolutionFaults(t *testing.T) {
	const one = "```go\nfmt.Println(1)\n```\n\n```text\n1\n```\n"
	const text = "## Exercises\n\n1. How many?\n2. How much?\n\n<details><summary>Solutions</summary>\n\n" +
		"1. One:\n\n" + one + "\n2. One again:\n\n" + one + "\n</details>\n"
	for _, c := range []struct {
		text string
		want int
	}{
		{text, 0}, {"## Summary\n", 0},
		{strings.Replace(text, "2. One", "One", 1), 1},
		{strings.Replace(text, "</details>", "", 1), 1},
		{strings.Replace(text, "<details>", "", 1), 1},
		{strings.Replace(text, "```text\n1\n```", "", 1), 1},
		{strings.Replace(text, one, "1", 2), 2},
		{"## Exercises\n\n1. How many?\n", 1},
	} {
		if got := solutionFaults(c.text); len(got) != c.want {
			t.Errorf("%q: %v, want %d faults", c.text, got, c.want)
		}
	}
	other := strings.Replace(text, "(1)", "(2)", 1)
	nb := &notebook.Notebook{Cells: []*notebook.Cell{notebook.NewMarkdown("a", other)}}
	const after = "\n}()\n\tfmt.Print(\"%% end of a solution\\n\")\n"
	want := "package main\n\nfunc main() {\n\tfunc() {\nfmt.Println(2)\n" + after + "\tfunc() {\nfmt.Println(1)\n" +
		after + "}\n"
	if got := solutionsOf(nb); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
