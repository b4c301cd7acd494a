package figure

import (
	"fmt"
	"html"
	"slices"
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/dpnb/notebooks/dpnb/internal/numeral"
)

// page is figures side by side.
type page struct {
	panels  []*Figure
	columns int
	caption []string // its paragraphs
}

// Page returns one figure of several in so many columns, with a caption below them, whose lines are paragraphs in HTML:
// each is put into the column that is the least high so far, the first of these.
func Page(title, caption string, columns int, panels ...*Figure) *Figure {
	f := New(title, "", "")
	f.page = &page{panels, max(1, columns), strings.Split(numeral.Tidy(caption), "\n")}
	_, height := f.page.places()
	f.Height = 0.2 + height + float64((f.titleHeight(f.width()-2*margin)+f.page.captionHeight(f.width()))/vg.Inch)
	for _, p := range panels {
		if p.err != nil {
			f.fail(p.err)
		}
		f.drawn = append(f.drawn, strings.TrimRight(p.Numbers(), "\n"))
	}
	if len(panels) == 0 {
		f.fail(fmt.Errorf("figure: a page without figures"))
	}
	return f
}

// HTML returns a page of several columns as text and SVG, as many figures abreast as there is room for, one on a phone;
// "" of any other figure. Where its title stands already it need not be titled.
func (f *Figure) HTML(titled bool) (string, error) {
	if f.page == nil || f.page.columns < 2 {
		return "", f.drawable()
	}
	const wide = 3.2 // inches: letters of 9.5 points are 12 pixels high at the least width below, 15 on a phone
	var b strings.Builder
	paragraph := func(style, text string) {
		if text != "" {
			fmt.Fprintf(&b, `<div style="%smargin:0 0 .4em">%s</div>`, style, html.EscapeString(text))
		}
	}
	b.WriteString(`<div style="font-family:system-ui,sans-serif;font-size:14px;line-height:1.45;margin:0 0 1em">`)
	if titled {
		paragraph("font-weight:600;", f.plot.Title.Text)
	}
	paragraph("border-left:4px solid rgb(213,94,0);padding:.45em .8em;", f.warning)
	b.WriteString(`<div class="figure" style="display:grid;align-items:start;gap:.6rem;margin:0 0 .6rem;` +
		`grid-template-columns:repeat(auto-fill,minmax(min(19rem,100%),1fr))">`)
	for _, p := range f.page.panels {
		panel := *p
		panel.Width = wide
		img, err := panel.image(`style="width:100%;background:#fff"`)
		if err != nil {
			return "", err
		}
		b.WriteString(img)
	}
	b.WriteString("</div>")
	for _, line := range f.page.caption {
		paragraph("", line)
	}
	return b.String() + "</div>", nil
}

// pagePlace is the column of a figure, and how far below the first it stands, in inches.
type pagePlace struct {
	column int
	top    float64
}

// places returns those of all figures, and the height of the highest column.
func (p *page) places() (at []pagePlace, height float64) {
	down := make([]float64, p.columns)
	for _, f := range p.panels {
		k := slices.Index(down, slices.Min(down))
		at = append(at, pagePlace{k, down[k]})
		down[k] += f.Height
	}
	return at, slices.Max(down)
}

// captionStyle is that of captions.
func captionStyle() text.Style {
	s := style(9.5, Ink)
	s.YAlign = text.YTop
	return s
}

// lines are those of the caption where the page is so wide.
func (p *page) lines(width vg.Length) []string {
	return broken(strings.Join(p.caption, " "), captionStyle(), width-2*vg.Points(margin))
}

func (p *page) captionHeight(width vg.Length) vg.Length {
	return (vg.Length(len(p.lines(width))) + 0.5) * captionStyle().FontExtents().Height * 1.2
}

// tied keeps equations, and numbers with their unit, on one line.
var tied = strings.NewReplacer(" = ", "\u00a0=\u00a0", " %", "\u00a0%")

// broken returns a text as lines no wider than the room, but for words that are.
func broken(words string, s text.Style, room vg.Length) (lines []string) {
	line := ""
	for _, word := range strings.Split(tied.Replace(strings.Join(strings.Fields(words), " ")), " ") {
		if longer := strings.TrimSpace(line + " " + word); line == "" || s.Width(longer) <= room {
			line = longer
			continue
		}
		lines, line = append(lines, line), word
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// inLines breaks a text into as few lines as fit the room, which are about equally long.
func inLines(words string, s text.Style, room vg.Length) string {
	out := broken(words, s, room)
	for narrow := room; len(out) > 1 && narrow > room/2; narrow -= 4 {
		even := broken(words, s, narrow)
		if len(even) > len(out) {
			break
		}
		out = even
	}
	return strings.Join(out, "\n")
}

// draw draws the figures and their caption.
func (p *page) draw(c draw.Canvas) {
	width, top := c.Max.X-c.Min.X, c.Max.Y
	column := width / vg.Length(p.columns)
	places, height := p.places()
	for k, f := range p.panels {
		left, high := c.Min.X+column*vg.Length(places[k].column), top-vg.Length(places[k].top)*vg.Inch
		cell := c
		cell.Rectangle = vg.Rectangle{Min: vg.Point{X: left, Y: high - vg.Length(f.Height)*vg.Inch},
			Max: vg.Point{X: left + column, Y: high}}
		f.draw(cell)
	}
	top -= vg.Length(height) * vg.Inch
	s := captionStyle()
	for i, line := range p.lines(width + 2*vg.Points(margin)) {
		c.FillText(s, vg.Point{X: c.Min.X, Y: top - vg.Length(i)*s.FontExtents().Height*1.2}, line)
	}
}

// words describes the figures of the page, one after the other.
func (p *page) words() string {
	var all []string
	for _, f := range p.panels {
		all = append(all, f.Words())
	}
	return strings.Join(all, " ")
}
