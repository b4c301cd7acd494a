package display

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// What items look like, as text and as HTML, and what is shown outside a notebook, is as it was: testdata/shown.txt.
func TestWhatItemsLookLike(t *testing.T) {
	var all bytes.Buffer
	Out = &all
	defer func() { Out = nil }()
	long := strings.TrimSpace(strings.Repeat("a word ", 20))
	full := Item{Title: "A title", Origin: "of invented people", Invented: true, Warning: "mind this",
		Header: []string{"name",
			"x", "y", long}}
	full.Row("one", "−1.5", "–", strings.Repeat("x", 60)+" "+strings.Repeat("y", 55)+" z")
	full.Row("two", "20 % ± 3", "", long)
	full.Rowf("%s | %.2f | %d | %v", "three | four", 3.14159, 7, true)
	full.Row("short")
	full.Note("δ = %g", 1e-6)
	full.Detail("a detail of %d < %d", 1, 2)
	number := Item{Rows: [][]string{{"1", "1e-6", "∞", "+3", ".5", "1,000", "-", "x1"}, {"2", "3E5", "4", "", "–",
		"7", "8",
		"9"}, {"10", "200", "−5"}}}
	for _, it := range []Item{full, number, {Origin: "of a file", Title: "t"}, {}, {Header: []string{"a", "b"}}, Failed(
		errors.New("no <such> thing")), {Rows: [][]string{{strings.Repeat("w", 56)}, {strings.Repeat("w", 55) + " v"},
		{strings.Repeat("w", 54) + " v"}}}, full.Display()} {
		must.Do(Show(it))
		fmt.Fprintln(&all, it.HTML())
	}
	must.Do(ShowPNG(nil, "a curve"))
	must.Do(ShowHTML("<p>", "a page"))
	must.Do(ShowMarkdown("*text*"))
	golden.Compare(t, "testdata/shown.txt", all.String())
}
