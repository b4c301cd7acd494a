package figure

import (
	"image/color"
	"math"
	"sort"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// labelHeight is the distance that labels keep from each other.
const labelHeight = 12.0

// labelRoom is how wide a label is before it is broken into lines, in points.
const labelRoom = 120

// label is a text to the right of a point.
type label struct {
	text  string
	at    plotter.XY
	color color.Color
}

// labels is a plotter of labels. Those that would overlap are moved apart, up or down, in the order of their points,
// and a thin line leads from the point to a label that was moved.
type labels []label

// leastContrast is what the guidelines for accessible content (WCAG 2.2, AA) ask of texts of this size.
const leastContrast = 4.5

// readable returns the colour of a text beside a line of the given colour: the same, or as much darker as it must be to
// be read on white.
func readable(c color.Color) color.Color {
	line := color.NRGBAModel.Convert(c).(color.NRGBA)
	dark := line
	for part := 100; contrast(dark, white) < leastContrast; part-- {
		shade := func(v uint8) uint8 { return uint8(int(v) * part / 100) }
		dark = color.NRGBA{shade(line.R), shade(line.G), shade(line.B), 255}
	}
	return dark
}

var (
	white = color.NRGBA{255, 255, 255, 255}
	black = color.NRGBA{0, 0, 0, 255}
)

// contrast returns the ratio of the luminances of two colours, from 1 to 21.
//
// Source: WCAG 2.2, definitions of contrast ratio and of relative luminance.
func contrast(a, b color.NRGBA) float64 {
	luminance := func(c color.NRGBA) (sum float64) {
		for i, v := range []uint8{c.R, c.G, c.B} {
			s := float64(v) / 255
			if s <= 0.04045 {
				s /= 12.92
			} else {
				s = math.Pow((s+0.055)/1.055, 2.4)
			}
			sum += [...]float64{0.2126, 0.7152, 0.0722}[i] * s
		}
		return sum
	}
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

// style is how a label is written.
func (l label) style() text.Style {
	s := style(9.5, l.color)
	s.YAlign = text.YCenter
	return s
}

// lines is the text as it is written.
func (l label) lines() string { return inLines(l.text, l.style(), labelRoom) }

// beside is how far from its point a label stands, and leaderFrom and leaderTo where a leader begins and ends; one that
// was moved by less than moved needs none.
const (
	beside     = 6.0
	leaderFrom = 1.5
	leaderTo   = 9.5
	moved      = 4.0
)

// Plot implements plot.Plotter.
func (l labels) Plot(c draw.Canvas, p *plot.Plot) {
	trX, trY := p.Transforms(&c)
	order := make([]int, len(l))
	x, y, at, high := make([]float64, len(l)), make([]float64, len(l)), make([]float64, len(l)), make([]float64, len(l))
	for i, one := range l {
		order[i], high[i] = i, labelHeight*float64(1+strings.Count(one.lines(), "\n"))
		x[i], y[i] = float64(trX(one.at.X)), float64(trY(one.at.Y))
	}
	copy(at, y)
	sort.SliceStable(order, func(a, b int) bool { return y[order[a]] < y[order[b]] })
	spread(order, y, high)
	above(order, y, high, float64(c.Min.Y)+2-labelHeight/2)
	below(order, y, high, float64(c.Max.Y)+labelHeight/2)
	var left vg.Length = beside
	for i := range l {
		if math.Abs(y[i]-at[i]) > moved {
			left = leaderTo + 1.5
		}
	}
	for i, one := range l {
		if math.Abs(y[i]-at[i]) > moved {
			c.StrokeLine2(draw.LineStyle{Color: one.color, Width: vg.Points(0.5)}, vg.Length(x[i]+leaderFrom),
				vg.Length(at[i]), vg.Length(x[i]+leaderTo), vg.Length(y[i]))
		}
		from := vg.Point{X: vg.Length(x[i]) + left, Y: vg.Length(y[i])}
		if one.color != white && one.color != black { // not on a map: what lies below it is made faint
			c.SetColor(color.NRGBA{255, 255, 255, 170})
			c.Fill(one.style().Rectangle(one.lines()).Add(from).Path())
		}
		c.FillText(one.style(), from, one.lines())
	}
}

// below moves the middles y of texts so high, which rise in the given order, down until none reaches above most and
// neighbours do not overlap: a label must not stand in the title.
func below(order []int, y, high []float64, most float64) {
	for k := len(order) - 1; k >= 0; k-- {
		i := order[k]
		y[i] = min(y[i], most-high[i]/2)
		most = y[i] - high[i]/2
	}
}

// above moves the middles y of texts so high, which rise in the given order, up until none reaches below least and
// neighbours do not overlap: a label must not stand on the axis.
func above(order []int, y, high []float64, least float64) {
	for _, i := range order {
		y[i] = max(y[i], least+high[i]/2)
		least = y[i] + high[i]/2
	}
}

// spread moves the middles y of texts so high, taken in the given order, until neighbours do not overlap: groups that
// touch are set around their mean.
func spread(order []int, y, high []float64) {
	type group struct {
		members      []int
		centre, high float64
	}
	var groups []group
	for _, i := range order {
		groups = append(groups, group{[]int{i}, y[i], high[i]})
		for len(groups) > 1 {
			a, b := &groups[len(groups)-2], groups[len(groups)-1]
			if b.centre-a.centre >= (a.high+b.high)/2 {
				break
			}
			a.centre = (a.high*a.centre + b.high*b.centre) / (a.high + b.high)
			a.members, a.high = append(a.members, b.members...), a.high+b.high
			groups = groups[:len(groups)-1]
		}
	}
	for _, g := range groups {
		at := g.centre - g.high/2
		for _, i := range g.members {
			y[i] = at + high[i]/2
			at += high[i]
		}
	}
}

// GlyphBoxes implements plot.GlyphBoxer, so that room is left for the texts.
func (l labels) GlyphBoxes(p *plot.Plot) []plot.GlyphBox {
	var boxes []plot.GlyphBox
	for _, one := range l {
		r := one.style().Rectangle(one.lines())
		r.Max.X += vg.Points(leaderTo + 1.5)
		boxes = append(boxes, plot.GlyphBox{X: p.X.Norm(one.at.X), Y: p.Y.Norm(one.at.Y), Rectangle: r})
	}
	return boxes
}

// ends plots the labels at the ends of a figure's lines, which are known when it is drawn.
type ends struct{ *Figure }

// Plot implements plot.Plotter.
func (e ends) Plot(c draw.Canvas, p *plot.Plot) { e.merged().Plot(c, p) }

// GlyphBoxes implements plot.GlyphBoxer.
func (e ends) GlyphBoxes(p *plot.Plot) []plot.GlyphBox { return e.merged().GlyphBoxes(p) }

// merged returns the labels at the ends of lines, with one for all the lines that cannot be told apart: of those the
// last stands on top and gives the colour.
func (f *Figure) merged() labels {
	var out labels
	taken := make([]bool, len(f.seen))
	for i, s := range f.seen {
		if taken[i] {
			continue
		}
		names, last := []string{s.name}, s
		for j := i + 1; j < len(f.seen); j++ {
			if !taken[j] && f.coincide(s.points, f.seen[j].points) {
				taken[j] = true
				names, last = append(names, f.seen[j].name), f.seen[j]
			}
		}
		name := s.name
		if n := len(names); n > 1 {
			name = strings.Join(names[:n-1], ", ") + " = " + names[n-1]
		}
		out = append(out, label{name, f.lastSeen(last.points), readable(last.color)})
	}
	return append(out, f.ends...)
}

// lastSeen returns the last of the points that is on the axis: where a line leaves the picture.
func (f *Figure) lastSeen(points plotter.XYs) plotter.XY {
	for i := len(points) - 1; i >= 0; i-- {
		if y := points[i].Y; y >= f.plot.Y.Min && y <= f.plot.Y.Max {
			return points[i]
		}
	}
	return points[len(points)-1]
}

// apart is the share of the axis by which two lines differ somewhere if they can be told apart.
const apart = 0.004

// coincide says whether two lines with the same abscissae cannot be told apart.
func (f *Figure) coincide(a, b plotter.XYs) bool {
	if len(a) != len(b) || len(a) < 3 {
		return false
	}
	lo, hi := f.span()
	for i := range a {
		if a[i].X != b[i].X || math.Abs(f.placed(a[i].Y)-f.placed(b[i].Y)) > apart*(hi-lo) {
			return false
		}
	}
	return true
}
