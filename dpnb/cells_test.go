package dpnb_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// mostLines is how long a cell may be that one would copy.
const mostLines = 12

var (
	importsOnly = regexp.MustCompile(`(?s)^import \(.*\)\s*$`)
	helper      = regexp.MustCompile(`(?m)^func (grid|geometric|apply|must|must1|check)\b`)
	internal    = regexp.MustCompile(`"github\.com/dpnb/notebooks/[^"]*\binternal\b`)
)

// cellFaults returns what is wrong with a code cell that a reader should be able to copy.
func cellFaults(source string) (long bool, helps bool, inner bool) {
	lines := strings.Count(strings.TrimRight(source, "\n"), "\n") + 1
	return lines > mostLines && !importsOnly.MatchString(source), helper.MatchString(source),
		internal.MatchString(source)
}

// Cells are short, define no helpers that the house has (figure.Span, figure.Values, dpnb.Must), and import nothing
// internal.
func TestCellsAreShort(t *testing.T) {
	notebooks, err := filepath.Glob(filepath.Join("..", "notebooks", "*.ipynb"))
	if err != nil || len(notebooks) < 10 {
		t.Fatalf("%d notebooks, %v", len(notebooks), err)
	}
	for _, path := range notebooks {
		text := must.Get(os.ReadFile(path))
		var nb struct {
			Cells []struct {
				ID     string
				Type   string `json:"cell_type"`
				Source []string
			}
		}
		must.Do(json.Unmarshal(text, &nb))
		var long, helps []string
		for _, c := range nb.Cells {
			if c.Type != "code" {
				continue
			}
			source := strings.Join(c.Source, "")
			l, h, inner := cellFaults(source)
			if l {
				long = append(long, fmt.Sprintf("%s (%d)", c.ID, strings.Count(source, "\n")+1))
			}
			if h {
				helps = append(helps, c.ID)
			}
			if inner {
				t.Errorf("%s: the cell %s imports an internal package", path, c.ID)
			}
		}
		name := strings.TrimSuffix(filepath.Base(path), ".ipynb")
		if len(long) > 0 {
			t.Errorf("%s: cells of more than %d lines: %s", name, mostLines, strings.Join(long, ", "))
		}
		if len(helps) > 0 {
			t.Errorf("%s: cells define what the house has: %s", name, strings.Join(helps, ", "))
		}
	}
}

// The test sees what it is for.
func TestCellFaults(t *testing.T) {
	thirteen := strings.Repeat("x++\n", 13)
	for source, want := range map[string][3]bool{
		"x++": {}, thirteen[:48]: {}, thirteen: {true, false, false}, "import (\n" + thirteen + ")": {},
		"func must[T any](v T) T { return v }":                           {false, true, false},
		"func mustard() {}":                                              {},
		`import "github.com/dpnb/notebooks/dpnb/internal/dd"`:            {false, false, true},
		"import (\n" + thirteen + ")\nfunc apply(x []float64) float64 {": {true, true, false},
	} {
		long, helps, inner := cellFaults(source)
		if got := [3]bool{long, helps, inner}; got != want {
			t.Errorf("%q: %v, want %v", source, got, want)
		}
	}
}
