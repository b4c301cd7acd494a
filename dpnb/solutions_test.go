package dpnb_test

import (
	"encoding/json"
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
)

// A solution folds out below the exercises: Go, and what it prints.
//
//	<details><summary>Solutions</summary>
//	```go … ``` ```text … ```
var (
	folded   = regexp.MustCompile(`(?s)<details><summary>Solutions</summary>(.*?)</details>`)
	solution = regexp.MustCompile("(?s)```go\n(.*?)```\\s*```text\n(.*?)```")
)

// solutionsOf returns a program of a notebook's solutions, which has the notebook's imports and declarations, and what
// it should print; "" if there are none with code.
func solutionsOf(t *testing.T, path string) (program, want string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var nb struct {
		Cells []struct {
			Type   string `json:"cell_type"`
			Source []string
		}
	}
	if err := json.Unmarshal(text, &nb); err != nil {
		t.Fatal(err)
	}
	program = "package main\n\n"
	var steps string
	for _, c := range nb.Cells {
		source := strings.Join(c.Source, "")
		switch {
		case c.Type == "code" && !strings.HasPrefix(source, "%%") && !strings.HasPrefix(source, "!"):
			program += source + "\n\n"
		case c.Type == "markdown":
			for _, fold := range folded.FindAllStringSubmatch(source, -1) {
				for _, s := range solution.FindAllStringSubmatch(fold[1], -1) {
					steps += fmt.Sprintf("\tfunc() {\n%s\n}()\n", s[1])
					want += s[2]
				}
			}
		}
	}
	if steps == "" {
		return "", ""
	}
	return program + "func main() {\n" + steps + "}\n", want
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

// The solutions of the exercises run and print what they say.
func TestSolutions(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a program for each notebook")
	}
	notebooks, err := filepath.Glob(filepath.Join("..", "notebooks", "*.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	for _, notebook := range notebooks {
		program, want := solutionsOf(t, notebook)
		if program == "" {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(notebook), ".ipynb"), func(t *testing.T) {
			program, err := pruned(program)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "main.go")
			if err := os.WriteFile(file, []byte(program), 0o644); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command("go", "run", file).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			tidy := func(s string) string {
				return regexp.MustCompile(`[ \t]*\n\s*`).ReplaceAllString(strings.TrimSpace(s), "\n")
			}
			if got := tidy(string(out)); got != tidy(want) {
				t.Errorf("the solutions print\n%s\nand the notebook says\n%s", got, tidy(want))
			}
		})
	}
}
