package figure

import (
	"bytes"
	"image/png"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// The drawn width and height of blue in a figure.
func extent(t *testing.T, f *Figure) (width, height int) {
	t.Helper()
	content := must.Get(f.PNG())
	if path := os.Getenv("DPNB_FIGURE"); path != "" {
		must.Do(os.WriteFile(path+"-"+strings.ReplaceAll(t.Name(), "/", "-")+".png", content, 0o644))
	}
	img := must.Get(png.Decode(bytes.NewReader(content)))
	left, right, top, bottom := math.MaxInt, 0, math.MaxInt, 0
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			if r, g, b, _ := img.At(x, y).RGBA(); b > r+0x6000 && b > g+0x2000 {
				left, right, top, bottom = min(left, x), max(right, x), min(top, y), max(bottom, y)
			}
		}
	}
	return right - left, bottom - top
}

func circle(f *Figure) *Figure {
	turn := Span(0, 2*math.Pi, 90)
	return f.Line("", Values(turn, math.Cos), Values(turn, math.Sin), Blue)
}

// With Equal a circle is round whatever the ranges, to one part in fifty; without it is not.
func TestEqual(t *testing.T) {
	for name, f := range map[string]*Figure{
		"wide": New("a circle", "x", "y").XRange(-3, 3).YRange(-1, 1), "high": New("a circle", "x", "y").YRange(-4, 4),
	} {
		if w, h := extent(t, circle(f)); math.Abs(float64(w)/float64(h)-1) < 0.1 {
			t.Errorf("%s: %d × %d is round already", name, w, h)
		}
		if w, h := extent(t, circle(f).Equal()); !(math.Abs(float64(w)/float64(h)-1) <= 0.02) {
			t.Errorf("%s: %d × %d is not round", name, w, h)
		}
	}
}

// Whatever is written stays within the figure, where titles, names of axes and labels are too long for one line, and
// labels of ticks keep apart.
func TestLettersFit(t *testing.T) {
	long, x := strings.Repeat("far too long for a line ", 5), []float64{1, 10, 100}
	f := New("A title: "+long, "abscissa: "+long, "ordinate: "+long)
	f.LogX(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30, 50, 70, 100)
	f.Line("one: "+long, x, []float64{1, 2, 3}, Blue).Line("another: "+long, x, []float64{1, 2, 3.1}, Orange)
	written := regexp.MustCompile(`<text x="([-\d.]+)" y="([-\d.]+)"[^>]*font-size:([\d.]+)px[^>]*>([^<]*)</text>`)
	ends, n := map[string]float64{}, 0
	for _, m := range written.FindAllStringSubmatch(string(must.Get(f.SVG())), -1) {
		left, size := must.Get(strconv.ParseFloat(m[1], 64)), must.Get(strconv.ParseFloat(m[3], 64))
		right, most := left+float64(style(size, Ink).Width(m[4])), float64(f.width())
		if !strings.HasPrefix(m[2], "-") { // it is turned
			most = float64(f.height())
		}
		if n++; left < 0 || right > most {
			t.Errorf("%q is from %.0f to %.0f of %.0f", m[4], left, right, most)
		}
		if before, there := ends[m[2]]; there && left < before+2 {
			t.Errorf("%q runs into what is before it", m[4])
		}
		ends[m[2]] = right
	}
	if n < 25 {
		t.Errorf("%d texts are written", n)
	}
}

// A colour bar takes room of its own, and needs a map.
func TestColorBar(t *testing.T) {
	x, y, z := bowl()
	for i := range z {
		z[i] = Values(z[i], math.Exp)
	}
	f := New("A bowl", "x", "y").LogX(0.1, 1, 10).HeatLog(x, y, z).ColorBar("height")
	if !strings.Contains(f.Words(), "colour bar: height") {
		t.Errorf("the words are silent about the colour bar: %s", f.Words())
	}
	extent(t, f)
	if _, err := New("", "", "").ColorBar("nothing").PNG(); err == nil {
		t.Error("a colour bar without a map is drawn")
	}
}

// Bands, whiskers and intervals reach as far as they are said to, as they are drawn and in numbers.
func TestUncertaintyIsDrawnWhole(t *testing.T) {
	x, lo, hi := []float64{0, 1}, []float64{1, 2}, []float64{3, 5}
	numbers := New("", "x", "y").Band(x, lo, hi, Blue).Whiskers(x, lo, hi, Gray).
		Intervals([]string{"a"}, []float64{1}, []float64{2}, []float64{4}, Blue).Numbers()
	const want = "band, 4 points: (0, 1) (1, 2) (1, 5) (0, 3)\nwhiskers, 4 points: (0, 1) (1, 2) (0, 3) (1, 5)\n" +
		"line, 2 points: (1, 1) (4, 1)\ndots, 1 points: (2, 1)\n"
	if !strings.HasSuffix(numbers, want) {
		t.Errorf("got\n%s", numbers)
	}
	_, line := extent(t, New("", "", "").YRange(0, 6).Line("", []float64{0, 0}, []float64{1, 5}, Blue))
	_, whisker := extent(t, New("", "", "").YRange(0, 6).Whiskers([]float64{0}, []float64{1}, []float64{5}, Blue))
	if !(math.Abs(float64(line-whisker)) <= 2) {
		t.Errorf("a whisker is %d dots long, a line between its ends %d", whisker, line)
	}
}

// Numbers change with the data, and not with what is only looks.
func TestNumbers(t *testing.T) {
	x := Span(0, 1, 20)
	numbers := func(up float64, c Color) string {
		return New("A line", "x", "y").Line("name", x, Values(x, func(x float64) float64 { return x + up }), c).
			Dots("", x[:2], x[:2], Gray).Note("here", 1, 2, Gray).Bars(x, x[1:], Gray).Numbers()
	}
	const want = "A line\nx: x, y: y\nline name, 21 points: (0, 0) (0.1, 0.1) (0.25, 0.25) (0.35, 0.35) (0.5, 0.5) " +
		"(0.6, 0.6) (0.75, 0.75) (0.85, 0.85) (1, 1)\ndots, 2 points: (0, 0) (0.05, 0.05)\n" +
		"note here, 1 points: (1, 2)\nbars, 20 points: (0, 0.05) (0.1, 0.15) (0.2, 0.25) (0.35, 0.4) (0.45, 0.5) " +
		"(0.55, 0.6) (0.7, 0.75) (0.8, 0.85) (0.95, 1)\n"
	if got := numbers(0, Blue); got != want || got != numbers(0, Orange) || got == numbers(1e-3, Blue) {
		t.Errorf("got\n%s", got)
	}
}
