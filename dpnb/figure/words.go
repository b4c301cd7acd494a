package figure

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/plotter"

	"github.com/dpnb/notebooks/dpnb/internal/numeral"
)

// seen is a line that has a name.
type seen struct {
	name   string
	points plotter.XYs
	color  color.Color
}

// Words describes the figure in sentences, for readers who cannot see it: the title, and then Alt if it was set, else
// the axes, how each named line runs, which of them ends above which, and what else is labelled. It has no numbers that
// are not in the labels, so that it is the same wherever the figure looks the same.
func (f *Figure) Words() string {
	title := f.plot.Title.Text
	if f.page != nil {
		return sentences(f.warning, title) + " " + f.page.words() + " " + sentences(strings.Join(f.page.caption, " "))
	}
	if f.Alt != "" {
		alt := numeral.Tidy(f.Alt)
		return sentences(f.warning, title, strings.TrimLeft(strings.TrimPrefix(alt, title), ",:;. "))
	}
	s := []string{f.warning, title}
	if x, y := f.plot.X.Label.Text, f.plot.Y.Label.Text; x != "" && y != "" {
		s = append(s, y+" against "+x)
	} else {
		s = append(s, x+y)
	}
	var runs []string
	for _, line := range f.seen {
		if len(line.points) > 2 {
			runs = append(runs, line.name+" "+f.run(line.points))
		}
	}
	s = append(s, strings.Join(runs, "; "), f.order())
	if len(f.named) > 0 {
		s = append(s, "Labelled: "+list(f.named))
	}
	return sentences(s...)
}

// list joins names by commas or, where names have commas, by semicolons.
func list(names []string) string {
	for _, name := range names {
		if strings.Contains(name, ", ") {
			return strings.Join(names, "; ")
		}
	}
	return strings.Join(names, ", ")
}

// sentences ends each text that is not empty with a full stop. A word at the beginning of one is written large, a
// symbol is not: "noise σ" becomes "Noise σ", "ε(α)", "f(α)" and "n" stay.
func sentences(texts ...string) string {
	var out []string
	for _, text := range texts {
		text = strings.TrimRight(text, " ;,")
		if text == "" {
			continue
		}
		word, _, _ := strings.Cut(text, " ")
		end := strings.IndexFunc(word, func(r rune) bool { return r < 'a' || r > 'z' })
		if end > 1 || end < 0 && len(word) > 1 {
			text = strings.ToUpper(text[:1]) + text[1:]
		}
		if !strings.ContainsAny(text[len(text)-1:], ".!?") {
			text += "."
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

// span returns the lowest and the highest ordinate of the named lines, as the axis places them.
func (f *Figure) span() (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, s := range f.seen {
		for _, p := range s.points {
			lo, hi = min(lo, f.placed(p.Y)), max(hi, f.placed(p.Y))
		}
	}
	return lo, hi
}

// placed is an ordinate as the axis places it.
func (f *Figure) placed(y float64) float64 {
	if f.logY {
		return math.Log(y)
	}
	return y
}

// visible is the share of the axis below which a rise is not seen.
const visible = 0.02

// run says how a line goes from left to right.
func (f *Figure) run(points plotter.XYs) string {
	lo, hi := f.span()
	see := visible * (hi - lo)
	sorted := slices.Clone(points)
	slices.SortStableFunc(sorted, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
	var ways []string // rises and falls that can be seen, by turning points
	at := f.placed(sorted[0].Y)
	top, bottom := at, at
	for _, p := range sorted[1:] {
		y := f.placed(p.Y)
		top, bottom = max(top, y), min(bottom, y)
		switch last := len(ways) - 1; {
		case y-bottom > see && (last < 0 || ways[last] != "rises"):
			ways, top, bottom = append(ways, "rises"), y, y
		case top-y > see && (last < 0 || ways[last] != "falls"):
			ways, top, bottom = append(ways, "falls"), y, y
		case last >= 0 && ways[last] == "rises" && y == top, last >= 0 && ways[last] == "falls" && y == bottom:
			top, bottom = y, y
		}
	}
	switch len(ways) {
	case 0:
		return "is level"
	case 1, 2, 3:
		return strings.Join(ways, ", then ")
	}
	return "goes up and down"
}

// order says which line ends above which at the right.
func (f *Figure) order() string {
	type end struct {
		name string
		y    float64
	}
	var ends []end
	for _, s := range f.seen {
		last := slices.MaxFunc(s.points, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
		ends = append(ends, end{s.name, f.placed(last.Y)})
	}
	if len(ends) < 2 {
		return ""
	}
	slices.SortStableFunc(ends, func(a, b end) int { return cmp.Compare(b.y, a.y) })
	lo, hi := f.span()
	names := []string{ends[0].name}
	for i, e := range ends[1:] {
		if ends[i].y-e.y <= visible*(hi-lo) {
			names[len(names)-1] += " with " + e.name
		} else {
			names = append(names, e.name)
		}
	}
	return "From the top at the right: " + list(names)
}

// see remembers what has a name, which is written where its points end.
func (f *Figure) see(name string, points plotter.XYs, dots bool, c color.Color) {
	switch {
	case name == "":
	case dots || len(points) < 2:
		f.named = append(f.named, name)
		f.ends = append(f.ends, label{name, points[len(points)-1], readable(c)})
	default:
		f.seen = append(f.seen, seen{name, points, c})
	}
}

// Numbers returns what the figure draws as a text: its title and axes, every line, band, dot and note with its name and
// at most nine of its points to four digits. It is the same wherever the numbers are, whatever the fonts, so that a
// test can keep it.
func (f *Figure) Numbers() string {
	head := fmt.Sprintf("%s\nx: %s, y: %s\n", f.plot.Title.Text, f.plot.X.Label.Text, f.plot.Y.Label.Text)
	return head + strings.Join(f.drawn, "\n") + "\n"
}

// record remembers what is drawn.
func (f *Figure) record(kind, name string, pts plotter.XYs) {
	const most = 9
	line := strings.TrimSpace(kind + " " + name)
	line += fmt.Sprintf(", %d points:", len(pts))
	last := len(pts) - 1
	for i := range min(len(pts), most) {
		p := pts[i]
		if len(pts) > most {
			p = pts[i*last/(most-1)]
		}
		line += fmt.Sprintf(" (%.4g, %.4g)", p.X+0, p.Y+0)
	}
	f.drawn = append(f.drawn, line)
}
