package display

import (
	"bytes"
	"errors"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

var item = Item{
	Title: "A & B", Warning: "mind <this>", Header: []string{"name", "x"},
	Rows: [][]string{{"a<b", "1.5"}, {"longer", "−20 %"}, {"none", "–"}}, Notes: []string{"a note", "another one"},
	Details: []string{"a detail"},
}

func TestText(t *testing.T) {
	want := "!! mind <this>\nA & B\n  name        x\n  a<b       1.5\n  longer  −20 %\n  none        –\n" +
		"a note\nanother one\na detail\n"
	if got := item.Text(); got != want {
		t.Errorf("text\n%q\nwant\n%q", got, want)
	}
}

// A cell is what its own format makes, whatever that holds.
func TestRowOfFormats(t *testing.T) {
	var it Item
	it.Rowf("%s | %.1f %%", "a | b", 2.0)
	if want := []string{"a | b", "2.0 %"}; !slices.Equal(it.Rows[0], want) {
		t.Errorf("cells %q, want %q", it.Rows[0], want)
	}
}

func TestHTMLEscapesAndAligns(t *testing.T) {
	h := item.HTML()
	for _, want := range []string{"A &amp; B", "mind &lt;this&gt;", "a&lt;b", "text-align:right", "text-align:left",
		"another one", "<details", "a detail"} {
		if !strings.Contains(h, want) {
			t.Errorf("%q is missing in %s", want, h)
		}
	}
	if small := (Item{Notes: []string{"δ = 1e-06"}}).HTML(); !strings.Contains(small, "δ = 1e-6") {
		t.Errorf("a number is not as in figures: %s", small)
	}
	if strings.Contains(h, "<b>") || strings.Contains(h, "<this>") {
		t.Error("text is taken for markup")
	}
}

func TestShowOutsideANotebook(t *testing.T) {
	var b bytes.Buffer
	Out = &b
	defer func() { Out = nil }()
	must.Do(Show(item))
	must.Do(ShowPNG([]byte{1}, "a curve"))
	if s := b.String(); !strings.Contains(s, "A & B") || !strings.Contains(s, "[figure: a curve]") {
		t.Errorf("shown: %s", s)
	}
}

func TestLongCellsAreWrapped(t *testing.T) {
	it := Item{Rows: [][]string{{strings.Repeat("word ", 20), "short"}}}
	for _, line := range strings.Split(it.Text(), "\n") {
		if len(line) > textWidth+12 {
			t.Errorf("line of %d characters: %s", len(line), line)
		}
	}
	if n := strings.Count(it.Text(), "word"); n != 20 {
		t.Errorf("%d of 20 words are left", n)
	}
}

// The box that says whose records these are is the first thing, in either form, and looks different where the people
// are invented.
func TestOriginStandsFirst(t *testing.T) {
	it := Item{Title: "title", Warning: "warning", Origin: "INVENTED <people>", Invented: true}
	if text := it.Text(); !strings.HasPrefix(text, "[INVENTED <people>]\n!! warning\n") {
		t.Errorf("text %q", text)
	}
	invented := it.HTML()
	if i, j := strings.Index(invented, "INVENTED &lt;people&gt;"), strings.Index(invented, "warning"); i < 0 || j < i {
		t.Errorf("HTML %q", invented)
	}
	it.Invented = false
	if !strings.Contains(invented, inventedBox) || !strings.Contains(it.HTML(), observedBox) {
		t.Error("real and invented people look the same, or as the others")
	}
	if it.Origin = ""; strings.Contains(it.HTML(), "border:1.5px") || strings.HasPrefix(it.Text(), "[") {
		t.Error("a box without an origin")
	}
}

// Nothing has a colour of its own that only suits a light page: texts have none, grounds let the page through. Contrast
// itself is measured in browser/.
func TestColoursOfThePage(t *testing.T) {
	whole := item
	whole.Origin = "people"
	opaque := regexp.MustCompile(`[;"](color|background):(#|rgb\()`)
	for _, it := range []Item{whole, {Origin: "people", Invented: true}, Failed(errors.New("no"))} {
		if found := opaque.FindString(it.HTML()); found != "" {
			t.Errorf("%s in %s", found, it.HTML())
		}
	}
	if !opaque.MatchString(`<div style="margin:0;color:#444">`) {
		t.Error("a colour is not seen")
	}
}

// Endless intervals are numbers: their column is set to the right.
func TestInfinitiesAreNumbers(t *testing.T) {
	it := Item{Rows: [][]string{{"−∞", "+∞", "∞ly"}, {"-1.5", "+2.25", "3"}}}
	if want := "    −∞     +∞  ∞ly\n  -1.5  +2.25  3\n"; it.Text() != want {
		t.Errorf("%q, want %q", it.Text(), want)
	}
}

// What ends a cell is a sentence; outside a notebook it is a panic that a program can catch.
func TestStop(t *testing.T) {
	var shown, stderr bytes.Buffer
	Out = &shown
	defer func() { Out = nil }()
	stop(&stderr, errors.New("refused"))
	if strings.TrimSpace(shown.String()) != "!! refused" || strings.Contains(stderr.String(), "goroutine") {
		t.Errorf("%q, %q", shown.String(), stderr.String())
	}
	defer func() {
		if err, ok := recover().(error); !ok || err.Error() != "refused" {
			t.Errorf("a panic with %v", err)
		}
	}()
	Stop(errors.New("refused"))
}

// inACell is what stop says below a function of package main, as the code of a cell is.
var inACell bytes.Buffer

func TestMain(m *testing.M) {
	Out = io.Discard
	stop(&inACell, errors.New("refused")) // main.main is above
	Out = nil
	os.Exit(m.Run())
}

// The line of a cell that ended is said, once, and none where no cell is.
func TestStopSaysWhere(t *testing.T) {
	said := inACell.String()
	where := regexp.MustCompile(`\n\t.*\.go:\d+\n$`)
	if strings.Count(said, "The cell ends here:") != 1 || !where.MatchString(said) {
		t.Errorf("in a cell: %q", said)
	}
	var elsewhere bytes.Buffer
	Out = full{}
	if stop(&elsewhere, errors.New("refused")); elsewhere.String() != "refused\n" {
		t.Errorf("where nothing can be shown: %q", elsewhere.String())
	}
	Out = io.Discard
	defer func() { Out = nil }()
	if stop(&elsewhere, errors.New("refused")); strings.Contains(elsewhere.String(), "cell") {
		t.Errorf("in no cell: %q", elsewhere.String())
	}
}

// full is what nothing can be written to.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no room") }
