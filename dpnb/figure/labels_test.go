package figure

import (
	"strings"
	"testing"
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

// No end of an interval touches the frame.
func TestIntervalsHaveRoom(t *testing.T) {
	f := New("", "years", "").Intervals([]string{"a", "b"}, []float64{1, 2}, []float64{2, 3}, []float64{3, 11}, Blue)
	if f.plot.X.Min != 0.7 || f.plot.X.Max != 11.3 {
		t.Errorf("axis from %v to %v, want 0.7 to 11.3", f.plot.X.Min, f.plot.X.Max)
	}
}
