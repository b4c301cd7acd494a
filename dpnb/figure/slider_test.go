package figure

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// A slider shows the figure of its start and no other, says what each is, and needs one for each value.
func TestSlider(t *testing.T) {
	s := Turn("ε", []float64{0.1, 1, 8}, 1.2, func(v float64) *Figure {
		return New("at "+Number(v), "x", "y").Line("", []float64{0, 1}, []float64{0, v}, Blue)
	})
	page, err := s.HTML()
	if err != nil || strings.Count(page, "<img") != 3 || strings.Count(page, "display:none\" src") != 2 {
		t.Fatalf("%v: %.400s", err, page)
	}
	shown := page[strings.LastIndex(page[:strings.Index(page, `data-value="ε = 1"`)], "<img"):]
	if tag, _, _ := strings.Cut(shown, ">"); strings.Contains(tag, "display:none") || !strings.Contains(tag, "At 1.") {
		t.Errorf("the figure of the start is hidden, or another's: %.200s", tag)
	}
	picture := regexp.MustCompile(`base64,([^"]+)`).FindStringSubmatch(page)
	svg := string(must.Get(base64.StdEncoding.DecodeString(picture[1])))
	width := fmt.Sprintf(`<text textLength="%.1f"`, style(12, Ink).Width("at 0.1").Points())
	if strings.Count(svg, "<text ") != strings.Count(svg, "<text textLength=") || !strings.Contains(svg, width) {
		t.Errorf("letters that a browser takes may be wider than there is room for: no %s in %s", width, svg)
	}
	if want := "Seen at ε = 1, of 0.1, 1, 8."; !strings.HasSuffix(s.Words(), want) {
		t.Errorf("%q does not end with %q", s.Words(), want)
	}
	undrawn := []*Figure{New("", "", "").Line("", []float64{1}, nil, Blue)}
	for _, wrong := range []*Slider{{}, {Values: []float64{1}}, {Values: []float64{1}, Figures: undrawn}} {
		if _, err := wrong.HTML(); err == nil {
			t.Errorf("%+v is shown", wrong)
		}
	}
}
