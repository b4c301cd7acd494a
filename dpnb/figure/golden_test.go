package figure

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
)

// What figures draw, and what is said of them, is as it was: testdata/drawn.txt has the words, the numbers and the
// drawing itself, to a tenth of a point.
func TestWhatIsDrawn(t *testing.T) {
	x, y := []float64{1, 2, 3, 5}, []float64{2, 1.5, 4, 3}
	up := []float64{3, 2, 5, 4.5}
	z := [][]float64{{1, 2, 3}, {2, 4, 6}, {0.5, 1, 9}, {1, 1, 1}}
	at := func(v float64) float64 { return v * v }
	var all strings.Builder
	say := func(name string, f *Figure) {
		svg, err := f.SVG()
		fmt.Fprintf(&all, "== %s: %v\n%s\n%s\n", name, err, f.Words(), f.Numbers())
		drawn := regexp.MustCompile(`-?\d+\.\d+|-?\d+e-\d+`).ReplaceAllStringFunc(string(svg),
			func(number string) string {
				v, _ := strconv.ParseFloat(number, 64) // as it was written
				return strconv.FormatFloat(math.Round(10*v+0.003)/10, 'f', -1, 64)
			})
		lines := strings.Split(drawn, "\n")
		for i := 1; i < len(lines); i++ { // those of contours are drawn in any order
			const contour = `style="fill:none;stroke:#282828" />`
			for j := i; j > 0 && lines[j] < lines[j-1] && strings.HasSuffix(lines[j], contour) &&
				strings.HasSuffix(lines[j-1], contour); j-- {
				lines[j], lines[j-1] = lines[j-1], lines[j]
			}
		}
		fmt.Fprintln(&all, strings.Join(lines, "\n"))
	}
	say("lines", New("Lines", "x", "y").Line("one", x, y, Blue).Dashed("two, dashed", x, up, Orange).Dots("", x, up,
		Ink).
		Level("a level", 1, 5, 2.5, Green).Vertical("here", 3, 4, Gray).Note("a note", 2, 3, Ink).Warn("a warning"))
	say("areas", New("Areas", "x", "share").Band(x, y, up, Blue).Area(x, y, up, Orange).Whiskers(x, y, up,
		Ink).Percent().
		PercentX().XRange(0, 6).YRange(0, 6))
	say("bars", New("Bars", "x", "y").Bars([]float64{0, 1, 3, 4}, []float64{2, -1, 0}, Blue).Curve("of x", 0, 3, at,
		Ink))
	say("logs", New("Logs", "x", "y").Line("", []float64{1e-3, 1, 1e4}, []float64{1, 10, 2e6}, Blue).LogX().LogY(1,
		1e3, 1e6))
	say("log bars", New("", "x", "y").Line("falls", x, []float64{4, 3, 2, 1}, Blue).LogX(1, 2, 5).Equal())
	say("dates", New("Dates", "day", "y").Line("turns", []float64{18000, 18200, 18400, 18900}, []float64{1, 3, 2, 5},
		Blue).
		DatesX())
	say("heat", New("Heat", "x", "y").Heat([]float64{0, 1, 3}, []float64{0, 1, 2, 3}, z).ColorBar("height").
		Hatch([]float64{0, 1, 3}, []float64{0, 1, 2, 3}, func(row, column int) bool { return row > 1 && column > 0 }))
	say("log heat", New("", "x", "y").LogX().HeatLog([]float64{1, 10, 100}, []float64{0, 1, 2, 3}, z).Contours(
		[]float64{1, 10, 100}, []float64{0, 1, 2, 3}, z, []float64{1.5, 3}, Ink))
	say("intervals", New("Intervals", "effect", "").Intervals([]string{"a", "b, of c", "d"}, []float64{-1, 0, 2},
		[]float64{0, 1, 3}, []float64{1, 2, 5}, Blue))
	say("flat", New("Flat", "x", "y").Line("constant", x, []float64{2, 2, 2, 2}, Blue).Dots("peak", []float64{1},
		[]float64{
			2}, Ink))
	say("nothing", New("Nothing", "x", "y"))
	for i, wrong := range []*Figure{New("", "", "").Line("", x, y[:2], Blue), New("", "", "").Band(x, y, up[:1], Blue),
		New("", "", "").Bars(x, y, Blue), New("", "", "").Heat(x, y, z),
		New("", "", "").Heat([]float64{0, 0, 1}, x, z), New("", "", "").HeatLog([]float64{1, 2, 3}, x,
			[][]float64{{0, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}}), New("", "", "").Contours(x, y, z, nil, Ink),
		New("", "", "").Hatch(x, y[:1], everywhere), New("", "", "").Intervals([]string{"a"}, x, y, up, Blue),
		New("", "", "").Whiskers(x, y, up[:2], Ink), New("", "", "").Line("", []float64{math.NaN()}, []float64{1}, Ink),
		New("", "", "").Line("", []float64{0, 1}, []float64{1, 1}, Ink).LogX(), New("", "", "").XRange(2, 1), Page("",
			"", 2, New("", "", "").
				LogY().Line("", x, y, Ink).YRange(0, 5)), Page("", "", 1), New("", "", "").Curve("", 0, 1, at,
			Ink).LogX(),
		New("", "", "").YRange(1, 1).Line("", x, y, Ink), New("", "", "").Dots("", x, y[:1], Ink),
		New("", "", "").Curve("", 1, 0, at, Ink), New("", "", "").Area(x, y, nil, Ink)} {
		_, err := wrong.SVG()
		fmt.Fprintln(&all, "wrong", i, err, wrong.Words())
	}
	page := Page("A page", "its caption", 2, New("A", "x", "y").Line("a", x, y, Blue), New("B", "x", "y").Dots("b", x,
		up,
		Ink), New("C", "x", "y").Level("c", 0, 1, 2, Ink))
	say("page", page)
	say("decisions", Decisions("What to do", []Decision{{Question: "Is it so?", Yes: "this"}, {Question: "Or so?",
		Yes: "that"}},
		"else"))
	for _, start := range []float64{1, 2.2, -5, 50} {
		s := Turn("k", []float64{1, 2, 3}, start, func(k float64) *Figure {
			return New(fmt.Sprint("k = ", k), "x", "y").Line("", x, Values(x,
				func(v float64) float64 { return k * v }), Blue)
		})
		html, err := s.HTML()
		fmt.Fprintln(&all, "slider", s.Words(), len(html) > 1000, strings.Count(html, "<img"), strings.Count(html,
			"checked"),
			err)
	}
	for _, v := range []float64{0, 1, -1.5, 1234567, 1e-7, 0.00123, 2.0 / 3, math.Inf(1), math.NaN(), 99999, 100000} {
		fmt.Fprintln(&all, Number(v), RoundStep(math.Abs(v)), Span(0, v, 3), Geometric(1, math.Abs(v)+1, 3))
	}
	golden.Compare(t, "testdata/drawn.txt", all.String())
}

func everywhere(int, int) bool { return true }
