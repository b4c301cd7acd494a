package figure

import (
	"bytes"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

func sample() *Figure {
	x := []float64{0.1, 1, 10}
	return New("Title", "x, seconds", "y").LogX(0.1, 1, 10).Percent().
		Band(x, []float64{0.1, 0.2, 0.3}, []float64{0.3, 0.4, 0.5}, Blue).
		Line("a line", x, []float64{0.2, 0.3, 0.4}, Blue).Dots("", x, []float64{0.2, 0.3, 0.4}, Blue).
		Level("a level", 0.1, 10, 0.45, Gray)
}

func TestPNGAndSVG(t *testing.T) {
	content := must.Get(sample().PNG())
	img := must.Get(png.Decode(bytes.NewReader(content)))
	if b := img.Bounds(); b.Dx() != 763 || b.Dy() != 4*144 {
		t.Errorf("size %v", b)
	}
	again, _ := sample().PNG()
	if !bytes.Equal(content, again) {
		t.Error("the same figure gives other bytes")
	}
	svg, err := sample().SVG()
	if err != nil || !bytes.Contains(svg, []byte("a line")) {
		t.Errorf("svg: %v", err)
	}
	dir := t.TempDir()
	if err := sample().Save(filepath.Join(dir, "f.png")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "f.png")); err != nil {
		t.Error(err)
	}
	if err := sample().Save(filepath.Join(dir, "f.pdf")); err == nil {
		t.Error("an unknown format is accepted")
	}
}

// Values that an axis cannot show must neither panic nor vanish silently when nothing else is left.
func TestImpossiblePoints(t *testing.T) {
	x := []float64{1, 2, 3}
	if _, err := New("", "", "").LogY().Line("", x, []float64{0, 1e-3, math.NaN()}, Blue).PNG(); err != nil {
		t.Errorf("one good point is not enough: %v", err)
	}
	if _, err := New("", "", "").LogY().Line("", x, []float64{0, -1, math.Inf(1)}, Blue).PNG(); err == nil {
		t.Error("a figure without a point is drawn")
	}
	if _, err := New("", "", "").Line("", x, []float64{1}, Blue).PNG(); err == nil {
		t.Error("lengths that differ are accepted")
	}
}

func TestRoundStep(t *testing.T) {
	for x, want := range map[float64]float64{0.7: 1, 1: 1, 1.1: 2, 2.5: 5, 6: 10, 0.013: 0.02} {
		if got := RoundStep(x); !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("RoundStep(%v) = %v, want %v", x, got, want)
		}
	}
}

func TestLabelsAreSpread(t *testing.T) {
	y := []float64{10, 11, 12, 100}
	spread([]int{0, 1, 2, 3}, y, []float64{labelHeight, labelHeight, labelHeight, labelHeight})
	for i := 1; i < len(y); i++ {
		if y[i]-y[i-1] < labelHeight-1e-9 {
			t.Errorf("labels %d and %d are %v apart", i-1, i, y[i]-y[i-1])
		}
	}
	if y[3] != 100 || !(math.Abs(y[1]-11) <= 1e-9) {
		t.Errorf("labels moved further than they had to: %v", y)
	}
}

// An axis whose data are not where its ticks were meant to be has ticks all the same.
func TestTicksFollowTheData(t *testing.T) {
	for _, c := range []struct {
		given  []float64
		lo, hi float64
		want   []float64
	}{
		{[]float64{400, 800, 1600}, 300, 2000, []float64{400, 800, 1600}},
		{[]float64{400, 800, 1600}, 10, 90, []float64{10, 20, 50}},
		{[]float64{400, 800, 1600}, 1, 500, []float64{1, 10, 100}},
		{nil, 0.3, 0.8, []float64{0.5}},
		{nil, 0.9, 1100, []float64{1, 10, 100, 1000}},
	} {
		var got []float64
		for _, tick := range logTicks(c.given).Ticks(c.lo, c.hi) {
			if tick.Label != "" {
				got = append(got, tick.Value)
			}
		}
		if len(got) != len(c.want) {
			t.Errorf("%v on [%g, %g]: %v, want %v", c.given, c.lo, c.hi, got, c.want)
			continue
		}
		for i := range got {
			if !(math.Abs(got[i]/c.want[i]-1) <= 1e-9) {
				t.Errorf("%v on [%g, %g]: %v, want %v", c.given, c.lo, c.hi, got, c.want)
			}
		}
	}
}

