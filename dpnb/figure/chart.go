package figure

import (
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Decision is a question with what to do if the answer is yes; text may have several lines.
type Decision struct{ Question, Yes string }

// Decisions returns a chart to be read from the top: questions in boxes below each other, what to do to the right of
// each for a yes, the next question below it for a no, and last what is left.
func Decisions(title string, all []Decision, otherwise string) *Figure {
	f := New(title, "", "")
	f.plot.HideAxes()
	rows := append(append([]Decision(nil), all...), Decision{otherwise, ""})
	f.plot.Add(ladder(rows))
	f.XRange(0, 1)
	f.YRange(0, 1)
	f.Height = 0.5 + 0.62*float64(len(rows))
	f.Alt = "A chart of decisions. "
	for _, d := range all {
		f.Alt += oneLine(d.Question) + " If yes: " + oneLine(d.Yes) + ". If no: "
	}
	f.Alt += oneLine(otherwise) + "."
	return f
}

func oneLine(s string) string { return strings.ReplaceAll(s, "\n", " ") }

// ladder draws decisions; the last has a question only, which is what is left.
type ladder []Decision

// Plot implements plot.Plotter.
func (l ladder) Plot(c draw.Canvas, _ *plot.Plot) {
	c.SetColor(white) // over the grid
	c.Fill(rectangle(c.Min, c.Max))
	step := (c.Max.Y - c.Min.Y) / vg.Length(len(l))
	width := c.Max.X - c.Min.X
	const left, gap, right = 0.46, 0.07, 0.47
	line := draw.LineStyle{Color: Gray, Width: vg.Points(1)}
	for i, d := range l {
		last := i == len(l)-1
		top := c.Max.Y - vg.Length(i)*step
		bottom := top - 0.68*step
		color, end := Blue, c.Min.X+left*width
		if last {
			color = Green
		}
		box(c, vg.Point{X: c.Min.X, Y: bottom}, vg.Point{X: end, Y: top}, d.Question, color)
		if last {
			return
		}
		middle := (top + bottom) / 2
		answer := end + gap*width
		box(c, vg.Point{X: answer, Y: bottom}, vg.Point{X: answer + right*width, Y: top}, d.Yes, Green)
		arrow(c, line, vg.Point{X: end, Y: middle}, vg.Point{X: answer, Y: middle})
		word := style(9.5, Ink)
		word.XAlign, word.YAlign = text.XCenter, text.YBottom
		c.FillText(word, vg.Point{X: (end + answer) / 2, Y: middle + vg.Points(1.5)}, "yes")
		under := c.Min.X + left*width/2
		arrow(c, line, vg.Point{X: under, Y: bottom}, vg.Point{X: under, Y: top - step})
		word.XAlign, word.YAlign = text.XLeft, text.YCenter
		c.FillText(word, vg.Point{X: under + vg.Points(4), Y: (bottom + top - step) / 2}, "no")
	}
}

// box draws a frame with text in its middle.
func box(c draw.Canvas, lo, hi vg.Point, words string, color Color) {
	tint := Color{R: 255 - (255-color.R)/10, G: 255 - (255-color.G)/10, B: 255 - (255-color.B)/10, A: 255}
	c.SetColor(tint)
	c.Fill(rectangle(lo, hi))
	c.SetLineStyle(draw.LineStyle{Color: color, Width: vg.Points(1.2)})
	c.Stroke(rectangle(lo, hi))
	in := style(9.5, Ink)
	in.XAlign, in.YAlign = text.XCenter, text.YCenter
	c.FillText(in, vg.Point{X: (lo.X + hi.X) / 2, Y: (lo.Y + hi.Y) / 2}, words)
}

func rectangle(lo, hi vg.Point) (p vg.Path) {
	p.Move(lo)
	p.Line(vg.Point{X: hi.X, Y: lo.Y})
	p.Line(hi)
	p.Line(vg.Point{X: lo.X, Y: hi.Y})
	p.Close()
	return p
}

// arrow draws a line to the right or down, with a head at its end.
func arrow(c draw.Canvas, line draw.LineStyle, from, to vg.Point) {
	c.StrokeLine2(line, from.X, from.Y, to.X, to.Y)
	h := vg.Points(4)
	back := [2]vg.Point{{X: to.X - h, Y: to.Y + h/2}, {X: to.X - h, Y: to.Y - h/2}}
	if from.X == to.X {
		back = [2]vg.Point{{X: to.X - h/2, Y: to.Y + h}, {X: to.X + h/2, Y: to.Y + h}}
	}
	c.FillPolygon(line.Color, []vg.Point{to, back[0], back[1]})
}
