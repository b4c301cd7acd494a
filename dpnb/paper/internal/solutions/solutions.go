// Package solutions checks what the notebooks' exercises state as their solutions: a test in a paper's room computes
// each figure, and Check finds it in the text.
package solutions

import (
	"fmt"
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
	for _, p := range faults(text.String(), computed) {
		t.Errorf("%s: %s", name, p)
	}
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
