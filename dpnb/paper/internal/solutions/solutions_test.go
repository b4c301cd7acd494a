package solutions

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
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

// ended is printed after each solution.
const ended = "%% end of a solution\n"

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
				steps += fmt.Sprintf("\tfunc() {\n%s\n}()\n\tfmt.Print(%q)\n", s[1], ended)
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

// run returns what a program prints, in a folder of its own.
func run(t *testing.T, program string) string {
	t.Helper()
	program = must.Get(pruned(program))
	dir := t.TempDir()
	file, built := filepath.Join(dir, "main.go"), filepath.Join(dir, "solutions")
	must.Do(os.WriteFile(file, []byte(program), 0o644))
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", built, file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(built)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// The solutions of the exercises run and print what they say; DPNB_GOLDEN=1 writes what they print into the notebooks.
func TestSolutions(t *testing.T) {
	t.Parallel()
	notebooks, err := filepath.Glob(filepath.Join(errata.Root(t), "notebooks", "*.ipynb"))
	if err != nil || len(notebooks) < 10 {
		t.Fatalf("%d notebooks: %v", len(notebooks), err)
	}
	for _, path := range notebooks {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".ipynb"), func(t *testing.T) {
			t.Parallel()
			nb := must.Get(notebook.ReadFile(path))
			for _, c := range nb.Cells {
				for _, p := range solutionFaults(c.Source()) {
					t.Error(p)
				}
			}
			program := solutionsOf(nb)
			if program == "" || testing.Short() {
				return // compiles a program and runs it
			}
			prints := strings.Split(run(t, program), ended)
			for _, c := range nb.Cells {
				if c.Type() != "markdown" {
					continue
				}
				source := solution.ReplaceAllStringFunc(c.Source(), func(s string) string {
					parts := solution.FindStringSubmatch(s)
					got, want := tidy(prints[0]), tidy(parts[2])
					prints = prints[1:]
					if got == want {
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
