package figure

import (
	"image/color"
	"sort"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// labelHeight is the distance that labels keep from each other.
const labelHeight = 12.0

// labels is a plotter of texts to the right of points. Those that would overlap
// are moved apart, up or down, in the order of their points.
type labels struct {
	text  []string
	at    []plotter.XY
	color []color.Color
}

func (l *labels) add(text string, at plotter.XY, c color.Color) {
	l.text, l.at, l.color = append(l.text, text), append(l.at, at), append(l.color, c)
}

// labelStyle of label i.
func (l *labels) style(i int) text.Style {
	s := style(9.5, l.color[i])
	s.YAlign = text.YCenter
	return s
}

// Plot implements plot.Plotter.
func (l *labels) Plot(c draw.Canvas, p *plot.Plot) {
	trX, trY := p.Transforms(&c)
	order := make([]int, len(l.text))
	x, y := make([]float64, len(l.text)), make([]float64, len(l.text))
	for i, at := range l.at {
		order[i] = i
		x[i], y[i] = float64(trX(at.X)), float64(trY(at.Y))
	}
	sort.SliceStable(order, func(a, b int) bool { return y[order[a]] < y[order[b]] })
	spread(order, y)
	below(order, y, float64(c.Max.Y))
	for i, t := range l.text {
		c.FillText(l.style(i), vg.Point{X: vg.Length(x[i]) + vg.Points(6), Y: vg.Length(y[i])}, t)
	}
}

// below moves the values y, which rise in the given order, down until none is
// above most and neighbours are labelHeight apart: a label must not stand in
// the title.
func below(order []int, y []float64, most float64) {
	for k := len(order) - 1; k >= 0; k-- {
		i := order[k]
		y[i] = min(y[i], most)
		most = y[i] - labelHeight
	}
}

// spread moves the values y, taken in the given order, until neighbours are
// labelHeight apart: groups that touch are set around their mean.
func spread(order []int, y []float64) {
	type group struct {
		members []int
		centre  float64
	}
	var groups []group
	for _, i := range order {
		groups = append(groups, group{[]int{i}, y[i]})
		for len(groups) > 1 {
			a, b := &groups[len(groups)-2], groups[len(groups)-1]
			gap := b.centre - a.centre - labelHeight*float64(len(a.members)+len(b.members))/2
			if gap >= 0 {
				break
			}
			na, nb := float64(len(a.members)), float64(len(b.members))
			a.centre = (na*a.centre + nb*b.centre) / (na + nb)
			a.members = append(a.members, b.members...)
			groups = groups[:len(groups)-1]
		}
	}
	for _, g := range groups {
		for k, i := range g.members {
			y[i] = g.centre + labelHeight*(float64(k)-float64(len(g.members)-1)/2)
		}
	}
}

// GlyphBoxes implements plot.GlyphBoxer, so that room is left for the texts.
func (l *labels) GlyphBoxes(p *plot.Plot) []plot.GlyphBox {
	var boxes []plot.GlyphBox
	for i, t := range l.text {
		r := l.style(i).Rectangle(t)
		r.Max.X += vg.Points(6)
		boxes = append(boxes, plot.GlyphBox{X: p.X.Norm(l.at[i].X), Y: p.Y.Norm(l.at[i].Y), Rectangle: r})
	}
	return boxes
}