// Days are labelled with dates, a few whatever the width.
func TestDates(t *testing.T) {
	for _, c := range []struct {
		from, to, want string
	}{{"2015-01-01", "2024-12-31", "2016 2018 2020 2022 2024"}, {"1990-05-01", "2024-12-31", "2000 2010 2020"},
		{"2020-02-10", "2022-03-01", "2021 2022"},
		{"2024-01-01", "2024-12-31", "2024-01 2024-07"}, {"2023-11-20", "2024-02-10", "2023-12 2024-01 2024-02"},
		{"2024-02-28", "2024-03-01", "2024-02-28 2024-02-29 2024-03-01"},
		{"1999-10-16", "1999-11-25", "1999-10-16 1999-10-30 1999-11-13"},
		{"1999-10-16", "1999-12-10", "1999-10-16 1999-11-05 1999-11-25"}} {
		day := func(text string) float64 { return float64(must.Get(time.Parse(time.DateOnly, text)).Unix()) / 86400 }
		var got []string
		for _, tick := range dateTicks(day(c.from), day(c.to)) {
			got = append(got, tick.Label)
			if v := day((tick.Label + "-01-01")[:10]); v != tick.Value {
				t.Errorf("%s stands at day %v, and not at %v", tick.Label, tick.Value, v)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s to %s: %s, want %s", c.from, c.to, got, c.want)
		}
	}
}

// The name of a logarithmic axis takes no room from the data: their line begins as far left and ends as high up as that
// of a figure without names, but for the names' own height.
func TestNoBlankStrip(t *testing.T) {
	edge := func(x, y string) (top, right int) {
		f := New("Title", x, y).LogX(1, 10, 100).LogY(10, 100, 1000).
			Line("", []float64{1, 1000}, []float64{3, 7000}, Blue)
		content := must.Get(f.PNG())
		img := must.Get(png.Decode(bytes.NewReader(content)))
		top = img.Bounds().Dy()
		for i := range img.Bounds().Dy() {
			for j := range img.Bounds().Dx() {
				if r, g, b, _ := img.At(j, i).RGBA(); b > r+0x6000 && b > g+0x2000 { // blue
					top, right = min(top, i), max(right, j)
				}
			}
		}
		return top, right
	}
	top, right := edge("", "")
	a, b := edge("a name of some length, in units", "another name of some length, in units")
	if a != top || b != right {
		t.Errorf("with names the line ends at (%d, %d), without at (%d, %d)", b, a, right, top)
	}
}

// A curve ends where it was asked to, and is evenly spread on the axis as it is seen.
func TestCurve(t *testing.T) {
	f := New("", "n", "risk").LogX().Curve("1/n", 1, 100, func(x float64) float64 { return 1 / x }, Blue)
	p := f.seen[0].points
	if mid := p[len(p)/2].X; p[0].X != 1 ||
		!(math.Abs(p[len(p)-1].X/100-1) <= 1e-12) || !(math.Abs(mid/10-1) <= 1e-12) {
		t.Errorf("from %v over %v to %v", p[0].X, mid, p[len(p)-1].X)
	}
	if p[0].Y != 1 {
		t.Errorf("1/n is %v at 1", p[0].Y)
	}
}

// A warning is written above the title, in lines that fit, and said first; it is made room for, and is not taken away
// by another one or by a description.
func TestWarn(t *testing.T) {
	f := sample().Warn(strings.Repeat("a warning of many words ", 20)).Warn("").Warn("and of others.")
	f.Alt = "a description"
	if words := f.Words(); !strings.HasPrefix(words, "a warning of many words") ||
		!strings.Contains(words, "and of others. Title. a description.") {
		t.Errorf("%q", words)
	}
	lines := f.warningLines()
	if len(lines) < 3 || strings.Join(lines, " ") != f.warning {
		t.Errorf("%q", lines)
	}
	content := must.Get(f.PNG())
	img, err := png.DecodeConfig(bytes.NewReader(content))
	if more := float64(img.Height - 4*144); err != nil || more < 144*9.5/72*float64(len(lines)) ||
		more > 3*144*9.5/72*float64(len(lines)) {
		t.Errorf("%d lines in %g dots (%v)", len(lines), more, err)
	}
	svg, err := f.SVG()
	for _, line := range lines {
		if width := warningStyle().Width(line); err != nil || !bytes.Contains(svg, []byte(line)) || width > f.width() {
			t.Errorf("%q of width %v is not written (%v)", line, width, err)
		}
	}
}
