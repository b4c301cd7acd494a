package dpnb_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// slideTypes are what nbconvert knows, `jupyter nbconvert --to slides`.
var slideTypes = []string{"slide", "subslide", "fragment", "skip", "notes", "-"}

// A slideCell is what of a notebook's cell counts for its slides.
type slideCell struct {
	ID       string
	Type     string `json:"cell_type"`
	Source   []string
	Metadata struct {
		Slideshow struct {
			Type string `json:"slide_type"`
		}
	}
}

var (
	chapterHeading = regexp.MustCompile(`(?m)^##? .*$`)
	anyHeading     = regexp.MustCompile(`(?m)^#{1,3} .*$`)
	toSee          = regexp.MustCompile(`What to see in (?:it|them)`)
)

// slideFaults returns what keeps a chapter from being shown as slides: a cell without a type that nbconvert knows, a
// first cell that begins none, a heading in the middle of a cell. And what repeats itself: "What to see in it", twice
// in a section.
func slideFaults(cells []slideCell) (problems []string) {
	seen, section := 0, ""
	for i, c := range cells {
		kind, source := c.Metadata.Slideshow.Type, strings.Join(c.Source, "")
		if !slices.Contains(slideTypes, kind) {
			problems = append(problems, fmt.Sprintf("%s has the slide type %q", c.ID, kind))
		}
		if i == 0 && kind != "slide" {
			problems = append(problems, c.ID+" begins the chapter and no slide")
		}
		if c.Type != "markdown" {
			continue
		}
		if at := anyHeading.FindStringIndex(source); at != nil && kind != "skip" {
			if before := strings.TrimSpace(source[:at[0]]); before != "" && !strings.HasPrefix(before, "<a id=") {
				problems = append(problems, c.ID+" has a heading below other text, which ends up on one slide")
			}
		}
		if h := chapterHeading.FindString(source); h != "" {
			seen, section = 0, h
		}
		if seen += len(toSee.FindAllString(source, -1)); seen > 1 {
			problems = append(problems, fmt.Sprintf("%s says a second time in %q what to see", c.ID, section))
		}
	}
	return problems
}

// Each chapter can be exported as slides.
func TestSlides(t *testing.T) {
	notebooks := must.Get(filepath.Glob(filepath.Join("..", "notebooks", "*.ipynb")))
	if len(notebooks) < 10 {
		t.Fatalf("%d notebooks", len(notebooks))
	}
	for _, path := range notebooks {
		var nb struct{ Cells []slideCell }
		must.Do(json.Unmarshal(must.Get(os.ReadFile(path)), &nb))
		for _, p := range slideFaults(nb.Cells) {
			t.Errorf("%s: %s", filepath.Base(path), p)
		}
	}
}

// The test sees what it is for.
func TestSlideFaults(t *testing.T) {
	cell := func(kind, source string) (c slideCell) {
		c.Type, c.Source, c.Metadata.Slideshow.Type = "markdown", []string{source}, kind
		return c
	}
	title, see := cell("slide", "# One"), "What to see in it: much."
	for _, c := range []struct {
		cells []slideCell
		want  int
	}{
		{[]slideCell{title, cell("subslide", see), cell("slide", "<a id=\"a\"></a>\n## 2"), cell("subslide", see)}, 0},
		{[]slideCell{title, cell("subslide", see), cell("subslide", see)}, 1},
		{[]slideCell{title, cell("subslide", "Text.\n\n## 2")}, 1},
		{[]slideCell{title, cell("slid", "Text")}, 1},
		{[]slideCell{cell("subslide", "# One")}, 1},
	} {
		if got := slideFaults(c.cells); len(got) != c.want {
			t.Errorf("%v: %v, want %d faults", c.cells, got, c.want)
		}
	}
}
