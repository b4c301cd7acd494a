package figure

import (
	"bytes"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// Lines that cannot be told apart have one label; lines that differ by a hundredth of the axis somewhere have two.
func TestCoincidingLines(t *testing.T) {
	x := []float64{1, 2, 3}
	f := New("", "n", "σ").
		Line("first", x, []float64{0, 0.5, 1}, Gray).
		Line("other", x, []float64{0, 0.5, 0}, Orange).
		Line("second", x, []float64{0, 0.501, 1}, Blue).
		Line("third", x, []float64{0, 0.51, 1}, Green)
	var got []string
	for _, l := range f.merged() {
		got = append(got, l.text)
	}
	if want := "first = second|other|third"; strings.Join(got, "|") != want {
		t.Errorf("%q, want %s", got, want)
	}
	f = New("", "n", "δ").LogY().Line("first", x, []float64{1e-6, 1, 1e-6}, Gray).
		Line("second", x, []float64{1e-4, 1, 1e-4}, Blue)
	if all := f.merged(); len(all) != 2 {
		t.Errorf("on a logarithmic axis %v", all)
	}
	f = New("", "n", "σ").Line("first", x, []float64{0, 0.5, 1}, Gray).Line("second", x, []float64{0, 0.501, 1}, Blue)
	if c := f.merged()[0].color; c != Blue {
		t.Errorf("the line on top is blue, its label %v", c)
	}
}

// The label of a line that leaves the picture stands where it leaves, and not at a point that nobody sees.
func TestLabelsAreInThePicture(t *testing.T) {
	f := New("", "", "").Line("steep", []float64{0, 1, 2}, []float64{0, 5, 10}, Blue).YRange(0, 6)
	if got := f.merged()[0].at; got.X != 1 || got.Y != 5 {
		t.Errorf("the label is at %v", got)
	}
	if got := f.YRange(20, 30).merged()[0].at; got.X != 2 {
		t.Errorf("of a line that is nowhere it is at %v", got)
	}
}

// The text beside a line of any colour can be read, on white and on the page's dark ground, where pictures are inverted
// by 0.92 and their hues turned back (page.css).
func TestLabelsCanBeRead(t *testing.T) {
	dark := func(c Color) Color {
		v := [3]float64{}
		for i, x := range []uint8{c.R, c.G, c.B} {
			v[i] = 0.92 - 0.84*float64(x)/255
		}
		grey := 2 * (0.213*v[0] + 0.715*v[1] + 0.072*v[2]) // a half turn takes a colour to this less itself
		turned := func(i int) uint8 { return uint8(255 * min(1, max(0, grey-v[i]))) }
		return Color{R: turned(0), G: turned(1), B: turned(2), A: 255}
	}
	for _, c := range []Color{Blue, Orange, Green, Purple, Gold, Gray, Sky, Rose, Ink} {
		text := readable(c).(Color)
		if light, night := contrast(text, white), contrast(dark(text), dark(white)); light < 4.5 || night < 4.5 {
			t.Errorf("the label of %v has a contrast of %.2f on white and of %.2f on dark", c, light, night)
		}
	}
	if readable(Blue) != Blue || readable(Gold) == Gold {
		t.Error("what can be read is darkened, or what cannot is not")
	}
}

// On a map a note is white where it is dark, and black elsewhere.
func TestNotesOnMaps(t *testing.T) {
	f := New("", "", "").LogX().Heat([]float64{1, 10, 100}, []float64{0, 1}, [][]float64{{0, 1, 2}, {0, 1, 2}})
	for x, want := range map[float64]Color{1: black, 4: black, 90: white} {
		if got := f.heat.over(x, 0.5); got != want {
			t.Errorf("at %v a note is %v", x, got)
		}
	}
}

// No end of an interval touches the frame.
func TestIntervalsHaveRoom(t *testing.T) {
	f := New("", "years", "").Intervals([]string{"a", "b"}, []float64{1, 2}, []float64{2, 3}, []float64{3, 11}, Blue)
	if f.plot.X.Min != 0.7 || f.plot.X.Max != 11.3 {
		t.Errorf("axis from %v to %v, want 0.7 to 11.3", f.plot.X.Min, f.plot.X.Max)
	}
}

// The ends of an axis are those that were asked for, whether what is drawn came before or after.
func TestRangesAreFixed(t *testing.T) {
	line := func(f *Figure) *Figure { return f.Line("a", []float64{0, 10}, []float64{0, 50}, Blue) }
	blank := func() *Figure { return New("", "years", "") }
	before := must.Get(line(blank().XRange(2, 8).YRange(-1, 30)).SVG())
	after := must.Get(line(blank()).XRange(2, 8).YRange(-1, 30).SVG())
	if !bytes.Equal(before, after) || bytes.Equal(after, must.Get(line(blank()).SVG())) {
		t.Error("what is drawn after a range was fixed widens it")
	}
}
