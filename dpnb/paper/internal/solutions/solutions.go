// Package solutions checks what the notebooks' exercises state as their solutions: a test in a paper's room computes
// each figure, and Check finds it in the text.
package solutions

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/paper/internal/errata"
	"github.com/dpnb/notebooks/dpnb/report/notebook"
)

// Check fails unless every exercise of the notebook, by the name of its file, has a solution that folds out, and each
// of these states, as whole words, all that was computed for it: computed[k] for exercise k + 1, at least one text.
func Check(t *testing.T, name string, computed ...[]string) {
	t.Helper()
	nb, err := notebook.ReadFile(filepath.Join(errata.Root(t), "notebooks", name+".ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, c := range nb.Cells {
		if c.Type() == "markdown" {
			text.WriteString(c.Source() + "\n")
		}
	}
	page, err := os.ReadFile(filepath.Join(errata.Root(t), "docs", "errata.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range append(faults(text.String(), computed), otherRows(text.String(), string(page))...) {
		t.Errorf("%s: %s", name, p)
	}
}

var row = regexp.MustCompile(`(?m)^\| \[[a-z0-9]+-\d+\]\(\.\./docs/errata\.md#.*$`)

// otherRows returns the rows of a notebook's table of errata that the page does not have.
func otherRows(text, page string) (problems []string) {
	for _, r := range row.FindAllString(text, -1) {
		if !strings.Contains(page, "\n"+strings.Replace(r, "](../docs/errata.md#", "](#", 1)+"\n") {
			problems = append(problems, "docs/errata.md has no row "+r)
		}
	}
	return problems
}

var item = regexp.MustCompile(`(?m)^\d+\. `)

// faults returns what is wrong with the exercises and solutions of a text.
func faults(text string, computed [][]string) (problems []string) {
	_, rest, _ := strings.Cut(text, "\n## Exercises\n")
	exercises, rest, _ := strings.Cut(rest, "<details><summary>Solutions</summary>")
	solutions, _, folds := strings.Cut(rest, "</details>")
	n, parts := len(item.FindAllString(exercises, -1)), item.Split(solutions, -1)[1:]
	if n == 0 || !folds || len(parts) != n || len(computed) != n {
		return []string{fmt.Sprintf("%d exercises, %d solutions that fold out, %d computed", n, len(parts),
			len(computed))}
	}
	for k, part := range parts {
		if len(computed[k]) == 0 {
			problems = append(problems, fmt.Sprintf("nothing is computed for exercise %d", k+1))
		}
		for _, want := range computed[k] {
			if !stated(part, want) {
				problems = append(problems, fmt.Sprintf("solution %d does not state %q", k+1, want))
			}
		}
	}
	return problems
}

// stated reports whether a text states what is wanted and not a longer number.
func stated(text, want string) bool {
	return regexp.MustCompile(`(^|[^0-9.e+−-])` + regexp.QuoteMeta(want) +
		`($|[^0-9.e]|[.]($|[^0-9]))`).MatchString(text)
}
