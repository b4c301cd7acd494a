package errata

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/report/notebook"
)

var row = regexp.MustCompile(`(?m)^\| \[[a-z0-9]+-\d+\]\(\.\./docs/errata\.md#.*$`)

// otherRows returns how many rows a notebook's table of errata has, and those that the page does not have.
func otherRows(text, page string) (n int, other []string) {
	rows := row.FindAllString(text, -1)
	for _, r := range rows {
		if !strings.Contains(page, "\n"+strings.Replace(r, "](../docs/errata.md#", "](#", 1)+"\n") {
			other = append(other, r)
		}
	}
	return len(rows), other
}

// The tables of errata of the two chapters about rkw23 have rows of docs/errata.md.
func TestRowsOfNotebooks(t *testing.T) {
	page := must.Get(os.ReadFile(filepath.Join(Root(t), "docs", "errata.md")))
	for _, name := range []string{"01_accounting", "02_objective_perturbation"} {
		nb := must.Get(notebook.ReadFile(filepath.Join(Root(t), "notebooks", name+".ipynb")))
		all := 0
		for _, c := range nb.Cells {
			n, other := otherRows(c.Source(), string(page))
			all += n
			for _, r := range other {
				t.Errorf("%s: docs/errata.md has no row %s", name, r)
			}
		}
		if all < 5 {
			t.Errorf("%s: a table of %d rows", name, all)
		}
	}
}

// A row of a table of errata that says something else is found.
func TestOtherRows(t *testing.T) {
	const page = "| entry | subject |\n| [a-1](#a-1) | sign |\n| [a-2](#a-2) | factor |\n"
	const own = "| entry | subject |\n| [a-1](../docs/errata.md#a-1) | sign |\n"
	if n, other := otherRows(own, page); n != 1 || len(other) != 0 {
		t.Error(n, other)
	}
	for _, wrong := range []string{strings.Replace(own, "sign", "size", 1), strings.Replace(own, "#a-1", "#a-2", 1),
		strings.Replace(own, "a-1", "a-3", 1)} {
		if _, other := otherRows(wrong, page); len(other) != 1 {
			t.Errorf("%q: %v", wrong, other)
		}
	}
}
