package figure

import (
	"bytes"
	"encoding/base64"
	"image/png"
	"regexp"
	"strconv"
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
	page := Page("All", "What they are.\nBlue: what is known.", 2, one("first", 2),
		one("second", 5), one("third", 2), one("fourth", 1))
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
	wrong := Page("Wrong", "", 2, New("", "", "").Line("", []float64{1}, nil, Blue))
	_, err = wrong.PNG()
	if _, of := wrong.HTML(true); err == nil || of == nil {
		t.Error("a figure that cannot be drawn is on a page")
	}
	html, alone := must.Get(page.HTML(true)), must.Get(Page("One", "", 1, one("first", 2)).HTML(true))
	if strings.Count(html, "<img alt=") != 4 || strings.Count(html, ">All<") != 1 || alone != "" ||
		!strings.Contains(html, ">Careful.</div>") || !strings.Contains(html, ">Blue: what is known.</div>") ||
		strings.Contains(must.Get(page.HTML(false)), ">All<") {
		t.Errorf("%.900s, %s", html, alone)
	}
	// Panels stand alone on a phone of 364 pixels and two abreast on a desk of 825, with letters of 11 pixels and more.
	found := func(pattern, in string) string { return regexp.MustCompile(pattern).FindStringSubmatch(in)[1] }
	least := 16 * must.Get(strconv.ParseFloat(found(`min\((\d+)rem`, html), 64))
	svg := string(must.Get(base64.StdEncoding.DecodeString(found(`base64,([^"]+)`, html))))
	points := must.Get(strconv.ParseFloat(found(`width="([\d.]+)pt"`, svg), 64))
	if letters := 9.5 * least / points; 2*least < 364 || 2*least+10 > 825 || letters < 11 {
		t.Errorf("panels of %v pixels and more, with letters of %.1f", least, letters)
	}
	if _, err := Page("Empty", "", 2).PNG(); err == nil {
		t.Error("a page has nothing")
	}
}
