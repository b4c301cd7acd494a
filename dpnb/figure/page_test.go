package figure

import (
	"bytes"
	"image/png"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// A page has all of its figures, in columns of about the same height, in its image, its words and its numbers; an error
// of one is its own.
func TestPage(t *testing.T) {
	one := func(name string, height float64) *Figure {
		f := New(name, "x of "+name, "y").Line("", []float64{0, 1, 2}, []float64{1, 2, 0}, Blue)
		f.Height = height
		return f
	}
	page := Page("All", "What they are.", 2, one("first", 2), one("second", 5), one("third", 2), one("fourth", 1))
	image := must.Get(page.Warn("Careful.").PNG())
	at, height := page.page.places()
	if want := (pagePlace{0, 4}); at[3] != want || height != 5 {
		t.Errorf("places %v, height %v", at, height)
	}
	size, err := png.DecodeConfig(bytes.NewReader(image))
	if err != nil || size.Height < 144*5 || size.Height > 144*7 {
		t.Errorf("%d high: %v", size.Height, err)
	}
	for _, text := range []string{page.Words(), page.Numbers()} {
		for _, name := range []string{"All", "first", "fourth", "x of third"} {
			if !strings.Contains(text, name) {
				t.Errorf("%q is not in %q", name, text)
			}
		}
	}
	if w := page.Words(); !strings.HasPrefix(w, "Careful.") || !strings.Contains(w, "What they are.") {
		t.Error(w)
	}
	if _, err := Page("Wrong", "", 2, New("", "", "").Line("", []float64{1}, nil, Blue)).PNG(); err == nil {
		t.Error("a figure that cannot be drawn is on a page")
	}
	if _, err := Page("Empty", "", 2).PNG(); err == nil {
		t.Error("a page has nothing")
	}
}
